//! Queries: windows, reads, missing indexes (wire reference 4.4, 5).

use crate::script::play;

pub(crate) const CONVERSATIONS: &[(&str, &str)] = &[
    (
        "the chat of the reference",
        r#"
put / {"presence":{"bob":"online"},"rooms":{"general":{"messages":{"-Of7aQ1mK2b3c4d5e6f7":{"from":"bob","text":"first","at":1764490000000},"-Of7aQ9zL2b3c4d5e6f8":{"from":"bob","text":"second","at":1764490001000},"-Of7aRbbM2b3c4d5e6f9":{"from":"carol","text":"third","at":1764490002000}}}}}
a connects p=1:55:web:c0ffee
b connects
a> {"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.node.13-2-0":1}}}}
a> {"t":"d","d":{"r":2,"a":"auth","b":{"cred":"<ann>"}}}
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/rooms/general/messages","q":{"l":2,"vf":"r"},"t":1,"h":""}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{"auth":{…"uid":"ann"}…}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"rooms/general/messages","d":{"-Of7aQ9zL2b3c4d5e6f8":{"at":1764490001000,"from":"bob","text":"second"},"-Of7aRbbM2b3c4d5e6f9":{"at":1764490002000,"from":"carol","text":"third"}},"t":1}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":4,"a":"o","b":{"p":"/presence/alice","d":"offline"}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"p","b":{"p":"/presence/alice","d":"online"}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/rooms/general/messages/-OfJOJtHRpRMarWw0KQi","d":{"at":1764500000348,"from":"alice","text":"hello"}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"rooms/general/messages","d":{"-Of7aQ9zL2b3c4d5e6f8":null,"-OfJOJtHRpRMarWw0KQi":{"at":1764500000348,"from":"alice","text":"hello"}},"t":1}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
b> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/rooms/general/messages/-OfJOLAAAAbbbbccccdd","d":{"at":1764500002000,"from":"bob","text":"hi alice"}}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"m","b":{"p":"rooms/general/messages","d":{"-Of7aRbbM2b3c4d5e6f9":null,"-OfJOLAAAAbbbbccccdd":{"at":1764500002000,"from":"bob","text":"hi alice"}},"t":1}}}
b> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/rooms/general/messages/-OfJOLAAAAbbbbccccdd/text","d":"hi Alice!"}}}
b< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
  Below a child of the window, as one merge with a deep key.
