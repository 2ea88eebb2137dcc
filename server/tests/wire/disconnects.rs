//! What is written when a client goes (wire reference 4.7, 10.3, 10.6).

use crate::script::play;

pub(crate) const CONVERSATIONS: &[(&str, &str)] = &[
    (
        "set update and cancel",
        r#"
a connects
b connects
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/","h":""}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":1,"a":"o","b":{"p":"/a","d":{"x":1,"y":2}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":2,"a":"om","b":{"p":"/a","d":{"y":3,"z/w":4}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"o","b":{"p":"/b","d":"gone"}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
  What is cancelled is cancelled below, too.
a> {"t":"d","d":{"r":4,"a":"oc","b":{"p":"/b","d":null}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
b is silent
a ends
b< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"x":1,"y":3,"z":{"w":4}}}}}
b is silent
b ends
"#,
    ),
    (
        "judged when armed and when made",
        r#"
rules {"rules":{".read":true,"open":{".write":"root.child('door').val() != 'shut'"},"door":{".write":true}}}
a connects
b connects
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/open","h":""}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":1,"a":"o","b":{"p":"/closed","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}}
a> {"t":"d","d":{"r":2,"a":"o","b":{"p":"/open","d":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
b> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/door","d":"shut"}}}
b< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a ends
b is silent
b> {"t":"d","d":{"r":3,"a":"g","b":{"p":"/open","q":{}}}}
b< {"t":"d","d":{"r":3,"b":{"s":"ok","d":null}}}
b ends
"#,
    ),
    (
        "what is armed is a tree of its own",
        r#"
put / {"p":{"c":"was"},"n":1}
a connects
b connects
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/","h":""}}}
b< {"t":"d","d":{"a":"d","b":{"p":"/","d":{"n":1,"p":{"c":"was"}}}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
  An update, but for a child of it; a value, but for a part of it; a later one above an earlier one.
a> {"t":"d","d":{"r":1,"a":"om","b":{"p":"/p","d":{"p":1,"c":"x"}}}}
a> {"t":"d","d":{"r":2,"a":"oc","b":{"p":"/p/c","d":null}}}
a> {"t":"d","d":{"r":3,"a":"o","b":{"p":"/v","d":{"a":1,"b":{"c":2,"d":3}}}}}
a> {"t":"d","d":{"r":4,"a":"oc","b":{"p":"/v/b/c","d":null}}}
a> {"t":"d","d":{"r":5,"a":"o","b":{"p":"/v/e","d":4}}}
a> {"t":"d","d":{"r":6,"a":"o","b":{"p":"/w/x","d":1}}}
a> {"t":"d","d":{"r":7,"a":"o","b":{"p":"/w","d":{"y":2,".priority":5}}}}
a> {"t":"d","d":{"r":8,"a":"o","b":{"p":"/n","d":{".sv":{"increment":10}}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}
  What is counted is counted when it is made.
b> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/n","d":5}}}
b< {"t":"d","d":{"a":"d","b":{"p":"n","d":5}}}
b< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a ends
b< {"t":"d","d":{"a":"m","b":{"p":"/","d":{"n":15,"p/p":1,"v/a":1,"v/b/d":3,"v/e":4,"w":{"y":2,".priority":5}}}}}
b is silent
b ends
"#,
    ),
    (
        "what is armed and refused",
        r#"
rules {"rules":{"open":{".write":true}}}
a connects
a> {"t":"d","d":{"r":1,"a":"o","b":{"p":"/a","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}}
a> {"t":"d","d":{"r":2,"a":"om","b":{"p":"/","d":{"open":1,"a":1}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}}
a> {"t":"d","d":{"r":3,"a":"o","b":{"p":"/open","d":{"a.b":1}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"invalid","d":"…"}}}
a> {"t":"d","d":{"r":4,"a":"o","b":{"p":"/open/.priority","d":1}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "a client that vanishes leaves what it has armed",
        r#"
over a WebSocket
a connects
b connects
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/who","h":""}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":1,"a":"o","b":{"p":"/who/a","d":"off"}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/who/a","d":"on"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
b< {"t":"d","d":{"a":"d","b":{"p":"who/a","d":"on"}}}
a vanishes
b< {"t":"d","d":{"a":"d","b":{"p":"who/a","d":"off"}}}
  Once: who comes back finds nothing armed.
a connects ls={a}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/who/a","d":"on"}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
b< {"t":"d","d":{"a":"d","b":{"p":"who/a","d":"on"}}}
a vanishes
c connects ls={a}
b is silent
b ends
"#,
    ),
];

#[test]
fn armed_writes_are_made_once() {
    play(CONVERSATIONS);
}
