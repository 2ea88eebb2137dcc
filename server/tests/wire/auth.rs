//! Who a client is (wire reference 4.8, 10.5).

use crate::script::play;

pub(crate) const CONVERSATIONS: &[(&str, &str)] = &[
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
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":"unauthenticated"}}}
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
    (
        "admins and whom they act as",
        r#"
rules {"rules":{"$uid":{".read":"auth.uid === $uid"},"open":{".read":"auth === null"},"claim":{".read":"auth.token.role === 'ops'"}}}
a connects
a> {"t":"d","d":{"r":1,"a":"gauth","b":{"cred":"owner"}}}
a> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/ann","q":{}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{…}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":null}}}
  As somebody, and the claims with it.
a> {"t":"d","d":{"r":3,"a":"gauth","b":{"cred":"owner","authvar":{"uid":"ann","token":{"role":"ops"}}}}}
a> {"t":"d","d":{"r":4,"a":"g","b":{"p":"/ann","q":{}}}}
a> {"t":"d","d":{"r":5,"a":"g","b":{"p":"/bob","q":{}}}}
a> {"t":"d","d":{"r":6,"a":"g","b":{"p":"/claim","q":{}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":{"auth":{…"uid":"ann"}}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":null}}}
a< {"t":"d","d":{"r":5,"b":{"s":"permission_denied","d":"Permission denied"}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":null}}}
  As nobody, in three ways.
a> {"t":"d","d":{"r":7,"a":"gauth","b":{"cred":"owner","noauth":true}}}
a> {"t":"d","d":{"r":8,"a":"g","b":{"p":"/ann","q":{}}}}
a> {"t":"d","d":{"r":9,"a":"g","b":{"p":"/open","q":{}}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":{"auth":null}}}}
a< {"t":"d","d":{"r":8,"b":{"s":"permission_denied","d":"Permission denied"}}}
a< {"t":"d","d":{"r":9,"b":{"s":"ok","d":null}}}
a> {"t":"d","d":{"r":10,"a":"auth","b":{"cred":"owner","authvar":null}}}
a> {"t":"d","d":{"r":11,"a":"g","b":{"p":"/ann","q":{}}}}
a< {"t":"d","d":{"r":10,"b":{"s":"ok","d":{"auth":null}}}}
a< {"t":"d","d":{"r":11,"b":{"s":"permission_denied","d":"Permission denied"}}}
  Both at once are refused, and whoever it was stays.
a> {"t":"d","d":{"r":12,"a":"gauth","b":{"cred":"owner","noauth":true,"authvar":{"uid":"ann"}}}}
a> {"t":"d","d":{"r":13,"a":"g","b":{"p":"/open","q":{}}}}
a< {"t":"d","d":{"r":12,"b":{"s":"invalid","d":"`noauth` and `authvar` exclude each other"}}}
a< {"t":"d","d":{"r":13,"b":{"s":"ok","d":null}}}
a ends
"#,
    ),
    (
        "an unsigned token as the SDK makes it",
        r#"
rules {"rules":{"$uid":{".read":"auth.uid === $uid && auth.token.firebase.sign_in_provider === 'custom'"}}}
a connects
  It ended an hour after 1970 began; on a developer's machine nobody minds.
a> {"t":"d","d":{"r":1,"a":"auth","b":{"cred":"<{"iss":"https://securetoken.google.com/demo","aud":"demo","iat":0,"exp":3600,"auth_time":0,"sub":"ann","user_id":"ann","firebase":{"sign_in_provider":"custom","identities":{}}}>"}}}
a> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/ann","q":{}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{"auth":{…"uid":"ann"…}…}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":null}}}
a is silent
a ends
"#,
    ),
    (
        "who fails to be somebody stays nobody and connected",
        r#"
rules {"rules":{"$uid":{".read":"auth.uid === $uid"}}}
a connects ac=AC-TOK&p=1:123:web:abc
a> {"t":"d","d":{"r":1,"a":"auth","b":{"cred":"a.b.c"}}}
a> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/ann","q":{}}}}
a> {"t":"d","d":{"r":3,"a":"auth","b":{}}}
a< {"t":"d","d":{"r":1,"b":{"s":"invalid_token","d":"…"}}}
a< {"t":"d","d":{"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}}
a< {"t":"d","d":{"r":3,"b":{"s":"invalid","d":"…"}}}
a> {"t":"d","d":{"r":4,"a":"appcheck","b":{}}}
a< {"t":"d","d":{"r":4,"b":{"s":"invalid","d":"…"}}}
a> {"t":"d","d":{"r":5,"a":"auth","b":{"cred":"<ann>"}}}
a> {"t":"d","d":{"r":6,"a":"g","b":{"p":"/ann","q":{}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{…}}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":null}}}
a ends
"#,
    ),
    (
        "who asks for reasons is told before the refusal",
        r#"
rules {"rules":{"a":{".read":"auth.uid === 'bob'",".write":"auth.uid === 'bob'"}}}
a connects
a> {"t":"d","d":{"r":1,"a":"auth","b":{"cred":"<{"sub":"ann","user_id":"ann","iat":1,"exp":99999999999,"debug":true}>"}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{…}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":1}}}
a< {"t":"d","d":{"a":"sd","b":{"msg":"…"}}}
a< {"t":"d","d":{"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}}
a> {"t":"d","d":{"r":3,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"sd","b":{"msg":"…"}}}
a< {"t":"d","d":{"r":3,"b":{"s":"permission_denied","d":"Permission denied"}}}
a ends
"#,
    ),
];

#[test]
fn identity_has_its_place_among_the_requests() {
    play(CONVERSATIONS);
}
