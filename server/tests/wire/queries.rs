//! Queries: windows, reads, missing indexes (wire reference 4.4, 5).

use crate::script::play;

#[test]
fn windows_are_told_as_one_merge() {
    play(&[
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
a< {"t":"d","d":{"r":2,"b":{"s":"…","d":"Index not defined, add \".indexOn\": \"n\", for path \"/s\", to the rules"}}}
a ends
"#,
        ),
    ]);
}
