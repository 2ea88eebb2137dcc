//! Connections as a whole: what is asked, what is answered, what is pushed (wire reference 3.5, 12).

use crate::{check, findings, run};
use hearth_wire::Validator;

#[test]
fn connections_that_are_right_are_passed() {
    for lines in [
        &[][..],
        // Equal hash, nothing there, and an explicit nothing.
        &[r#">1 q {"p":"a","h":""}"#, "<1 ok {}"],
        &[r#">1 q {"p":"a","h":""}"#, r#"<! d {"p":"a","d":null}"#, r#"<1 ok {"w":["no_index"]}"#],
        // Android starts at 0 and writes no slash in front; C++ sends no hash.
        &[r#">0 q {"p":"a"}"#, r#"<! d {"p":"/a","d":null}"#, "<0 ok {}"],
        // A change before the ok, but after the first data.
        &[
            r#">1 q {"p":"a","q":{"l":1,"vf":"l"},"t":4,"h":""}"#,
            r#"<! d {"p":"a","d":{"x":1},"t":4}"#,
            r#"<! m {"p":"a","d":{"x":null,"w":{"deep":1}},"t":4}"#,
            "<1 ok {}",
        ],
        // The same listen again, while it runs; its end; the tag of the next one.
        &[
            r#">1 q {"p":"a","q":{"l":1},"t":1,"h":""}"#,
            "<1 ok {}",
            r#">2 q {"p":"a","q":{"l":1},"t":1,"h":""}"#,
            r#"<! m {"p":"a","d":{"x":1},"t":1}"#,
            "<2 ok {}",
            r#">3 n {"p":"a","q":{"l":1},"t":1}"#,
            r#"<! m {"p":"a","d":{"x":2},"t":1}"#,
            r#"<3 ok """#,
            r#">4 q {"p":"b","q":{"l":1},"t":1,"h":""}"#,
            "<4 ok {}",
            r#"<! d {"p":"b/x","d":1,"t":1}"#,
            r#">5 n {"p":"never"}"#,
            r#"<5 ok """#,
        ],
        // A transaction that fails first.
        &[
            r#">1 q {"p":"n","h":""}"#,
            r#">2 p {"p":"n","d":1,"h":""}"#,
            r#"<! d {"p":"n","d":5}"#,
            "<1 ok {}",
            r#"<2 datastale "Transaction hash does not match""#,
            r#">3 p {"p":"n","d":6,"h":"jHSvHWVpKgL2hCpFoLJLyl5H8xc="}"#,
            r#"<! d {"p":"n","d":6}"#,
            r#"<3 ok """#,
        ],
        // A write that changes nothing needs no push; one of server values is not predicted.
        &[
            r#">1 q {"p":"n","h":""}"#,
            r#"<! d {"p":"n","d":{"a":1}}"#,
            "<1 ok {}",
            r#">2 p {"p":"n/a","d":1}"#,
            r#"<2 ok """#,
            r#">3 m {"p":"n","d":{"b":null}}"#,
            r#"<3 ok """#,
            r#">4 p {"p":"n/a","d":{".sv":"timestamp"}}"#,
            r#"<4 ok """#,
            r#">5 p {"p":"elsewhere","d":1}"#,
            r#"<5 ok """#,
            r#">6 p {"p":"n/c","d":1}"#,
            r#"<6 permission_denied "Permission denied""#,
        ],
        // What the client holds from an earlier connection is not known, so its write may change nothing.
        &[
            r#">1 q {"p":"n","h":"7ysMph9WPitGP7poMnMHMVPtUlI="}"#,
            "<1 ok {}",
            r#">2 p {"p":"n","d":0}"#,
            r#"<2 ok """#,
        ],
        // Somebody else writes over it before the answer.
        &[
            r#">1 q {"p":"n","h":""}"#,
            "<1 ok {}",
            r#">2 p {"p":"n/a","d":1}"#,
            r#"<! d {"p":"n/a","d":2}"#,
            r#"<2 ok """#,
        ],
        // Range merges, revoked listens, a refused one, a read, pings, what makes no sense.
        &[
            r#">1 q {"p":"a","h":"VzY3K/KprOmpGGrk0qFm5kfIo0I=","ch":{"hs":[""],"ps":[]}}"#,
            r#"<! rm {"p":"a","d":[{"s":"k","e":"l/m","m":{"l":1}},{"m":null}]}"#,
            "<1 ok {}",
            r#"<! c {"p":"a"}"#,
        ],
        &[
            r#">1 q {"p":"a","q":{"sp":3,"sin":true,"l":2,"vf":"r"},"t":1,"h":""}"#,
            "<1 ok {}",
            r#"<! c {"p":"a","q":[{"vf":"r","sin":true,"l":2,"sp":3}]}"#,
        ],
        &[r#">1 q {"p":"a","h":""}"#, r#"<1 permission_denied null"#],
        &[r#">1 g {"p":"a","q":{}}"#, r#"<1 ok {"x":{".value":1,".priority":"p"}}"#],
        &[r#">={"t":"c","d":{"t":"p","d":{}}}"#, r#"<={"t":"c","d":{"t":"o","d":{}}}"#],
        &[r#">1 k {}"#, r#"<1 invalid "there is no action `k`""#],
        &[r#">1 unauth {}"#, r#"<1 ok "unauthenticated""#],
        &[r#"<! ac {"s":"expired_token","d":"Auth token is expired."}"#],
    ] {
        check(lines, &[]);
    }
}

#[test]
fn every_request_is_answered_once_and_in_its_turn() {
    check(&[r#">1 n {"p":"a"}"#], &["request 1 (`n`) was never answered"]);
    check(&[">1 k {}"], &["request 1 was never answered"]);
    check(
        &[r#">1 n {"p":"a"}"#, r#"<1 ok """#, r#"<1 ok """#],
        &["request 1 is not waiting for an answer: it has one already, or was never made"],
    );
    check(
        &[r#"<7 ok """#],
        &["request 7 is not waiting for an answer: it has one already, or was never made"],
    );
    check(
        &[r#">1 n {"p":"a"}"#, r#">2 unauth {}"#, r#"<2 ok """#, r#"<1 ok """#],
        &["request 2 is answered before request 1, which came first"],
    );
    check(&[">1 k {}", r#"<1 ok """#], &["request 1 makes no sense and is answered with ok"]);
    check(
        &[r#">={"t":"c","d":{"t":"p","d":{}}}"#],
        &["1 pings were never answered: idle JavaScript clients leave"],
    );
    check(&[r#"<={"t":"c","d":{"t":"o","d":{}}}"#], &["a pong answers no ping"]);
}

#[test]
fn an_answer_is_of_the_kind_that_was_asked_for() {
    for (request, answer, expected) in [
        (
            r#">1 q {"p":"a","h":""}"#,
            r#"<1 ok """#,
            "the `d` of an ok to `q` must be an object: Android crashes, not a text",
        ),
        (
            r#">1 q {"p":"a","h":""}"#,
            "<1 ok null",
            "the `d` of an ok to `q` must be an object: Android crashes, not null",
        ),
        (
            r#">1 q {"p":"a","h":""}"#,
            r#"<1 ok {"w":["other"]}"#,
            "the `d` of an ok to a listen has more than the warning `no_index`",
        ),
        (r#">1 p {"p":"a","d":1}"#, "<1 ok {}", "the `d` of an ok to `p` must be a text, not an object"),
        (
            r#">1 p {"p":"a","d":1}"#,
            "<1 datastale null",
            "`datastale` answers a write that is no transaction",
        ),
        (r#">1 n {"p":"a"}"#, "<1 datastale null", "`datastale` answers a request that is no transaction"),
        (r#">1 auth {"cred":"x"}"#, "<1 ok null", "the `d` of an ok to `auth` must be an object, not null"),
        (r#">1 g {"p":"a","q":{}}"#, "<1 ok [1]", "an array stands in data, where only objects do"),
    ] {
        check(&[request, answer], &[expected]);
    }
}

#[test]
fn first_data_come_before_the_ok_and_before_changes() {
    let listen = r#">1 q {"p":"a","q":{"l":1},"t":1,"h":""}"#;
    check(
        &[listen, r#"<! m {"p":"a","d":{"x":1},"t":1}"#, "<1 ok {}"],
        &["`/a` is changed before its first data were pushed"],
    );
    check(
        &[r#">1 q {"p":"a","h":""}"#, r#"<! d {"p":"a/b","d":1}"#, "<1 ok {}"],
        &["`/a/b` is changed before its first data were pushed"],
    );
    check(
        &[r#">1 q {"p":"a"}"#, "<1 ok {}"],
        &[
            "the listen at `/a` came without a hash, and no data were pushed before its ok: C++ waits for them",
        ],
    );
    check(
        &[listen, r#"<! d {"p":"a","d":{"x":1},"t":1}"#, "<1 permission_denied null"],
        &["data at `/a` were pushed to a listen that is refused"],
    );
    // Who listens and asks again is told news meanwhile, until both are over.
    let (again, news) = (r#">2 q {"p":"a","h":""}"#, r#"<! d {"p":"a","d":1}"#);
    let (refused, revoked) = ("<2 permission_denied null", r#"<! c {"p":"a"}"#);
    let listening = [r#">1 q {"p":"a","h":""}"#, "<1 ok {}", again];
    check(&[&listening[..], &[news, refused]].concat(), &[]);
    check(&[&listening[..], &[news, revoked, refused]].concat(), &[]);
    check(
        &[&listening[..], &[revoked, news, refused]].concat(),
        &["data at `/a` were pushed to a listen that is refused"],
    );
}

#[test]
fn a_push_goes_to_a_listen_that_is_there() {
    let tagged = r#">1 q {"p":"a","q":{"l":1},"t":1,"h":""}"#;
    let plain = r#">1 q {"p":"a","h":""}"#;
    let push = |text| [tagged, "<1 ok {}", text];
    check(&push(r#"<! d {"p":"a","d":1,"t":2}"#), &["no listen has tag 2"]);
    check(&push(r#"<! d {"p":"b","d":1,"t":1}"#), &["tag 1 belongs to `/a`, not to `/b`"]);
    check(
        &push(r#"<! d {"p":"a/x","d":1}"#),
        &[
            "`/a/x` is pushed without a tag, and only listens with tags are there: their windows are corrupted",
        ],
    );
    check(&push(r#"<! d {"p":"b","d":1}"#), &["`/b` is pushed, and nobody listens there"]);
    // Above the listen is more than was asked for.
    check(&push(r#"<! d {"p":"/","d":{"a":1}}"#), &["`/` is pushed, and nobody listens there"]);
    check(&[plain, "<1 ok {}", r#"<! d {"p":"a","d":1,"t":1}"#], &["no listen has tag 1"]);
    check(
        &push(r#"<! rm {"p":"a","d":[],"t":1}"#),
        &["a range merge goes to a client that sent no `ch`: JavaScript loses the data"],
    );
    // After its end.
    let ended = [plain, "<1 ok {}", r#">2 n {"p":"a"}"#, r#"<2 ok """#, r#"<! d {"p":"a","d":1}"#];
    check(&ended, &["`/a` is pushed, and nobody listens there"]);
    let revoked = [plain, "<1 ok {}", r#"<! c {"p":"a"}"#, r#"<! d {"p":"a","d":1}"#];
    check(&revoked, &["`/a` is pushed, and nobody listens there"]);
    let refused = [plain, "<1 permission_denied null", r#"<! d {"p":"a","d":1}"#];
    check(&refused, &["`/a` is pushed, and nobody listens there"]);
}

#[test]
fn a_window_shows_what_its_query_asks_for() {
    let listen = r#">1 q {"p":"a","q":{"l":2,"vf":"r","i":"x"},"t":1,"h":""}"#;
    let first =
        |data: &str| findings(&[listen, &format!(r#"<! d {{"p":"a","d":{data},"t":1}}"#), "<1 ok {}"]);
    let none: [&str; 0] = [];
    assert_eq!(first(r#"{"k":{"x":1},"l":{"x":2}}"#), none);
    assert_eq!(
        first(r#"{"k":{"x":1},"l":{"x":2},"m":3}"#),
        ["the result of a query shows 1 children that are outside of it"]
    );
    assert_eq!(first("3"), ["the result of a query is a leaf; a query shows children or nothing"]);
    assert_eq!(
        first(r#"{"k":{"x":1},".priority":3}"#),
        ["the result of a query shows the priority of its root"]
    );
    let get =
        |data: &str| findings(&[r#">1 g {"p":"a","q":{"sp":"b","i":".key"}}"#, &format!("<1 ok {data}")]);
    assert_eq!(get(r#"{"b":1,"c":1}"#), none);
    assert_eq!(get(r#"{"a":1,"b":1}"#), ["the result of a query shows 1 children that are outside of it"]);
    let change = |data: &str| {
        let push = format!(r#"<! m {{"p":"a","d":{data},"t":1}}"#);
        findings(&[listen, r#"<! d {"p":"a","d":{"k":{"x":1}},"t":1}"#, "<1 ok {}", &push])
    };
    assert_eq!(change(r#"{"k/y":1,"l":{"x":2},"m":null}"#), none);
    assert_eq!(change(r#"{"l/x":2}"#), ["`/a/l` enters the window in part: the client ignores it"]);
    assert_eq!(change(r#"{"l/.priority":2}"#), ["`/a/l` enters the window in part: the client ignores it"]);
    // What the client dropped by itself is no longer there.
    let full = [listen, r#"<! d {"p":"a","d":{"k":{"x":1},"l":{"x":2}},"t":1}"#, "<1 ok {}"];
    let changes = [r#"<! d {"p":"a/m","d":{"x":3},"t":1}"#, r#"<! d {"p":"a/k/x","d":4,"t":1}"#];
    check(&[&full[..], &changes].concat(), &["`/a/k` enters the window in part: the client ignores it"]);
}

#[test]
fn a_revoked_listen_is_named_as_the_client_named_it() {
    let tagged = [r#">1 q {"p":"a","q":{"sp":3,"sin":true,"l":2,"vf":"r"},"t":1,"h":""}"#, "<1 ok {}"];
    for cancel in [
        r#"<! c {"p":"a"}"#,
        r#"<! c {"p":"a","q":[{"sp":3,"l":2,"vf":"r"}]}"#,
        r#"<! c {"p":"a","q":[{"sp":3,"sin":false,"l":2,"vf":"r"}]}"#,
        r#"<! c {"p":"b","q":[{"sp":3,"sin":true,"l":2,"vf":"r"}]}"#,
    ] {
        let found = findings(&[tagged[0], tagged[1], cancel]);
        assert_eq!(found.len(), 1, "{cancel}: {found:?}");
        assert!(found[0].starts_with("no listen runs at `/"), "{cancel}: {found:?}");
    }
}

#[test]
fn a_write_is_seen_before_it_is_acknowledged() {
    let listening = [r#">1 q {"p":"n","h":""}"#, r#"<! d {"p":"n","d":{"a":1}}"#, "<1 ok {}"];
    for (write, expected) in [
        (r#">2 p {"p":"n/a","d":2}"#, "/n/a"),
        (r#">2 p {"p":"n","d":null}"#, "/n"),
        (r#">2 m {"p":"/","d":{"n/a":1,"n/b":2}}"#, "/n/b"),
        (r#">2 p {"p":"n/a","d":2,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}"#, "/n/a"),
    ] {
        let lines = [&listening[..], &[write, r#"<2 ok """#, r#"<! d {"p":"n","d":{"a":2}}"#]].concat();
        let sentence = format!(
            "request 2 is acknowledged before its data at `{expected}` were pushed: the client shows the old ones again"
        );
        check(&lines, &[&sentence]);
    }
    let stale = [
        r#">2 p {"p":"n/a","d":2,"h":"YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="}"#,
        r#"<2 datastale "Transaction hash does not match""#,
        r#"<! d {"p":"n/a","d":7}"#,
    ];
    check(
        &[&listening[..], &stale].concat(),
        &["`datastale` comes before the data at `/n/a`: the client tries the same again, 25 times"],
    );
}

#[test]
fn a_connection_begins_as_its_transport_asks() {
    let pong = r#"<={"t":"c","d":{"t":"o","d":{}}}"#;
    let handshake = r#"<={"t":"c","d":{"t":"h","d":{"ts":1764500000158,"v":"5","h":"x","s":"y"}}}"#;
    let upgraded = r#"<={"t":"c","d":{"t":"a","d":{}}}"#;
    let ping = r#">={"t":"c","d":{"t":"p","d":{}}}"#;
    for (validator, lines, expected) in [
        (Validator::new(), &[handshake][..], &[][..]),
        (Validator::new(), &[ping, pong], &["the first message must be the handshake"]),
        (Validator::new(), &[handshake, handshake], &["a connection has one handshake, and it comes first"]),
        (Validator::new().upgrading(), &[upgraded, ping, pong], &[]),
        (Validator::new().upgrading(), &[r#"<={"t":"c","d":{"t":"r","d":"host:1"}}"#], &[]),
        (
            Validator::new().upgrading(),
            &[handshake],
            &["the first message must be the acknowledgement `a`, or a reset"],
        ),
    ] {
        assert_eq!(run(validator, lines), expected, "{lines:?}");
    }
}
