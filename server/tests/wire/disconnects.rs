//! What is written when a client goes (wire reference 4.7, 10.3, 10.6).

use crate::script::play;

#[test]
fn armed_writes_are_made_once() {
    play(&[
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
    ]);
}
