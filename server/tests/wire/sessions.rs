//! Connections that come and go: what a client sends again, and what becomes of its session (wire reference 10).

use crate::script::play;

pub(crate) const CONVERSATIONS: &[(&str, &str)] = &[
    (
        "a client of JavaScript comes back",
        r#"
put /rooms {"a":{"x":1}}
b connects
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/who","h":""}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a connects p=1:123:web:abc
a> {"t":"d","d":{"r":1,"a":"s","b":{"c":{"sdk.js.13-2-0":1}}}}
a> {"t":"d","d":{"r":2,"a":"auth","b":{"cred":"<ann>"}}}
a> {"t":"d","d":{"r":3,"a":"appcheck","b":{"token":"AC-TOK"}}}
a> {"t":"d","d":{"r":4,"a":"q","b":{"p":"/rooms","h":""}}}
a> {"t":"d","d":{"r":5,"a":"o","b":{"p":"/who/ann","d":"off"}}}
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/who/ann","d":"on"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{…}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"rooms","d":{"a":{"x":1}}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":{}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
b< {"t":"d","d":{"a":"d","b":{"p":"who/ann","d":"on"}}}
  Its old connection still looks alive: that ends first, with what it has armed. Nothing is awaited: token, listens with
  hashes, writes that were not answered under new numbers, what is armed now, reads.
put /rooms {"a":{"x":2}}
a< {"t":"d","d":{"a":"d","b":{"p":"rooms","d":{"a":{"x":2}}}}}
c connects ls={a}&p=1:123:web:abc
a is closed
b< {"t":"d","d":{"a":"d","b":{"p":"who/ann","d":"off"}}}
c> {"t":"d","d":{"r":7,"a":"auth","b":{"cred":"<ann>"}}}
c> {"t":"d","d":{"r":8,"a":"appcheck","b":{"token":"AC-TOK"}}}
c> {"t":"d","d":{"r":9,"a":"q","b":{"p":"/rooms","h":"E5z61QM0lN/U2WsOnusszCTkR8M="}}}
c> {"t":"d","d":{"r":10,"a":"q","b":{"p":"/who","q":{"l":1,"vf":"l"},"t":2,"h":""}}}
c> {"t":"d","d":{"r":11,"a":"p","b":{"p":"/who/ann","d":"on"}}}
c> {"t":"d","d":{"r":12,"a":"m","b":{"p":"/rooms","d":{"a/y":{".sv":{"increment":1}},"b":3}}}}
c> {"t":"d","d":{"r":13,"a":"o","b":{"p":"/who/ann","d":"gone"}}}
c> {"t":"d","d":{"r":14,"a":"g","b":{"p":"/rooms/b","q":{}}}}
c< {"t":"d","d":{"r":7,"b":{"s":"ok","d":{…}}}}
c< {"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}
c< {"t":"d","d":{"a":"d","b":{"p":"rooms","d":{"a":{"x":2}}}}}
c< {"t":"d","d":{"r":9,"b":{"s":"ok","d":{}}}}
c< {"t":"d","d":{"a":"d","b":{"p":"who","d":{"ann":"off"},"t":2}}}
c< {"t":"d","d":{"r":10,"b":{"s":"ok","d":{}}}}
c< {"t":"d","d":{"a":"m","b":{"p":"who","d":{"ann":"on"},"t":2}}}
c< {"t":"d","d":{"r":11,"b":{"s":"ok","d":""}}}
c< {"t":"d","d":{"a":"m","b":{"p":"rooms","d":{"a/y":1,"b":3}}}}
c< {"t":"d","d":{"r":12,"b":{"s":"ok","d":""}}}
c< {"t":"d","d":{"r":13,"b":{"s":"ok","d":""}}}
c< {"t":"d","d":{"r":14,"b":{"s":"ok","d":3}}}
b< {"t":"d","d":{"a":"d","b":{"p":"who/ann","d":"on"}}}
  Offline on purpose, and online again: that is a goodbye, and its session is over when it is named.
c ends
b< {"t":"d","d":{"a":"d","b":{"p":"who/ann","d":"gone"}}}
c connects ls={c}
c> {"t":"d","d":{"r":15,"a":"q","b":{"p":"/rooms","h":""}}}
c< {"t":"d","d":{"a":"d","b":{"p":"rooms","d":{"a":{"x":2,"y":1},"b":3}}}}
c< {"t":"d","d":{"r":15,"b":{"s":"ok","d":{}}}}
c ends
b is silent
b ends
"#,
    ),
    (
        "a client of Android comes back",
        r#"
put /a {"x":1,"y":"text"}
a connects
a> {"t":"d","d":{"r":0,"a":"s","b":{"c":{"sdk.android.22-0-1":1,"persistence.android.enabled":1}}}}
a< {"t":"d","d":{"r":0,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"b":{"cred":"<ann>"},"a":"auth","r":1}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{…}}}}
a> {"t":"d","d":{"b":{"token":"AC-TOK"},"a":"appcheck","r":2}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"b":{"p":"a","h":""},"a":"q","r":3}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"x":1,"y":"text"}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
b connects ls={a}
a is closed
b> {"t":"d","d":{"b":{"cred":"<ann>"},"a":"auth","r":4}}
b< {"t":"d","d":{"r":4,"b":{"s":"ok","d":{…}}}}
b> {"t":"d","d":{"b":{"p":"a","h":"3F4ppUCiUTxnHvEEPMErYm0T7OQ=","ch":{"hs":["LmKmJmXugtGlEGoulMbz86myDNw=",""],"ps":["y"]}},"a":"q","r":5}}
b< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"x":1,"y":"text"}}}}
b< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{}}}}
b> {"t":"d","d":{"b":{"p":"a\/x","d":2.0},"a":"p","r":6}}
b< {"t":"d","d":{"a":"d","b":{"p":"a/x","d":2}}}
b< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
b ends
"#,
    ),
    (
        "sessions that nobody has and other names of the server",
        r#"
a connects ls=never-was
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
  What cannot be a session is none.
b connects ls=no/session
b> {"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":{}}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":1}}}
  The client is told to come back under the name that it has used.
c connects at localhost:9000 ls={b}
b is closed
c> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/a","q":{}}}}
c< {"t":"d","d":{"r":2,"b":{"s":"ok","d":1}}}
a ends
c ends
"#,
    ),
    (
        "a write whose answer was lost is made twice",
        r#"
a connects
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/n","d":{".sv":{"increment":1}}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
b connects ls={a}
a is closed
b> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/n","d":{".sv":{"increment":1}}}}}
b< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
b> {"t":"d","d":{"r":3,"a":"g","b":{"p":"/n","q":{}}}}
b< {"t":"d","d":{"r":3,"b":{"s":"ok","d":2}}}
b ends
"#,
    ),
];

#[test]
fn clients_come_back() {
    play(CONVERSATIONS);
}
