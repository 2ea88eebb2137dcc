//! Listens: data before their answer, hashes, replacement, revocation (wire reference 3.4, 3.5, 4.2, 4.3, 5.4, 10.4).

use crate::script::play;

pub(crate) const CONVERSATIONS: &[(&str, &str)] = &[
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
    (
        "the root and places above it and below",
        r#"
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/","h":""}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/","d":{"a":{"b":1}}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"/","d":{"a":{"b":1}}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a/b","d":{"c":2}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b","d":{"c":2}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
  Two places, one message.
a> {"t":"d","d":{"r":4,"a":"m","b":{"p":"/","d":{"a/b/c":null,"x/y":3}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"/","d":{"a/b/c":null,"x/y":3}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "one update is one message to each listen",
        r#"
put / {"a":{"b":{"c":1}},"x":1}
a connects
b connects
  Below one of its keys, at one, above, and elsewhere.
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a/b/c","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b/c","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/x","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"x","d":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
b> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
b< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":{"c":1}}}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
b> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/elsewhere","h":""}}}
b< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
b> {"t":"d","d":{"r":3,"a":"m","b":{"p":"/","d":{"a/b":{"c":{"d":2}},"a/e":3,"a/f/.priority":4,"x":null}}}}
b< {"t":"d","d":{"a":"m","b":{"p":"a","d":{"b":{"c":{"d":2}},"e":3}}}}
b< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b/c","d":{"d":2}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"x","d":null}}}
a is silent
b is silent
a ends
b ends
"#,
    ),
    (
        "priorities below a listen and at it",
        r#"
put /a {"b":1,"c":{"d":2}}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1,"c":{"d":2}}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a/.priority","d":"high"}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/.priority","d":"high"}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
  A value alone takes the priority away.
a> {"t":"d","d":{"r":3,"a":"m","b":{"p":"/a","d":{"b/.priority":1,"c/.priority":2}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"a","d":{"b/.priority":1,"c/.priority":2}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a/b","d":5}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b","d":5}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"g","b":{"p":"/","q":{}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{"a":{"b":5,"c":{"d":2,".priority":2},".priority":"high"}}}}}
  The last child goes, and with it the node and its priority.
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/a/c/d","d":null}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/c/d","d":null}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
  Of what is not there a priority is nothing.
a> {"t":"d","d":{"r":7,"a":"p","b":{"p":"/a/c/.priority","d":1}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
a is silent
a ends
"#,
    ),
    (
        "what stays as it was is not told",
        r#"
put /a {"b":1}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":{"b":1}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"m","b":{"p":"/a","d":{"b":1,"c":null}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a/b/c","d":null}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a is silent
a ends
"#,
    ),
    (
        "all of a place and a part of it",
        r#"
put /a {"b":{"x":1},"c":{"x":2}}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","q":{"l":1,"vf":"l"},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":{"x":1}},"t":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a/b","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b","d":{"x":1}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
  A change there goes out twice, with the tag and without.
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a/b/x","d":3}}}
a< {"t":"d","d":{"a":"m","b":{"p":"a","d":{"b/x":3},"t":1}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b/x","d":3}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
  Then all of it, and both at the same place for a while.
a> {"t":"d","d":{"r":4,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":{"x":3},"c":{"x":2}}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":5,"a":"n","b":{"p":"/a/b"}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/a/b/x","d":4}}}
a< {"t":"d","d":{"a":"m","b":{"p":"a","d":{"b/x":4},"t":1}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b/x","d":4}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":7,"a":"n","b":{"p":"/a","q":{"l":1,"vf":"l"},"t":1}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":8,"a":"p","b":{"p":"/a/b/x","d":5}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/b/x","d":5}}}
a< {"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}
  The one above ends: first what is left is listened to, with the hash of what the client has of it, and the same tag.
a> {"t":"d","d":{"r":9,"a":"q","b":{"p":"/a/c","h":"vQyP5OgFqaKD7AdPV4IkuEL/W2g="}}}
a> {"t":"d","d":{"r":10,"a":"q","b":{"p":"/a","q":{"l":1,"vf":"l"},"t":1,"h":"E5z61QM0lN/U2WsOnusszCTkR8M="}}}
a> {"t":"d","d":{"r":11,"a":"n","b":{"p":"/a"}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/c","d":{"x":2}}}}
a< {"t":"d","d":{"r":9,"b":{"s":"ok","d":{}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":{"x":5}},"t":1}}}
a< {"t":"d","d":{"r":10,"b":{"s":"ok","d":{}}}}
a< {"t":"d","d":{"r":11,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":12,"a":"m","b":{"p":"/a","d":{"b/x":6,"c/x":7,"d":8}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"a","d":{"b/x":6},"t":1}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/c/x","d":7}}}
a< {"t":"d","d":{"r":12,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "tags",
        r#"
put /a {"b":1,"c":2,"d":3}
a connects
  Without a tag the client could not tell a part from all of it.
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","q":{"l":1,"vf":"l"},"h":""}}}
a< {"t":"d","d":{"r":1,"b":{"s":"invalid","d":"a listen to part of the children needs a tag, `t`"}}}
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","q":{"l":1,"vf":"l"},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1},"t":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/a","q":{"l":1,"vf":"r"},"t":2,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"d":3},"t":2}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
  The end of one is not that of the other, nor is that of a tag that nobody has.
a> {"t":"d","d":{"r":4,"a":"n","b":{"p":"/a","q":{"l":1,"vf":"l"},"t":1}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"n","b":{"p":"/a","q":{"l":1,"vf":"r"},"t":9}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":6,"a":"m","b":{"p":"/a","d":{"b":4,"d":5}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"a","d":{"d":5},"t":2}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
  A tag serves again, for another query at another place.
a> {"t":"d","d":{"r":7,"a":"q","b":{"p":"/","q":{"l":1,"vf":"l"},"t":1,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"/","d":{"a":{"b":4,"c":2,"d":5}},"t":1}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":{}}}}
a ends
"#,
    ),
    (
        "everything again on a living connection",
        r#"
put /a {"b":1}
a connects
  Android does so when its token is refreshed: all listens, and the writes that are not answered.
a> {"t":"d","d":{"r":0,"a":"q","b":{"p":"a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1}}}}
a< {"t":"d","d":{"r":0,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"a/c","d":2}}}
a> {"t":"d","d":{"r":2,"a":"auth","b":{"cred":"<ann>"}}}
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"a","h":"no hash"}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"a/c","d":2}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/c","d":2}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{…}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"invalid","d":"…"}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"q","b":{"p":"a","h":"E5z61QM0lN/U2WsOnusszCTkR8M="}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1,"c":2}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{}}}}
  It is one listen still.
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"a/c","d":3}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/c","d":3}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "rules that change end what they no longer allow",
        r#"
rules {"rules":{".read":true}}
put /a {"b":1,"c":2}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1,"c":2}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
  The query comes back in the client's own words, by which it finds the listen.
a> {"t":"d","d":{"r":2,"a":"q","b":{"p":"/a","q":{"vf":"r","l":1,"i":".key"},"t":3,"h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"c":2},"t":3}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/d","h":""}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
rules {"rules":{"d":{".read":true}}}
a< {"t":"d","d":{"a":"c","b":{"p":"a"}}}
a< {"t":"d","d":{"a":"c","b":{"p":"a","q":[{"vf":"r","l":1,"i":".key"}]}}}
put / {"a":1,"d":2}
a< {"t":"d","d":{"a":"d","b":{"p":"d","d":2}}}
a is silent
a ends
"#,
    ),
    (
        "a listen that is refused is asked for again",
        r#"
rules {"rules":{"in":{".write":true},"room":{".read":"root.child('in').exists()"}}}
put /room "welcome"
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/room","h":""}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/in","d":true}}}
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/room","h":""}}}
a> {"t":"d","d":{"r":4,"a":"n","b":{"p":"/room"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"room","d":"welcome"}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "what only clients have",
        r#"
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/.info/connected","h":""}}}
a< {"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"…"}}}
a> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/.info","q":{}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"permission_denied","d":"…"}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/.info/x","d":1}}}
a< {"t":"d","d":{"r":3,"b":{"s":"permission_denied","d":"…"}}}
a ends
"#,
    ),
];

#[test]
fn listens_are_told_everything_in_order() {
    play(CONVERSATIONS);
}
