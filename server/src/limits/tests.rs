use super::*;
use hearth_engine::SessionId;
use hearth_rules::Claim;
use hearth_tree::{Assignment, ReadOptions, Update, read_value};
use std::collections::BTreeMap;
use std::net::IpAddr;

fn limiter(file: &str) -> Limiter {
    let limiter = Limiter::default();
    limiter.replace(parse(file).unwrap());
    limiter
}

fn set(at: &str, value: &str) -> Write {
    let value = read_value(value.as_bytes(), &ReadOptions::default()).unwrap();
    Write::Set(Assignment::value(Path::parse(at).unwrap(), value).unwrap())
}

fn update(places: &[(&str, &str)]) -> Write {
    let assignments = places.iter().flat_map(|(at, value)| set(at, value).assignments().to_vec()).collect();
    Write::Update(Update::new(Path::root(), assignments).unwrap())
}

fn user(uid: &str) -> Identity {
    let members = BTreeMap::from([("uid".to_owned(), Claim::Text(uid.into()))]);
    Identity::User(Arc::new(Claim::Object(members)))
}

fn who<'a>(identity: &'a Identity, address: &str, session: u64) -> Who<'a> {
    let address: IpAddr = address.parse().unwrap();
    Who { database: "demo", identity, address, line: Line::Session(SessionId(session)) }
}

/// How many of so many equal writes pass at once.
fn passing(limiter: &Limiter, who: &Who<'_>, write: &Write) -> usize {
    (0..10).take_while(|_| limiter.write(who, write).is_ok()).count()
}

