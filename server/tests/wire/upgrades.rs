//! A WebSocket takes over a session of long polling (wire reference 14.5).

use crate::script::play;

pub(crate) const CONVERSATIONS: &[(&str, &str)] = &[
    (
        "a WebSocket takes over",
        r#"
by long polling
put /a {"b":1}
c connects
c> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/who","h":""}}}
c< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a connects
w opens s={a}
w< {"t":"c","d":{"t":"a","d":{}}}
w> {"t":"c","d":{"t":"p","d":{}}}
w< {"t":"c","d":{"t":"o","d":{}}}
w> {"t":"c","d":{"t":"p","d":{}}}
w< {"t":"c","d":{"t":"o","d":{}}}
  Until both sides have said that it ends, everything goes by long polling.
a> {"t":"d","d":{"r":1,"a":"auth","b":{"cred":"<ann>"}}}
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":""}}}
a> {"t":"d","d":{"r":3,"a":"o","b":{"p":"/who","d":"off"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{…}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
w> {"t":"c","d":{"t":"a","d":{}}}
  What is on the WebSocket already waits for what is still on its way by long polling.
w> {"t":"d","d":{"r":5,"a":"p","b":{"p":"/a/b","d":3}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a/b","d":2}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b","d":2}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"c","d":{"t":"n","d":{}}}
a< {"t":"c","d":{"t":"n","d":{}}}
a is closed
w< {"t":"d","d":{"a":"d","b":{"p":"a/b","d":3}}}
w< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
  It is the same session: its listens, who it is, what it has armed.
put /a/b 4
w< {"t":"d","d":{"a":"d","b":{"p":"a/b","d":4}}}
w> {"t":"d","d":{"r":6,"a":"n","b":{"p":"/a"}}}
w< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
w ends
c< {"t":"d","d":{"a":"d","b":{"p":"who","d":"off"}}}
c is silent
c ends
"#,
    ),
    (
        "a WebSocket of a session that nobody has",
        r#"
by long polling
w opens s=never-was
w< {"t":"c","d":{"t":"r","d":"{server}"}}
w is closed
a connects
a ends
x opens s={a}
x< {"t":"c","d":{"t":"r","d":"{server}"}}
x is closed
"#,
    ),
    (
        "a WebSocket that is given up",
        r#"
by long polling
a connects
w opens s={a}
w< {"t":"c","d":{"t":"a","d":{}}}
w vanishes
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
  Then another one, and a client that comes back: all of it ends.
x opens s={a}
x< {"t":"c","d":{"t":"a","d":{}}}
b connects ls={a}
a is closed
x is closed
b> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/a","q":{}}}}
b< {"t":"d","d":{"r":2,"b":{"s":"ok","d":1}}}
b ends
"#,
    ),
];

#[test]
fn sessions_change_their_transport() {
    play(CONVERSATIONS);
}
