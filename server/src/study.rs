//! What a server for development notes of the rules that it asks: how often each part of them came to what.
//!
//! Why under a lock, while a verdict is made: who writes rules has few requests and wants every one of them counted. In
//! production there is no study, and so no lock.

use dashmap::DashMap;
use hearth_engine::DatabaseId;
use hearth_rules::{Claim, Coverage, Ruleset};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Most memory that the notes on all databases take, in bytes, if each is as large as it can be. One with fifty rules of
/// ten parts can have 1.3 MB of it.
const NOTES_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Most rulesets of one database that are noted side by side: while others begin to hold, some are judged by those before.
const RULESETS_MAX: usize = 2;

/// Who is told why something is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tells {
    /// Nobody: others than the developer may come.
    Nobody,
    /// Whoever asks, by `debug: true` among the claims of the token (rest reference 6.4).
    WhoAsks,
    /// Everybody.
    Everybody,
}

/// The studies of all databases.
#[derive(Debug)]
pub(crate) struct Studies {
    tells: Tells,
    by_database: DashMap<DatabaseId, Arc<Study>>,
    bytes: Arc<AtomicUsize>,
}

/// The study of one database.
#[derive(Debug)]
pub(crate) struct Study {
    tells: Tells,
    /// The newest last.
    notes: Mutex<Vec<Notes>>,
    bytes: Arc<AtomicUsize>,
}

/// On one ruleset.
#[derive(Debug)]
struct Notes {
    rules: Arc<Ruleset>,
    /// None, if there was no room.
    coverage: Option<(Coverage, Room)>,
}

/// A share of the memory that all notes may take.
#[derive(Debug)]
struct Room {
    taken: usize,
    bytes: Arc<AtomicUsize>,
}

impl Studies {
    pub(crate) fn new(tells: Tells) -> Self {
        Self { tells, by_database: DashMap::new(), bytes: Arc::default() }
    }

    /// That of a database, the same one for all who ask.
    pub(crate) fn of(&self, database: DatabaseId) -> Arc<Study> {
        let (tells, bytes) = (self.tells, self.bytes.clone());
        let new = || Arc::new(Study { tells, notes: Mutex::default(), bytes });
        self.by_database.entry(database).or_insert_with(new).clone()
    }
}

impl Study {
    /// What was seen of these rules; none, if there was no room to note it.
    pub(crate) fn coverage(&self, rules: &Arc<Ruleset>) -> Option<Coverage> {
        self.with_notes(rules, |coverage| coverage.cloned())
    }

    /// Begins anew.
    pub(crate) fn forget(&self) {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn with_notes<T>(&self, rules: &Arc<Ruleset>, act: impl FnOnce(Option<&mut Coverage>) -> T) -> T {
        let mut notes = self.notes.lock().unwrap_or_else(PoisonError::into_inner);
        let at = match notes.iter().position(|notes| notes.is_on(rules)) {
            Some(at) => at,
            None => {
                if notes.len() == RULESETS_MAX {
                    notes.remove(0);
                }
                notes.push(Notes::begin(rules, &self.bytes));
                notes.len() - 1
            }
        };
        act(notes[at].coverage.as_mut().map(|(coverage, _)| coverage))
    }
}

/// Whoever looks on in development hands this on.
impl Study {
    pub(crate) fn look_on(&self, rules: &Arc<Ruleset>, judge: &mut dyn FnMut(Option<&mut Coverage>)) {
        self.with_notes(rules, judge);
    }

    pub(crate) fn tells_reasons(&self, auth: &Claim) -> bool {
        match self.tells {
            Tells::Nobody => false,
            Tells::WhoAsks => asks_for_reasons(auth),
            Tells::Everybody => true,
        }
    }
}

impl Notes {
    fn begin(rules: &Arc<Ruleset>, bytes: &Arc<AtomicUsize>) -> Self {
        let room = Room::take(Coverage::bytes_max(rules), bytes);
        Self { rules: rules.clone(), coverage: room.map(|room| (Coverage::new(rules), room)) }
    }

    /// Rules that are stored once more as they are go on: every file of a suite stores them when it begins.
    fn is_on(&self, rules: &Arc<Ruleset>) -> bool {
        Arc::ptr_eq(&self.rules, rules) || self.rules.source() == rules.source()
    }
}

impl Room {
    fn take(wanted: usize, bytes: &Arc<AtomicUsize>) -> Option<Self> {
        let taken = |taken: usize| taken.checked_add(wanted).filter(|&taken| taken <= NOTES_BYTES_MAX);
        bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken).ok()?;
        Some(Self { taken: wanted, bytes: bytes.clone() })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.bytes.fetch_sub(self.taken, Ordering::Relaxed);
    }
}

