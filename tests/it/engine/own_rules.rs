//! Rules that belong to a database: they win, they count, and they come back as they were kept.

use super::ask::{Ledger, NOW_MS, rules, set, uid};
use hearth_engine::{
    Act, Committer, DatabaseId, Decided, Door, Entry, Governed, Log, LogError, LogStep, OwnRules, Refusal,
    Revision, Verdict,
};
use hearth_rules::Ruleset;
use hearth_tree::Snapshot;
use serde_json::{Value, json};
use std::sync::Arc;

fn ruleset(value: &Value) -> Arc<Ruleset> {
    let text = json!({ "rules": value }).to_string();
    Arc::new(Ruleset::compile(&text).expect("legal rules"))
}

/// Who may write, as a word.
fn word(door: &Door) -> &'static str {
    match door {
        Door::Open => "open",
        Door::Closed => "closed",
        Door::Rules(rules) if rules.source().contains("mine") => "own",
        Door::Rules(_) => "rules",
    }
}

#[test]
fn own_rules_win_until_they_are_taken_back() {
    let store =
        |if_version| Act::Store { rules: Some(ruleset(&json!({"mine": {".write": true}}))), if_version };
    let take_back = |if_version| Act::Store { rules: None, if_version };
    let by_default = || Act::Govern(rules(&json!({})));
    let mut ledger = Ledger::new(Door::Open, &json!({}));
    for (act, expected, holds, version) in [
        // Nothing is there to be taken back.
        (take_back(None), Ok(false), "open", 0),
        (take_back(Some(1)), Err((0, 1)), "open", 0),
        (store(Some(0)), Ok(true), "own", 1),
        (by_default(), Ok(false), "own", 1),
        (store(Some(0)), Err((1, 0)), "own", 1),
        // The same again is another version.
        (store(None), Ok(true), "own", 2),
        (take_back(Some(1)), Err((2, 1)), "own", 2),
        // What has become the default in between.
        (take_back(Some(2)), Ok(true), "rules", 3),
        (Act::Govern(Door::Closed), Ok(false), "closed", 3),
        (store(Some(3)), Ok(true), "own", 4),
    ] {
        let shown = format!("{act:?}");
        let verdict = ledger.ask(NOW_MS, 1, &uid("admin"), act);
        let found = match verdict.outcome {
            Ok(accepted) => {
                assert_eq!(accepted.rules_version, version, "{shown}");
                Ok(Verdict::is_kept(&verdict))
            }
            Err(Refusal::OtherRules { found, expected }) => Err((found, expected)),
            Err(refusal) => panic!("{shown}: {refusal}"),
        };
        assert_eq!(found, expected, "{shown}");
        let governing = ledger.committer.governing();
        assert_eq!((word(governing.door()), governing.own().version), (holds, version), "{shown}");
        // It is the next write that it concerns.
        let outcome = ledger.ask(NOW_MS, 1, &uid("ann"), Act::Write(set("mine", &json!(version)))).outcome;
        assert_eq!(outcome.is_ok(), ["open", "own"].contains(&holds), "{shown}");
    }
    assert_eq!(ledger.committer.governing().own().at_ms, NOW_MS);
}

#[test]
fn kept_rules_decide_when_they_are_understood_and_close_where_they_are_not() {
    let kept = |text: Option<&str>| OwnRules { version: 3, at_ms: 1, text: text.map(Into::into) };
    for (text, before, after) in [
        (None, "open", "open"),
        (Some(r#"{"rules": {"mine": {}}}"#), "closed", "own"),
        (Some(r#"{"rules": {".read": "later()"}}"#), "closed", "closed"),
        (Some(""), "closed", "closed"),
    ] {
        let mut committer = Committer::new(Door::Open, Revision::default(), Snapshot::default());
        committer.replay_rules(kept(text));
        assert_eq!(word(committer.governing().door()), before, "{text:?}");
        let understood = committer.understand_rules();
        assert_eq!(understood.is_err(), text.is_some() && after == "closed", "{text:?}");
        assert_eq!(committer.governing().is_lost(), understood.is_err(), "{text:?}");
        assert_eq!(word(committer.governing().door()), after, "{text:?}");
        assert_eq!(*committer.governing().own(), kept(text));
    }
}

/// A log that gives up.
struct Failing(LogError);

impl Log for Failing {
    fn append(&mut self, entries: &[Entry<'_>]) -> Result<(), LogError> {
        assert!(matches!(entries, [Entry::Made(_, "db"), Entry::Rules(..)]), "{entries:?}");
        Err(self.0.clone())
    }

    fn end(&mut self) -> Result<(), LogError> {
        unreachable!("it has failed")
    }
}

/// What could not be kept does not hold for readers, and what is the default, which never is kept, does.
#[test]
fn rules_that_are_not_kept_are_not_shown() {
    let reason = || "the disk is tired".to_owned();
    for (error, expected) in [
        (LogError::InDoubt { reason: reason() }, Refusal::InDoubt),
        (LogError::NotKept { reason: reason() }, Refusal::LogStopped),
    ] {
        let mut ledger = Ledger::new(Door::Open, &json!({}));
        let acts =
            [Act::Store { rules: Some(ruleset(&json!({}))), if_version: None }, Act::Govern(Door::Closed)];
        let verdicts = acts.into_iter().map(|act| ledger.ask(NOW_MS, 1, &uid("admin"), act)).collect();
        let decided = Decided { database: DatabaseId(0), made: Some("db".into()), verdicts };
        let (_, durable) = LogStep::new(Failing(error)).keep(vec![decided]).remove(0);
        let kept: Vec<_> = durable.into_inner();
        assert_eq!(kept[0].outcome, Err(expected));
        assert!(kept[0].governed.is_none());
        assert!(kept[1].outcome.is_ok());
        assert!(matches!(kept[1].governed, Some(Governed::ByDefault(Door::Closed))));
    }
}