#[test]
fn writes_count_where_they_are_carried_to() {
    let file = r#"{"limits": {
        "/inbox": {"writes": {"connection": {"perSecond": 0.001, "burst": 4}}},
        "/rooms/$room/messages/$message": {"writes": {"connection": {"perSecond": 0.001, "burst": 4}}},
        "/rooms/lobby": {"writes": {"connection": {"perSecond": 0.001, "burst": 2}}}
    }}"#;
    let whole = r#"{"a": {"messages": {"1": "x", "2": "y", "3": "z"}}, "lobby": {"messages": {"1": "x"}}}"#;
    for (number, (write, expected)) in (0_u64..).zip([
        (set("/inbox", "1"), 4),
        (set("/inbox/a/b", "1"), 4),
        (set("/inbox", "null"), 4),
        (set("/", r#"{"inbox": {"a": 1}, "b": 2}"#), 4),
        (set("/", r#"{"b": 2}"#), 10),
        (set("/other", "1"), 10),
        (set("/inboxes", "1"), 10),
        (update(&[("/inbox/a", "1"), ("/inbox/b", "2"), ("/other", "3")]), 2),
        (update(&[("/inbox/a", "1"), ("/inbox/b", "2"), ("/inbox/c", "3")]), 1),
        (set("/rooms/a/topic", "1"), 10),
        (set("/rooms/a/messages/1", r#"{"text": "x"}"#), 4),
        (set("/rooms/a/messages/1/text", "1"), 4),
        (set("/rooms/a/messages", r#"{"1": "x", "2": "y"}"#), 2),
        // What a name has, its variable does not: as in rules.
        (set("/rooms/lobby/messages/1", "1"), 2),
        (set("/rooms", whole), 1),
        (set("/rooms/a", r#"{"messages": {"1": 1, "2": 2, "3": 3, "4": 4, "5": 5}}"#), 0),
    ]) {
        let limiter = limiter(file);
        let nobody = Identity::nobody();
        assert_eq!(passing(&limiter, &who(&nobody, "192.0.2.1", number), &write), expected, "{write:?}");
    }
}

#[test]
fn each_is_counted_apart_and_an_admin_not_at_all() {
    let file = |per: &str| {
        format!(r#"{{"limits": {{"/": {{"writes": {{"{per}": {{"perSecond": 0.001, "burst": 2}}}}}}}}}}"#)
    };
    let (nobody, ada, bob, admin) = (Identity::nobody(), user("ada"), user("bob"), Identity::Admin);
    let first = who(&ada, "2001:db8::1", 1);
    for (per, other, expected) in [
        ("connection", who(&ada, "2001:db8::1", 1), 0),
        ("connection", who(&ada, "2001:db8::1", 2), 2),
        ("connection", Who { line: Line::Http(1), ..first }, 2),
        ("connection", Who { line: Line::Shared, ..first }, 2),
        ("address", who(&bob, "2001:db8::1", 2), 0),
        ("address", who(&bob, "2001:db8::ffff:1", 2), 0),
        ("address", who(&ada, "2001:db8:0:1::1", 1), 2),
        ("address", Who { database: "other", ..first }, 2),
        ("uid", who(&ada, "192.0.2.1", 2), 0),
        ("uid", who(&bob, "2001:db8::1", 1), 2),
        ("uid", who(&nobody, "2001:db8::1", 1), 2),
        ("uid", who(&admin, "2001:db8::1", 1), 10),
    ] {
        let limiter = limiter(&file(per));
        let write = set("/a", "1");
        assert_eq!(passing(&limiter, &first, &write), 2);
        assert_eq!(passing(&limiter, &other, &write), expected, "{per} {other:?}");
    }
}

#[test]
fn who_has_no_uid_is_counted_by_the_address() {
    let limiter = limiter(r#"{"limits": {"/": {"writes": {"uid": {"perSecond": 0.001, "burst": 2}}}}}"#);
    let nobody = Identity::nobody();
    for (address, expected) in [("192.0.2.1", 2), ("192.0.2.1", 0), ("192.0.2.2", 2)] {
        assert_eq!(passing(&limiter, &who(&nobody, address, 1), &set("/a", "1")), expected, "{address}");
    }
}

#[test]
fn refusals_say_which_limit_and_when_to_come_back() {
    let limiter = limiter(
        r#"{"limits": {
            "/slow": {"writes": {"address": {"perSecond": 0.1, "burst": 1}}},
            "/small": {"valueBytes": 10, "bytes": {"uid": {"perSecond": 5, "burst": 20}}},
            "/read/$x": {"reads": {"connection": {"perSecond": 0.5}}},
            "/rooms/$room/messages/$message": {"valueBytes": 10}
        }}"#,
    );
    let nobody = Identity::nobody();
    let who = who(&nobody, "192.0.2.1", 1);
    assert_eq!(limiter.write(&who, &set("/slow", "1")), Ok(()));
    assert_eq!(limiter.read(&who, &Path::parse("/read/a/b").unwrap()), Ok(()));
    let read = |at: &str| limiter.read(&who, &Path::parse(at).unwrap());
    let forecast = |at: &str| limiter.forecast(&who, &Path::parse(at).unwrap());
    let slow = "the limit for `/slow` is 0.1 writes per second and address, 1 at once; try again in 10 s";
    for (outcome, expected) in [
        (limiter.write(&who, &set("/slow", "1")), slow),
        (forecast("/slow/a"), slow),
        (forecast("/"), ""),
        (
            limiter.write(&who, &set("/small", "\"12345678901\"")),
            "the limit for `/small` is 10 bytes of keys and values, and what is written at `/small` has 11",
        ),
        (limiter.write(&who, &set("/small", "\"1234567890\"")), ""),
        (
            limiter
                .write(&who, &update(&[("/small/a", "1"), ("/small/b", "true"), ("/small/c", "\"12345\"")])),
            "the limit for `/small` is 20 bytes at once from one uid, and this has more: write it in parts",
        ),
        (
            limiter.write(&who, &set("/small", r#"{"k": {"kk": 1}}"#)),
            "the limit for `/small` is 10 bytes of keys and values, and what is written at `/small` has 11",
        ),
        // The place that is too large, and not the one that the write is addressed to.
        (
            limiter.write(
                &who,
                &set("/rooms", r#"{"a": {"messages": {"1": "x"}}, "b": {"messages": {"2": "12345678901"}}}"#),
            ),
            "the limit for `/rooms/$room/messages/$message` is 10 bytes of keys and values, and what is written at `/rooms/b/messages/2` has 11",
        ),
        (
            limiter.write(&who, &update(&[("/rooms/a/messages", r#"{"1": "x", "2": "12345678901"}"#)])),
            "the limit for `/rooms/$room/messages/$message` is 10 bytes of keys and values, and what is written at `/rooms/a/messages/2` has 11",
        ),
        (
            limiter.write(&who, &set("/rooms/a/messages/1/text", "\"12345678901\"")),
            "the limit for `/rooms/$room/messages/$message` is 10 bytes of keys and values, and what is written at `/rooms/a/messages/1/text` has 11",
        ),
        (
            read("/read/b"),
            "the limit for `/read/$x` is 0.5 reads per second and connection, 1 at once; try again in 2 s",
        ),
        (read("/read"), ""),
        (read("/slow"), ""),
    ] {
        let said = outcome.err().map(|over| over.to_string()).unwrap_or_default();
        assert_eq!(said, expected);
    }
    let refused: Vec<_> = limiter
        .refused()
        .into_iter()
        .map(|one| (one.places.to_string(), one.measure, one.per, one.count))
        .collect();
    let expected = [
        ("/slow", "writes", "address", 2),
        ("/small", "value", "", 2),
        ("/small", "bytes", "uid", 1),
        ("/read/$x", "reads", "connection", 1),
        ("/rooms/$room/messages/$message", "value", "", 3),
    ];
    assert_eq!(
        refused,
        expected.map(|(places, measure, per, count)| (places.to_owned(), measure, per, count))
    );
}

#[test]
fn other_limits_begin_with_full_buckets_and_the_same_go_on() {
    let file = |burst: u32| {
        format!(
            r#"{{"limits": {{"/": {{"writes": {{"address": {{"perSecond": 0.001, "burst": {burst}}}}}}}}}}}"#
        )
    };
    let limiter = limiter(&file(2));
    let nobody = Identity::nobody();
    let (who, write) = (who(&nobody, "192.0.2.1", 1), set("/a", "1"));
    for (file, expected) in
        [(file(2), 2), (file(2), 0), (file(3), 3), (r#"{"limits": {}}"#.into(), 10), (file(3), 0)]
    {
        limiter.replace(parse(&file).unwrap());
        assert_eq!(passing(&limiter, &who, &write), expected, "{file}");
    }
}

#[test]
fn mistakes_are_told_with_their_places() {
    let rate = |rate: &str| format!(r#"{{"limits": {{"/a": {{"writes": {{"uid": {rate}}}}}}}}}"#);
    for (file, expected) in [
        (r#"{"limits": {}} // nothing"#.to_owned(), vec![]),
        (
            "{\n  // broken\n  \"limits\": {\"/a\": }\n}".into(),
            vec!["3:20: Parse error: expected a value, found `}`."],
        ),
        ("[]".into(), vec!["1:1: the file is an object with the member `limits`"]),
        ("{}".into(), vec!["1:1: the member `limits` is missing"]),
        (r#"{"rules": {}}"#.into(), vec!["1:2: `rules` means nothing here: only `limits` does"]),
        (r#"{"limits": {"a": {"valueBytes": 1}}}"#.into(), vec!["1:13: places begin with `/`"]),
        (
            r#"{"limits": {"/a/$": {"valueBytes": 1}}}"#.into(),
            vec!["1:13: `$` is no `$variable`: a name of letters, digits and `_` stands behind `$`"],
        ),
        (
            r#"{"limits": {"/$a/b": {"valueBytes": 1}, "/$b/b": {"valueBytes": 2}}}"#.into(),
            vec!["1:41: these places have a limit already: what a `$variable` is called makes no difference"],
        ),
        (
            r#"{"limits": {"/a": {}}}"#.into(),
            vec!["1:19: this limits nothing: a limit has `valueBytes`, `writes`, `bytes` or `reads`"],
        ),
        (
            r#"{"limits": {"/a": {"value": 1}}}"#.into(),
            vec!["1:20: a limit has no `value`: it has `valueBytes`, `writes`, `bytes` and `reads`"],
        ),
        (
            r#"{"limits": {"/a": {"valueBytes": 0}, "/b": {"valueBytes": 1.5}}}"#.into(),
            vec![
                "1:34: this is a whole number from 1 to 4294967295",
                "1:59: this is a whole number from 1 to 4294967295",
            ],
        ),
        (
            r#"{"limits": {"/a": {"writes": {"ip": {"perSecond": 1}}}}}"#.into(),
            vec!["1:31: writes are counted by `connection`, `address` or `uid`, and not by `ip`"],
        ),
        (rate("{}"), vec!["1:38: `perSecond` is missing"]),
        (
            rate("5"),
            vec!["1:38: a rate is an object with `perSecond`, and with `burst` if it is not the same"],
        ),
        (rate(r#"{"perSecond": 0}"#), vec!["1:52: a rate is a number from 0.00001 to 1000000000"]),
        (rate(r#"{"perSecond": "5"}"#), vec!["1:52: a rate is a number from 0.00001 to 1000000000"]),
        (
            rate(r#"{"perSecond": 1, "bursts": 5}"#),
            vec!["1:55: a rate has no `bursts`: it has `perSecond` and `burst`"],
        ),
        (
            rate(r#"{"perSecond": 0.001, "burst": 1000}"#),
            vec!["1:38: an empty bucket would take more than a week until it is full"],
        ),
        (rate(r#"{"perSecond": 0.001, "burst": 600,}"#), vec![]),
    ] {
        let found = parse(&file).err().unwrap_or_default();
        let found: Vec<_> = found
            .iter()
            .map(|found| format!("{}:{}: {}", found.position.line, found.position.column, found.text))
            .collect();
        assert_eq!(found, expected, "{file}");
    }
}

#[test]
fn what_the_documentation_shows_can_be_used() {
    let page = include_str!("../../../docs/modes.md");
    let (_, behind) = page.split_once("## Limits").unwrap();
    let (_, example) = behind.split_once("```json\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    assert_eq!(parse(example).unwrap().all.len(), 3);
}
