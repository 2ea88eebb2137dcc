//! Listens: data before their answer, hashes, replacement, revocation (wire reference 3.4, 3.5, 4.2, 4.3, 5.4, 10.4).

use crate::script::play;

#[test]
fn listens_are_told_everything_in_order() {
    play(&[
        (
            "first data and news",
            r#"
put /a {"b":1}
a connects
b connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
  The news before the answer, to the writer as well; a write above, at and below.
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/c","d":{"d":2}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/c","d":{"d":2}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
b> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/","d":{"a":3,"z":4}}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":3}}}
b> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/z","d":5}}}
b< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
b> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a","d":null}}}
b< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":null}}}
a> {"t":"d","d":{"r":3,"a":"n","b":{"p":"/a"}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
b> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a","d":6}}}
b< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a is silent
a ends
"#,
        ),
        (
            "an update is one message",
            r#"
put / {"a":{"b":1,"c":2},"z":3}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1,"c":2}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
  Only what is below the listen.
a> {"t":"d","d":{"r":2,"a":"m","b":{"p":"/","d":{"a/b":null,"a/d/e":4,"z":5}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"a","d":{"b":null,"d/e":4}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a/c/.priority","d":7}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/c/.priority","d":7}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a ends
"#,
        ),
        (
            "what the client has is not sent again",
            r#"
put /a "hello"
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":"z6sRbrNLwbHX5fdjpvsTtWgXUFc="}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/nothing","h":""}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
  C++ says no hash, and waits for data even where there are none.
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/nothing/here"}}}
a< {"t":"d","d":{"a":"d","b":{"p":"nothing/here","d":null}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
  Another hash than that of what is there.
b connects
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":"E5z61QM0lN/U2WsOnusszCTkR8M="}}}
b< {"t":"d","d":{"a":"d","b":{"p":"a","d":"hello"}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a ends
b ends
"#,
        ),
        (
            "a listen again replaces the one before",
            r#"
put /a {"x":1,"y":2}
a connects
a> {"t":"d","d":{"r":0,"a":"q","b":{"p":"a","q":{"l":1,"vf":"l"},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"x":1},"t":1}}}
a< {"t":"d","d":{"r":0,"b":{"s":"ok","d":{}}}}
  A hash that is none changes nothing; then again, as Android does when its token is refreshed.
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"a","q":{"l":1,"vf":"l"},"t":1,"h":"no hash"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"…","d":"…"}}}
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"a","q":{"l":1,"vf":"r"},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"y":2},"t":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
  One listen, one piece of news.
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"a/y","d":3}}}
a< {"t":"d","d":{"a":"m","b":{"p":"a","d":{"y":3},"t":1}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a ends
"#,
        ),
        (
            "listens that cover each other",
            r#"
put /a {"b":{"c":1}}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a/b","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b","d":{"c":1}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
  A listen above, then the end of the one below.
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","h":""}}}
a> {"t":"d","d":{"r":3,"a":"n","b":{"p":"/a/b"}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":{"c":1}}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a/b/c","d":2}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b/c","d":2}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a ends
"#,
        ),
        (
            "a right that ends",
            r#"
rules {"rules":{"a":{".read":"root.child('open').val() == true"},"open":{".write":true},"b":{".read":true}}}
put /open true
put /a {"secret":1,"other":2}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"other":2,"secret":1}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","q":{"l":1,"vf":"r"},"t":4,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"secret":1},"t":4}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/b","h":""}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/open","d":false}}}
a< {"t":"d","d":{"a":"c","b":{"p":"a"}}}
a< {"t":"d","d":{"a":"c","b":{"p":"a","q":[{"l":1,"vf":"r"}]}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"r":5,"b":{"s":"permission_denied","d":"Permission denied"}}}
  Its end is answered all the same.
a> {"t":"d","d":{"r":6,"a":"n","b":{"p":"/a"}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
a ends
"#,
        ),
    ]);
}
