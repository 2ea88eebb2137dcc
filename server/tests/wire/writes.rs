//! Writes and their refusals (wire reference 3.5, 4.5, 4.6, 9).

use crate::script::play;

pub(crate) const CONVERSATIONS: &[(&str, &str)] = &[
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
a< {"t":"d","d":{"r":6,"b":{"s":"invalid","d":"…"}}}
a> {"t":"d","d":{"r":7,"a":"p","b":{"p":"/open","d":{"a.b":1}}}}
a< {"t":"d","d":{"r":7,"b":{"s":"invalid","d":"…"}}}
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
    (
        "a set replaces children and priority",
        r#"
put /a {"b":1,"c":{"d":2},".priority":3}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"b":1,"c":{"d":2},".priority":3}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/a","d":{"e":4}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"e":4}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/a","d":{".value":"x",".priority":"p"}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{".value":"x",".priority":"p"}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
  A child below a leaf: its value goes, its priority stays.
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/a/f","d":5}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a/f","d":5}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":5,"a":"g","b":{"p":"/","q":{}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":{"a":{"f":5,".priority":"p"}}}}}
  Whole numbers have no decimals, whatever they came with.
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/a","d":{"a":3.0,"b":1e21,"c":9007199254740993,"d":-0,"e":0.1,"f":-2.50}}}}
a< {"t":"d","d":{"a":"d","b":{"p":"a","d":{"a":3,"b":1e+21,"c":9007199254740993,"d":0,"e":0.1,"f":-2.5}}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "an update with every kind of value",
        r#"
put / {"old":{"thing":1,"other":2},"n":5}
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/","h":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"/","d":{"n":5,"old":{"other":2,"thing":1}}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
a> {"t":"d","d":{"r":2,"a":"m","b":{"p":"/","d":{"rooms/a/title":"Hi","list":["x",null,"y"],"leaf":{".value":true,".priority":1},"old/thing":null,"old/.priority":7,"n":{".sv":{"increment":2}}}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"/","d":{"leaf":{".value":true,".priority":1},"list":{"0":"x","2":"y"},"n":7,"rooms/a/title":"Hi","old":{"other":2,".priority":7}}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
  One time for the whole request.
a> {"t":"d","d":{"r":3,"a":"m","b":{"p":"/t","d":{"a":{".sv":"timestamp"},"b/c":{".sv":"timestamp"}}}}}
a< {"t":"d","d":{"a":"m","b":{"p":"/","d":{"t/a":…,"t/b/c":…}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
  A priority is set, not updated; a server value is alone.
a> {"t":"d","d":{"r":4,"a":"m","b":{"p":"/old/.priority","d":{"a":1}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"invalid","d":"an update needs the path of a node, not of its priority"}}}
a> {"t":"d","d":{"r":5,"a":"m","b":{"p":"/","d":{"a":{".sv":"bogus"}}}}}
a< {"t":"d","d":{"r":5,"b":{"s":"invalid","d":"…"}}}
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/a","d":{".sv":"timestamp","x":1}}}}
a< {"t":"d","d":{"r":6,"b":{"s":"invalid","d":"…"}}}
a> {"t":"d","d":{"r":7,"a":"p","b":{"p":"/a","d":{"x":1,".priority":true}}}}
a< {"t":"d","d":{"r":7,"b":{"s":"invalid","d":"…"}}}
a is silent
a ends
"#,
    ),
    (
        "transactions one behind the other",
        r#"
a connects
a> {"t":"d","d":{"r":1,"a":"q","b":{"p":"/n","h":""}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":{}}}}
  Nothing is there: the empty hash. The second and third count on the ones before.
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/n","d":1,"h":""}}}
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/n","d":42,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/n","d":0,"h":"bQ5XV5L9riGZgerGMb/8Z87RxeI="}}}
a< {"t":"d","d":{"a":"d","b":{"p":"n","d":1}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"n","d":42}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"a":"d","b":{"p":"n","d":0}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":""}}}
  What is there already, written again.
a> {"t":"d","d":{"r":5,"a":"p","b":{"p":"/n","d":0,"h":"7ysMph9WPitGP7poMnMHMVPtUlI="}}}
a< {"t":"d","d":{"r":5,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/n","d":9,"h":""}}}
a< {"t":"d","d":{"r":6,"b":{"s":"datastale","d":"Transaction hash does not match"}}}
  At an ancestor, of an object, with what an estimate of a server value cannot know.
a> {"t":"d","d":{"r":7,"a":"p","b":{"p":"/o","d":{"a":1,"b":"x"}}}}
a> {"t":"d","d":{"r":8,"a":"p","b":{"p":"/o","d":{"a":2,"b":{".sv":"timestamp"}},"h":"jRI9dwRS9sb4SWm8uuoN7+xBk4g="}}}
a> {"t":"d","d":{"r":9,"a":"p","b":{"p":"/o","d":{"a":3},"h":"jRI9dwRS9sb4SWm8uuoN7+xBk4g="}}}
a< {"t":"d","d":{"r":7,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":8,"b":{"s":"ok","d":""}}}
a< {"t":"d","d":{"r":9,"b":{"s":"datastale","d":"Transaction hash does not match"}}}
a> {"t":"d","d":{"r":10,"a":"p","b":{"p":"/o","d":1,"h":"no hash"}}}
a< {"t":"d","d":{"r":10,"b":{"s":"invalid","d":"…"}}}
a ends
"#,
    ),
    (
        "the hash before the rules",
        r#"
rules {"rules":{"seen":{".read":true,".write":true,".validate":"newData.isNumber()"},"hidden":{".write":true},"kept":{".read":true}}}
put / {"seen":1,"hidden":1,"kept":1}
a connects
  JavaScript tries with nothing first; judging that would end the transaction.
a> {"t":"d","d":{"r":1,"a":"p","b":{"p":"/seen","d":"text","h":""}}}
a< {"t":"d","d":{"r":1,"b":{"s":"datastale","d":"Transaction hash does not match"}}}
a> {"t":"d","d":{"r":2,"a":"p","b":{"p":"/seen","d":"text","h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}}
a< {"t":"d","d":{"r":2,"b":{"s":"permission_denied","d":"Permission denied"}}}
  Who may not read must not learn of a hash whether it fits.
a> {"t":"d","d":{"r":3,"a":"p","b":{"p":"/hidden","d":2,"h":""}}}
a< {"t":"d","d":{"r":3,"b":{"s":"permission_denied","d":"Permission denied"}}}
a> {"t":"d","d":{"r":4,"a":"p","b":{"p":"/kept","d":2,"h":""}}}
a< {"t":"d","d":{"r":4,"b":{"s":"datastale","d":"Transaction hash does not match"}}}
a> {"t":"d","d":{"r":5,"a":"p","b":{"p":"/kept","d":2,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}}
a< {"t":"d","d":{"r":5,"b":{"s":"permission_denied","d":"Permission denied"}}}
a> {"t":"d","d":{"r":6,"a":"p","b":{"p":"/seen","d":42,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}}}
a< {"t":"d","d":{"r":6,"b":{"s":"ok","d":""}}}
a ends
"#,
    ),
    (
        "increments",
        r#"
put / {"i":9223372036854775806,"d":0.5,"t":"text","p":{".value":1,".priority":2}}
a connects
a> {"t":"d","d":{"r":1,"a":"m","b":{"p":"/","d":{"i":{".sv":{"increment":1}},"d":{".sv":{"increment":1}},"t":{".sv":{"increment":3}},"p":{".sv":{"increment":4}},"none":{".sv":{"increment":-5}}}}}}
a< {"t":"d","d":{"r":1,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":2,"a":"g","b":{"p":"/","q":{}}}}
a< {"t":"d","d":{"r":2,"b":{"s":"ok","d":{"d":1.5,"i":9223372036854775807,"none":-5,"p":5,"t":3}}}}
  Beyond 64 bits it is a double; a priority counts, too.
a> {"t":"d","d":{"r":3,"a":"m","b":{"p":"/","d":{"i":{".sv":{"increment":1}},"p":{".value":{".sv":{"increment":1}},".priority":{".sv":{"increment":7}}}}}}}
a< {"t":"d","d":{"r":3,"b":{"s":"ok","d":""}}}
a> {"t":"d","d":{"r":4,"a":"g","b":{"p":"/","q":{}}}}
a< {"t":"d","d":{"r":4,"b":{"s":"ok","d":{"d":1.5,"i":9223372036854776000,"none":-5,"p":{".value":6,".priority":7},"t":3}}}}
a ends
"#,
    ),
];

#[test]
fn writes_are_answered_after_their_news() {
    play(CONVERSATIONS);
}
