//! Who a client is (wire reference 4.8, 10.5).

use crate::script::play;

#[test]
fn identity_has_its_place_among_the_requests() {
    play(&[
        (
            "what comes behind a token is judged by it",
            r#"
rules {"rules":{"mine":{"$uid":{".read":"auth.uid === $uid",".write":"auth.uid === $uid"}}}}
put /mine/ann 1
a connects
a> {"t":"d","d":{"r":1,"a":"g","b":{"p":"/mine/ann","q":{}}}}
a> {"t":"d","d":{"r":2,"a":"auth","b":{"cred":"<ann>"}}}
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/mine/ann","h":""}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/mine/bob","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"permission_denied","d":"Permission denied"}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{"auth":{…"uid":"ann"}…}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"mine/ann","d":1}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"permission_denied","d":"Permission denied"}}}
  Somebody else now: what only the one before may read ends, before the answer.
a> {"t":"d","d":{"r":5,"a":"auth","b":{"cred":"<bob>"}}}
a< {"t":"d","d":{"a":"c","b":{"p":"mine/ann"}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{"auth":{…"uid":"bob"}…}}}}
a> {"t":"d","d":{"r":6,"a":"q","b":{"p":"/mine/bob","h":""}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":7,"a":"unauth","b":{}}}
a< {"t":"d","d":{"a":"c","b":{"p":"mine/bob"}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":"…"}}}
a ends
"#,
        ),
        (
            "tokens that are none and app check",
            r#"
a connects
a> {"t":"d","d":{"r":1,"a":"auth","b":{"cred":"no token"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"invalid_token","d":"…"}}}
a> {"t":"d","d":{"r":2,"a":"appcheck","b":{"token":"whatever"}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
  Misspelt by JavaScript.
a> {"t":"d","d":{"r":3,"a":"unappeck","b":{}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":4,"a":"unappcheck","b":{}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"gauth","b":{"cred":"owner"}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{…}}}}
a ends
"#,
        ),
    ]);
}
