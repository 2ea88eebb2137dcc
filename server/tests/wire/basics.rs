//! The envelope: numbers, actions, keepalives (wire reference 2, 3, 4.1).

use crate::script::play;

pub(crate) const CONVERSATIONS: &[(&str, &str)] = &[
    (
        "statistics and the number zero",
        r#"
a connects
  Android counts from 0.
a> {"t":"d","d":{"r":0,"a":"s","b":{"c":{"sdk.android.20-3-0":1}}}}
a< {"t":"d","d":{"r":0,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"a":"n","b":{"p":"/nobody/listens"},"r":1}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a is silent
a ends
"#,
    ),
    (
        "keepalives and pings",
        r#"
over a WebSocket
a connects
  A keepalive is answered by nothing.
a> 0
a is silent
a> {"t":"c","d":{"t":"p","d":{}}}
a< {"t":"c","d":{"t":"o","d":{}}}
a> {"t":"c","d":{"t":"p","d":null}}
a< {"t":"c","d":{"t":"o","d":{}}}
a ends
"#,
    ),
    (
        "what nobody knows",
        r#"
a connects
  The keepalive of other protocols, and the names of listen and unlisten in very old SDKs.
a> {"t":"d","d":{"r":1,"a":"k","b":{}}}
a< {"t":"d","d":{"r":1,"b":{"s":"invalid","d":"there is no action `k`"}}}
a> {"t":"d","d":{"r":2,"a":"l","b":{"p":"/"}}}
a< {"t":"d","d":{"r":2,"b":{"s":"invalid","d":"there is no action `l`"}}}
a> {"t":"d","d":{"r":3,"a":"u","b":{"p":"/"}}}
a< {"t":"d","d":{"r":3,"b":{"s":"invalid","d":"there is no action `u`"}}}
  Fields that are missing.
a> {"t":"d","d":{"r":4,"b":{}}}
a< {"t":"d","d":{"r":4,"b":{"s":"invalid","d":"the message has no `a`"}}}
a> {"t":"d","d":{"r":5,"a":"p"}}
a< {"t":"d","d":{"r":5,"b":{"s":"invalid","d":"the message has no `b`"}}}
a> {"t":"d","d":{"r":6,"a":"p","b":{"d":1}}}
a< {"t":"d","d":{"r":6,"b":{"s":"invalid","d":"unexpected JSON: missing field `p`"}}}
  No JSON, but its number can be read.
a> {"t":"d","d":{"r":7,"a":"p","b":{"p":"/a","d":}}}
a< {"t":"d","d":{"r":7,"b":{"s":"invalid","d":"…"}}}
  Layers and kinds that this version does not know are passed over.
a> {"t":"x","d":{}}
a> {"t":"c","d":{"t":"z","d":{}}}
a> {"t":"d","d":{"r":8,"a":"g","b":{"p":"/","q":{}}}}
a< {"t":"d","d":{"r":8,"b":{"s":"ok","d":null}}}
a ends
"#,
    ),
    (
        "parts",
        r#"
over a WebSocket
a connects
a> 3
a> {"t":"d","d":{"r":1,
a> "a":"p","b":{"p":"/a",
a> "d":"in parts"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
  C++ announces one part more than it sends, and then sends the next message.
a> {"t":"d","d":{"r":2,"a":"g","b":{"p":"a","q":{}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":"in parts"}}}
a ends
"#,
    ),
    (
        "paths as clients spell them",
        r#"
a connects
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"x/y","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":2,"a":"m","b":{"p":"","d":{"/x/z":2,"w\/":3,"v//q":4}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"g","b":{"p":"\/","q":{}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{"v":{"q":4},"w":3,"x":{"y":1,"z":2}}}}}
  Nothing is decoded.
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a%20b","d":true}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"g","b":{"p":"/a%20b","q":{}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":true}}}
a ends
"#,
    ),
    (
        "every action is answered once and in its turn",
        r#"
a connects
a> {"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.admin_node.13-10-0":1,"framework.cordova":1,"persistence.android.enabled":1}}}}
a> {"t":"d","d":{"r":2,"a":"auth","b":{"cred":"<ann>"}}}
a> {"t":"d","d":{"r":3,"a":"gauth","b":{"cred":"owner"}}}
a> {"t":"d","d":{"r":4,"a":"unauth","b":{}}}
a> {"t":"d","d":{"r":5,"a":"appcheck","b":{"token":"<ann>"}}}
a> {"t":"d","d":{"r":6,"a":"unappeck","b":{}}}
a> {"t":"d","d":{"r":7,"a":"unappcheck","b":{}}}
a> {"t":"d","d":{"r":8,"a":"p","b":{"p":"/a","d":{"x":1}}}}
a> {"t":"d","d":{"r":9,"a":"m","b":{"p":"/a","d":{"y":2}}}}
a> {"t":"d","d":{"r":10,"a":"g","b":{"p":"/a","q":{}}}}
a> {"t":"d","d":{"r":11,"a":"q","b":{"p":"/a","h":""}}}
a> {"t":"d","d":{"r":12,"a":"o","b":{"p":"/b","d":1}}}
a> {"t":"d","d":{"r":13,"a":"om","b":{"p":"/c","d":{"x":1}}}}
a> {"t":"d","d":{"r":14,"a":"oc","b":{"p":"/","d":null}}}
a> {"t":"d","d":{"r":15,"a":"p","b":{"p":"/a/x","d":3}}}
a> {"t":"d","d":{"r":16,"a":"n","b":{"p":"/a"}}}
a> {"t":"d","d":{"r":17,"a":"p","b":{"p":"/a/x","d":4}}}
a> {"t":"d","d":{"r":18,"a":"g","b":{"p":"/","q":{}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{"auth":{"provider":"custom","token":{"exp":99999999999,"iat":1,"sub":"ann","user_id":"ann"},"uid":"ann"}}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{…}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":"unauthenticated"}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":9,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":10,"b":{"s":"ok","d":{"x":1,"y":2}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"x":1,"y":2}}}}
a< {"t":"d","d":{"r":11,"b":{"s":"ok","d":{}}}}
a< {"t":"d","d":{"r":12,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":13,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":14,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/x","d":3}}}
a< {"t":"d","d":{"r":15,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":16,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":17,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":18,"b":{"s":"ok","d":{"a":{"x":4,"y":2}}}}}
a ends
"#,
    ),
    (
        "fields in any order and numbers of any size",
        r#"
a connects
a> {"d":{"b":{"d":1,"p":"/a"},"a":"p","r":4294967296},"t":"d"}
a< {"t":"d","d":{"r":4294967296,"b":{"s":"ok","d":""}}}
a> {"x":[],"t":"d","d":{"later":{},"r":9007199254740991,"a":"g","b":{"later":1,"q":{},"p":"\/a"}}}
a< {"t":"d","d":{"r":9007199254740991,"b":{"s":"ok","d":1}}}
  Clients count on across connections, so that nothing is expected of a first number or of a gap.
a> {"t":"d","d":{"r":3,"a":"g","b":{"p":"/a","q":{}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":1}}}
  The counter of C++ is its user agent.
a> {"t":"d","d":{"r":4,"a":"s","b":{"c":{"Firebase/5/12.0.0/linux/C++":1}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "a message without a number ends the connection",
        r#"
a connects
b connects
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/gone","h":""}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":1,"a":"o","b":{"p":"/gone","d":true}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a> []
a is closed
b< {"t":"d","d":{"a":"d","b":{"p":"gone","d":true}}}
b ends
"#,
    ),
    (
        "half a surrogate pair is replaced and the connection goes on",
        r#"
a connects
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":"\ud83dx\u0007"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/a","q":{}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":"�x\u0007"}}}
a ends
"#,
    ),
    (
        "counts of parts",
        r#"
over a WebSocket
a connects
a> 1
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
  Digits within a message are content.
a> 3
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":
a> 0
a> }}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"g","b":{"p":"/a","q":{}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":0}}}
  More than is received.
a> 999999
a is closed
"#,
    ),
    (
        "a kind of control message that belongs to long polling",
        r#"
over a WebSocket
a connects
a> {"t":"c","d":{"t":"n","d":{}}}
a> {"t":"c","d":{"t":"a","d":{}}}
a is silent
a ends
"#,
    ),
];

#[test]
fn requests_are_answered_once_and_in_order() {
    play(CONVERSATIONS);
}
