//! Writes and their refusals (wire reference 3.5, 4.5, 4.6, 9).

use crate::script::play;

#[test]
fn writes_are_answered_after_their_news() {
    play(&[
        (
            "a stale transaction",
            r#"
put /n 1
a connects
b connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/n","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"n","d":1}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
b> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/n","d":42}}}
b< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
  What is there now before the answer that it is not what was expected.
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/n","d":2,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}}
a< {"t":"d","d":{"a":"d","b":{"p":"n","d":42}}}
a< {"t":"d","d":{"r":2,"b":{"s":"datastale","d":"Transaction hash does not match"}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/n","d":43,"h":"bQ5XV5L9riGZgerGMb/8Z87RxeI="}}}
a< {"t":"d","d":{"a":"d","b":{"p":"n","d":43}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a ends
b ends
"#,
        ),
        (
            "a hash by JavaScript of a number that it gets wrong",
            r#"
put /n 9007199254740991
a connects
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/n","d":1,"h":"m4qsp/5BbIWTdjthNlnOX+WCTB0="}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/n","d":9007199254740991}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/n","d":1,"h":"zP1cy9AKj8mOJfzxsijijNJ8QdY="}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a ends
"#,
        ),
        (
            "refused writes tell nobody anything",
            r#"
rules {"rules":{".read":true,"open":{".write":true,".validate":"newData.isString()"}}}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/","h":""}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/closed","d":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/open","d":1}}}
a< {"t":"d","d":{"r":3,"b":{"s":"permission_denied","d":"Permission denied"}}}
a> {"t":"d","d":{"r":4,"a":"m","b":{"p":"/","d":{"open":"fine","closed":1}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"permission_denied","d":"Permission denied"}}}
a is silent
a> {"t":"d","d":{"r":5,"a":"m","b":{"p":"/","d":{}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
  One path above another, a key that is none, a value that is none.
a> {"t":"d","d":{"r":6,"a":"m","b":{"p":"/","d":{"open":"x","open/below":1}}}}
a< {"t":"d","d":{"r":6,"b":{"s":"…","d":"…"}}}
a> {"t":"d","d":{"r":7,"a":"p","b":{"p":"/open","d":{"a.b":1}}}}
a< {"t":"d","d":{"r":7,"b":{"s":"…","d":"…"}}}
a is silent
a ends
"#,
        ),
        (
            "values as they come and as they are told",
            r#"
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/v","h":""}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/v","d":["x",null,{".value":"y",".priority":3}]}}}
a< {"t":"d","d":{"a":"d","b":{"p":"v","d":{"0":"x","2":{".value":"y",".priority":3}}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/v","d":{".sv":{"increment":2}}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"v","d":2}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/v","d":{".sv":{"increment":0.5}}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"v","d":2.5}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"p","b":{"p":"/v","d":{".sv":"timestamp"}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"v","d":…}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/v","d":{}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"v","d":null}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
a ends
"#,
        ),
    ]);
}
