//! Every request of the reference, read and written (wire reference 3.1, 4).

use crate::{message, request};
use hearth_tree::{Part, Query};
use hearth_wire::{ActingAs, Action, Held, ListenKind, OnDisconnect, Put, RequestBody, RequestNumber, Tag};

/// Requests as JavaScript writes them.
#[test]
fn a_request_is_written_as_it_was_read() {
    for (number, action, body) in [
        (1, "s", r#"{"c":{"sdk.js.13-2-0":1}}"#),
        (0, "s", r#"{"c":{}}"#),
        (u64::MAX, "unauth", "{}"),
        (2, "auth", r#"{"cred":"<JWT>"}"#),
        (2, "gauth", r#"{"cred":"owner"}"#),
        (2, "gauth", r#"{"cred":"owner","noauth":true}"#),
        (2, "auth", r#"{"cred":"x","authvar":{"token":{"a.b":[1,null]},"uid":"svc"}}"#),
        (3, "appcheck", r#"{"token":"AC"}"#),
        (3, "unappcheck", "{}"),
        (3, "q", r#"{"p":"/rooms/general/messages","q":{"l":2,"vf":"r"},"t":1,"h":""}"#),
        (3, "q", r#"{"p":"/","h":"5+UdkPeEXPwRUElrhoK+d/GvXzg="}"#),
        (3, "q", r#"{"p":"/a"}"#),
        (
            3,
            "q",
            r#"{"p":"/a","h":"Y7tOxA3Paj8SlGkUEHokmImJul4=","ch":{"hs":["BJEEsXix5+fOIIf4PEvdO+yD0mo=",""],"ps":["k07/t"]}}"#,
        ),
        (4, "n", r#"{"p":"/a"}"#),
        (4, "n", r#"{"p":"/a","q":{"sp":1,"sin":true},"t":7}"#),
        // A query stays in its client's words.
        (4, "q", r#"{"p":"/a","q":{"i":"x","sp":3.0,"new":[1]},"t":7}"#),
        (9, "g", r#"{"p":"/scores","q":{"l":3,"vf":"r","i":"points"}}"#),
        (9, "g", r#"{"p":"/","q":{}}"#),
        (5, "p", r#"{"p":"/presence/ann","d":{"at":{".sv":"timestamp"},"state":"on"}}"#),
        (5, "p", r#"{"p":"/a","d":null}"#),
        (5, "p", r#"{"p":"/a/.priority","d":3}"#),
        (5, "p", r#"{"p":"/.priority","d":{".sv":"timestamp"}}"#),
        (5, "p", r#"{"p":"/a/.priority","d":null}"#),
        (5, "p", r#"{"p":"/likes","d":1,"h":""}"#),
        (5, "p", r#"{"p":"/likes","d":{".sv":{"increment":1.5}},"h":"7ysMph9WPitGP7poMnMHMVPtUlI="}"#),
        (5, "p", r#"{"p":"/a","d":{".value":9007199254740993,".priority":"x"}}"#),
        (
            6,
            "m",
            r#"{"p":"/","d":{"old/thing":null,"rooms/a/title":"Hi","users/ann/last":{".sv":"timestamp"}}}"#,
        ),
        (6, "m", r#"{"p":"/a","d":{".priority":null,"a/.priority":3,"b":{"x":1}}}"#),
        (6, "m", r#"{"p":"/a","d":{}}"#),
        (7, "o", r#"{"p":"/presence/alice","d":"offline"}"#),
        (7, "o", r#"{"p":"/a/.priority","d":"x"}"#),
        (7, "om", r#"{"p":"/a","d":{"b":1,"c/d":{".sv":"timestamp"}}}"#),
        (7, "oc", r#"{"p":"/a","d":null}"#),
    ] {
        let text = message(number, action, body);
        let request = request(&text);
        assert_eq!(request.number, RequestNumber(number), "{text}");
        assert_eq!(request.to_text(), text);
    }
}

/// The same said otherwise, by other SDKs or in another order.
#[test]
fn other_spellings_mean_the_same() {
    for (text, expected) in [
        // Android: slashes escaped, none in front; other orders of fields.
        (
            r#"{"t":"d","d":{"a":"q","r":0,"b":{"p":"a\/b","h":""}}}"#,
            r#"{"t":"d","d":{"r":0,"a":"q","b":{"p":"/a/b","h":""}}}"#,
        ),
        (
            r#"{"d":{"b":{"d":{"x":1},"p":"a"},"a":"p","r":5},"t":"d"}"#,
            r#"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/a","d":{"x":1}}}}"#,
        ),
        (
            r#"{"d":{"a":"p","b":{"h":"","d":3,"p":"a/.priority"},"r":5},"t":"d"}"#,
            r#"{"t":"d","d":{"r":5,"a":"p","b":{"p":"/a/.priority","d":3,"h":""}}}"#,
        ),
        (
            r#"{"d":{"b":{"d":{"b":1,"a":2},"p":"x"},"a":"m","r":5},"t":"d"}"#,
            r#"{"t":"d","d":{"r":5,"a":"m","b":{"p":"/x","d":{"a":2,"b":1}}}}"#,
        ),
        // Unknown fields.
        (
            r#"{"z":[{}],"t":"d","d":{"r":1,"z":{"r":2},"a":"n","b":{"p":"a","z":[1]}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"n","b":{"p":"/a"}}}"#,
        ),
        // White space, and a number of doubles only.
        (
            "\n{ \"t\" : \"d\" , \"d\" : { \"r\" : 7.0 , \"a\" : \"unauth\" , \"b\" : { } } } ",
            r#"{"t":"d","d":{"r":7,"a":"unauth","b":{}}}"#,
        ),
        (
            r#"{"t":"d","d":{"r":0.0,"a":"n","b":{"p":"a","q":{"l":1},"t":9007199254740992.0}}}"#,
            r#"{"t":"d","d":{"r":0,"a":"n","b":{"p":"/a","q":{"l":1},"t":9007199254740992}}}"#,
        ),
        // Slashes in front, behind and doubled; nothing is percent-decoded.
        (
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"//a///b%2f/","d":1}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a/b%2f","d":1}}}"#,
        ),
        // C++ writes the root as nothing.
        (
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"","d":1}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/","d":1}}}"#,
        ),
        (
            r#"{"t":"d","d":{"r":1,"a":"m","b":{"p":"/","d":{"/x/y":1,"z/":2,"w//q":3}}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"m","b":{"p":"/","d":{"w/q":3,"x/y":1,"z":2}}}}"#,
        ),
        // Arrays and empty objects.
        (
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":["x",null,{"y":{}}]}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":{"0":"x"}}}}"#,
        ),
        // Half of a surrogate pair is replaced, and the message is as good as any.
        (
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":"x\ud800y"}}}"#,
            "{\"t\":\"d\",\"d\":{\"r\":1,\"a\":\"p\",\"b\":{\"p\":\"/a\",\"d\":\"x\u{FFFD}y\"}}}",
        ),
        // The JavaScript SDK's spelling, a hash that is null, a query that shows everything.
        (
            r#"{"t":"d","d":{"r":1,"a":"unappeck","b":{}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"unappcheck","b":{}}}"#,
        ),
        (
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1,"h":null}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"p","b":{"p":"/a","d":1}}}"#,
        ),
        (
            r#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a","q":{"i":"x"},"t":null,"h":null,"ch":null}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"q","b":{"p":"/a"}}}"#,
        ),
        (r#"{"t":"d","d":{"r":1,"a":"unauth"}}"#, r#"{"t":"d","d":{"r":1,"a":"unauth","b":{}}}"#),
        (r#"{"t":"d","d":{"r":1,"a":"unauth","b":null}}"#, r#"{"t":"d","d":{"r":1,"a":"unauth","b":{}}}"#),
        (
            r#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a"}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"g","b":{"p":"/a","q":{}}}}"#,
        ),
        (
            r#"{"t":"d","d":{"r":1,"a":"gauth","b":{"cred":"owner","noauth":false}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"gauth","b":{"cred":"owner"}}}"#,
        ),
        (
            r#"{"t":"d","d":{"r":1,"a":"oc","b":{"p":"/a"}}}"#,
            r#"{"t":"d","d":{"r":1,"a":"oc","b":{"p":"/a","d":null}}}"#,
        ),
    ] {
        assert_eq!(request(text).to_text(), expected, "{text}");
    }
}

#[test]
fn every_action_has_a_name_of_its_own() {
    for action in Action::ALL {
        assert_eq!(Action::parse(action.as_str()), Some(action));
    }
    for name in ["", "k", "l", "u", "Q", "unauthh"] {
        assert_eq!(Action::parse(name), None, "{name}");
    }
}

#[test]
fn whom_an_admin_acts_as_is_never_more_than_was_said() {
    for (fields, expected) in [
        ("", ActingAs::Itself),
        (r#","noauth":false"#, ActingAs::Itself),
        (r#","noauth":true"#, ActingAs::Nobody),
        // Null is nobody: taken for absent it would be the admin.
        (r#","authvar":null"#, ActingAs::Nobody),
        (r#","noauth":true,"authvar":null"#, ActingAs::Nobody),
        (r#","authvar":{}"#, ActingAs::Other(serde_json::Map::new())),
    ] {
        let text = message(1, "gauth", &format!(r#"{{"cred":"owner"{fields}}}"#));
        let RequestBody::Auth(auth) = request(&text).body else { panic!("{text}") };
        assert_eq!(auth.acting, expected, "{text}");
    }
}

#[test]
fn secrets_are_not_shown() {
    for (action, body) in [("auth", r#"{"cred":"s3cret"}"#), ("appcheck", r#"{"token":"s3cret"}"#)] {
        let shown = format!("{:?}", request(&message(1, action, body)));
        assert!(!shown.contains("s3cret"), "{shown}");
    }
}

#[test]
fn what_a_listen_says_is_told_apart() {
    let listen = |body: &str| {
        let RequestBody::Listen(listen) = request(&message(1, "q", body)).body else { panic!("{body}") };
        listen
    };
    assert_eq!(listen(r#"{"p":"a"}"#).held, None, "C++ says nothing, and waits for data");
    assert_eq!(listen(r#"{"p":"a","h":""}"#).held, Some(Held::Nothing));
    assert_eq!(
        listen(r#"{"p":"a","q":{"i":"x"}}"#).kind,
        ListenKind::Default,
        "everything, in whatever order"
    );
    let tagged = listen(r#"{"p":"a","q":{"l":1},"t":0}"#).kind;
    assert_eq!(tagged.tag(), Some(Tag(0)));
    assert!(!tagged.query().is_everything());
    let tagged = listen(r#"{"p":"a","q":{},"t":4}"#).kind;
    assert_eq!((tagged.tag(), tagged.query()), (Some(Tag(4)), &Query::EVERYTHING));
}

#[test]
fn a_priority_and_a_value_are_told_apart() {
    for (action, path, expected) in [
        ("p", "a/.priority", Part::Priority),
        ("p", "a/.priority/", Part::Priority),
        ("p", ".priority", Part::Priority),
        ("p", "a/priority", Part::Value),
        ("o", "/a/.priority", Part::Priority),
    ] {
        for body in [format!(r#"{{"p":"{path}","d":1}}"#), format!(r#"{{"d":1,"p":"{path}"}}"#)] {
            let (RequestBody::Put(Put { set, .. }) | RequestBody::OnDisconnect(OnDisconnect::Set(set))) =
                request(&message(1, action, &body)).body
            else {
                panic!("{action} {body}")
            };
            let part = set.part();
            assert_eq!(part, expected, "{action} {body}");
        }
    }
}