a< {"t":"d","d":{"a":"m","b":{"p":"rooms/general/messages","d":{"-OfJOLAAAAbbbbccccdd/text":"hi Alice!"},"t":1}}}
a> {"t":"d","d":{"r":7,"a":"q","b":{"p":"/rooms/general/likes","h":""}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":8,"a":"p","b":{"p":"/rooms/general/likes","d":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"rooms/general/likes","d":1}}}
a< {"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":9,"a":"n","b":{"p":"/rooms/general/likes"}}}
a< {"t":"d","d":{"r":9,"b":{"s":"ok","d":""}}}
b> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/presence","h":""}}}
b< {"t":"d","d":{"a":"d","b":{"p":"presence","d":{"alice":"online","bob":"online"}}}}
b< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
  The client comes back while its old connection still looks alive: that ends first.
c connects ls={a}
b< {"t":"d","d":{"a":"d","b":{"p":"presence/alice","d":"offline"}}}
c> {"t":"d","d":{"r":10,"a":"auth","b":{"cred":"<ann>"}}}
c> {"t":"d","d":{"r":11,"a":"q","b":{"p":"/rooms/general/messages","q":{"l":2,"vf":"r"},"t":1,"h":"5+UdkPeEXPwRUElrhoK+d/GvXzg="}}}
c< {"t":"d","d":{"r":10,"b":{"s":"ok","d":{…}}}}
c< {"t":"d","d":{"r":11,"b":{"s":"ok","d":{}}}}
c ends
"#,
    ),
    (
        "who leaves and who comes in",
        r#"
rules {"rules":{".read":true,".write":true,"s":{".indexOn":"n"}}}
put /s {"a":{"n":1},"b":{"n":2},"c":{"n":3}}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/s","q":{"i":"n","l":2,"vf":"l"},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"s","d":{"a":{"n":1},"b":{"n":2}},"t":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
  Its value moves out of the window, another takes the place.
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/s/a/n","d":9}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"a":null,"c":{"n":3}},"t":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
  Outside of it nothing is told.
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/s/a/x","d":1}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/s","d":"a leaf"}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"b":null,"c":null},"t":1}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"g","b":{"p":"/s","q":{"i":"n","l":2,"vf":"l"}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":null}}}
a ends
"#,
    ),
    (
        "a query without its index",
        r#"
rules {"rules":{".read":true,".write":true}}
put /s {"a":{"n":1},"b":{"n":2}}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/s","q":{"i":"n","l":1,"vf":"l"},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"s","d":{"a":{"n":1}},"t":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{"w":["no_index"]}}}}
a> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/s","q":{"i":"n","l":1,"vf":"l"}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"failure","d":"Index not defined, add \".indexOn\": \"n\", for path \"/s\", to the rules"}}}
  By key and by priority there is always one; by value it must be said, and an admin needs it as well.
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/s","q":{"i":".key","l":1,"vf":"l"},"t":2,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"s","d":{"a":{"n":1}},"t":2}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":4,"a":"q","b":{"p":"/s","q":{"l":1,"vf":"r"},"t":3,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"s","d":{"b":{"n":2}},"t":3}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":5,"a":"gauth","b":{"cred":"owner"}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{…}}}}
a> {"t":"d","d":{"r":6,"a":"q","b":{"p":"/s","q":{"i":".value","l":1,"vf":"r"},"t":4,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"s","d":{"b":{"n":2}},"t":4}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":{"w":["no_index"]}}}}
a> {"t":"d","d":{"r":7,"a":"g","b":{"p":"/s","q":{"i":".value","l":1,"vf":"r"}}}}
a< {"t":"d","d":{"r":7,"b":{"s":"failure","d":"Index not defined, add \".indexOn\": \".value\", for path \"/s\", to the rules"}}}
  An order alone is no query.
a> {"t":"d","d":{"r":8,"a":"g","b":{"p":"/s","q":{"i":"n"}}}}
a< {"t":"d","d":{"r":8,"b":{"s":"ok","d":{"a":{"n":1},"b":{"n":2}}}}}
a ends
"#,
    ),
    (
        "a window by a child in every way that it can change",
        r#"
put /s {"a":{"n":1},"b":{"n":2},"c":{"n":3},"d":{"n":4},".priority":9}
a connects
  The priority of the place is not part of it, nor of its hash.
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/s","q":{"i":"n","sp":2,"l":2,"vf":"l"},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"s","d":{"b":{"n":2},"c":{"n":3}},"t":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/s/.priority","d":8}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a is silent
  Another rank within it is just another value.
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/s/b/n","d":3.5}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"b/n":3.5},"t":1}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
  One that is deleted goes together with its replacement, which comes whole.
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/s/d/text","d":"x"}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a is silent
a> {"t":"d","d":{"r":5,"a":"p","b":{"p":"/s/c","d":null}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"c":null,"d":{"n":4,"text":"x"}},"t":1}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
  One leaves because of its own value, another because of somebody else's, one comes in, one changes deep below: one message.
a> {"t":"d","d":{"r":6,"a":"m","b":{"p":"/s","d":{"a/n":2,"b/n":1,"e":{"n":3,".priority":"p"},"d/text":"y"}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"a":{"n":2},"b":null,"d":null,"e":{"n":3,".priority":"p"}},"t":1}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
  Everything goes, and comes.
a> {"t":"d","d":{"r":7,"a":"p","b":{"p":"/","d":null}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"a":null,"e":null},"t":1}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":8,"a":"p","b":{"p":"/s","d":{"z":{"n":7}}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"z":{"n":7}},"t":1}}}
a< {"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "who no longer matches leaves",
        r#"
put /s {"a":{"st":"open"},"b":{"st":"open"},"c":{"st":"done"}}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/s","q":{"i":"st","sp":"open","sin":true,"ep":"open","ein":true},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"s","d":{"a":{"st":"open"},"b":{"st":"open"}},"t":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/s/a/st","d":"done"}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"a":null},"t":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/s/c/st","d":"open"}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"c":{"st":"open"}},"t":1}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/s/b/st","d":null}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"b":null},"t":1}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
  The hash of the window alone, then that of all children.
a> {"t":"d","d":{"r":5,"a":"p","b":{"p":"/s","d":{"a":1,"b":"x"}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"s","d":{"c":null},"t":1}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
b connects
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/s","q":{"l":2,"vf":"l"},"t":1,"h":"jRI9dwRS9sb4SWm8uuoN7+xBk4g="}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
b> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/s","q":{"l":1,"vf":"l"},"t":2,"h":"jRI9dwRS9sb4SWm8uuoN7+xBk4g="}}}
b< {"t":"d","d":{"a":"d","b":{"p":"s","d":{"a":1},"t":2}}}
b< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
b ends
a ends
"#,
    ),
    (
        "reads apply the whole query and see the writes before them",
        r#"
put /s {"ann":{"points":9},"bob":{"points":12},"cy":{"points":3},"d":{"points":12,".priority":1}}
a connects
a> {"t":"d","d":{"r":1,"a":"g","b":{"p":"/s","q":{"l":3,"vf":"r","i":"points"}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/s/cy/points","d":20}}}
a> {"t":"d","d":{"r":3,"a":"g","b":{"p":"/s","q":{"l":1,"vf":"r","i":"points"}}}}
a> {"t":"d","d":{"r":4,"a":"g","b":{"p":"/none","q":{"l":1,"vf":"r","i":"points"}}}}
a> {"t":"d","d":{"r":5,"a":"g","b":{"p":"/s/bob","q":{}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{"ann":{"points":9},"bob":{"points":12},"d":{"points":12,".priority":1}}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{"cy":{"points":20}}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":null}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{"points":12}}}}
a> {"t":"d","d":{"r":6,"a":"g","b":{"p":"/s","q":{"l":0}}}}
a< {"t":"d","d":{"r":6,"b":{"s":"invalid","d":"in the query, `l` must be from 1 to 4294967295, not 0"}}}
a ends
"#,
    ),
];

#[test]
fn windows_are_told_as_one_merge() {
    play(CONVERSATIONS);
}
