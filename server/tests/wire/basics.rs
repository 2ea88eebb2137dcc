//! The envelope: numbers, actions, keepalives (wire reference 2, 3, 4.1).

use crate::script::play;

#[test]
fn requests_are_answered_once_and_in_order() {
    play(&[
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
a> {"t":"d","d":{"r":1,"a":"k","b":{}}}
a< {"t":"d","d":{"r":1,"b":{"s":"…","d":"…"}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"d":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"…","d":"…"}}}
a> {"t":"d","d":{"r":3,"a":"g","b":{"p":"/","q":{}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":null}}}
a ends
"#,
        ),
        (
            "parts",
            r#"
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
    ]);
}