fn asks_for_reasons(auth: &Claim) -> bool {
    let Claim::Object(auth) = auth else { return false };
    let Some(Claim::Object(claims)) = auth.get("token") else { return false };
    claims.get("debug") == Some(&Claim::Bool(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meters::Meters;
    use crate::rule_watch::RuleWatch;
    use hearth_engine::{Door, Identity};
    use hearth_tree::{Path, Query, Snapshot};

    fn rules(text: &str) -> Arc<Ruleset> {
        Arc::new(Ruleset::compile(text).unwrap())
    }

    /// Reads once, and says how often the only rule was asked in all.
    fn read(watch: &RuleWatch, rules: &Arc<Ruleset>) -> Option<u64> {
        let door = Door::Rules(rules.clone());
        let (nobody, tree) = (Identity::nobody(), Snapshot::default());
        let judged = door.seen_by(Some(watch)).read(&nobody, 0, &tree, &Path::root(), &Query::EVERYTHING);
        let study = watch.study().unwrap();
        assert!(judged.is_ok());
        let (id, _) = rules.rules().next().unwrap();
        study.coverage(rules).map(|coverage| coverage.rule(id).total())
    }

    #[test]
    fn other_rules_begin_anew_and_the_same_go_on() {
        let studies = Studies::new(Tells::Nobody);
        let watch = |id| RuleWatch::new(Some(&studies), &Meters::default(), DatabaseId(id));
        let (watched, other) = (watch(1), watch(2));
        let open = || rules(r#"{"rules": {".read": true}}"#);
        let also_open = || rules(r#"{"rules": {".read": "now > -1"}}"#);
        for (watch, rules, expected) in [
            (&watched, open(), 1),
            (&watched, open(), 2),
            (&other, open(), 1),
            // Those before, still judged by somebody while others begin to hold.
            (&watched, also_open(), 1),
            (&watched, open(), 3),
            (&watched, also_open(), 2),
            // A third one ends the first.
            (&watched, rules(r#"{"rules": {".read": "1 == 1"}}"#), 1),
            (&watched, open(), 1),
        ] {
            assert_eq!(read(watch, &rules), Some(expected), "{}", rules.source());
        }
        assert!(studies.of(DatabaseId(1)).coverage(&open()).is_some());
        watched.study().unwrap().forget();
        assert_eq!(read(&watched, &open()), Some(1));
    }

    #[test]
    fn what_finds_no_room_is_judged_and_not_counted() {
        let studies = Studies::new(Tells::Nobody);
        // Long, so that few of them take all.
        let open = rules(&format!(r#"{{"rules": {{".read": "{}"}}}}"#, vec!["now > -1"; 500].join(" && ")));
        let room = NOTES_BYTES_MAX / Coverage::bytes_max(&open);
        let watch = |id| RuleWatch::new(Some(&studies), &Meters::default(), DatabaseId(id as u64));
        for database in 0..room {
            assert_eq!(read(&watch(database), &open), Some(1));
        }
        let late = watch(room);
        assert_eq!(read(&late, &open), None);
        late.study().unwrap().forget();
        studies.of(DatabaseId(0)).forget();
        assert_eq!(read(&late, &open), Some(1));
        assert!(studies.bytes.load(Ordering::Relaxed) <= NOTES_BYTES_MAX);
    }

    #[test]
    fn reasons_are_for_those_who_ask() {
        for (auth, who_asks) in [
            ("null", false),
            (r#"{"uid": "amy"}"#, false),
            (r#"{"uid": "amy", "debug": true}"#, false),
            (r#"{"uid": "amy", "token": {"debug": true}}"#, true),
            (r#"{"uid": "amy", "token": {"debug": "true"}}"#, false),
            (r#"{"uid": "amy", "token": {"debug": false}}"#, false),
            (r#"{"uid": "amy", "token": "debug"}"#, false),
        ] {
            let claim: Claim = serde_json::from_str(auth).unwrap();
            for (tells, expected) in
                [(Tells::Nobody, false), (Tells::WhoAsks, who_asks), (Tells::Everybody, true)]
            {
                let study = Studies::new(tells).of(DatabaseId(1));
                assert_eq!(study.tells_reasons(&claim), expected, "{auth} {tells:?}");
            }
        }
    }
}
