//! Whole folders of data, with their log, from one server to the next.

use super::super::kind::StoreKind;
use super::super::writer::{Capture, Written};
use super::folder::Temporary;
use super::{Act, RULES, leaves, number, path, text};
use crate::checkpoint_log::CheckpointLog;
use crate::log::{Checkpointing, Data, DataError, Found, Kept, KeptLog, trim};
use hearth_engine::{
    Act as Asked, Committer, DatabaseId, Decided, Door, Entry, Identity, Log, LogStep, OwnRules, Request,
    Revision, SessionId, Verdict,
};
use hearth_rules::Ruleset;
use hearth_tree::{Assignment, Draft, Snapshot, Write};
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A server without its threads.
pub(super) struct Life {
    _lock: Option<File>,
    pub(super) log: LogStep<Box<dyn KeptLog + Send>>,
    databases: BTreeMap<DatabaseId, Kept>,
    pub(super) checkpointing: Option<Checkpointing>,
    found: Found,
}

impl Life {
    pub(super) fn begin(folder: &Path, store: Option<StoreKind>) -> Result<Self, DataError> {
        let Data { lock, log, databases, checkpointing, found, .. } =
            Data::open(folder, Door::Open, 0, store, CheckpointLog::DEFAULT)?;
        Ok(Self { _lock: lock, log: LogStep::new(log), databases, checkpointing, found })
    }

    pub(super) fn act(&mut self, database: u64, act: &Act) {
        let write = match act {
            Act::Set(at, node) => Assignment::value(at.clone(), Some(Draft::from(node.clone()))),
            Act::Delete(at) => Assignment::value(at.clone(), None),
            Act::Store(text) => {
                let rules = text.map(|text| Arc::new(Ruleset::compile(text).unwrap()));
                return self.ask(database, Asked::Store { rules, if_version: None });
            }
            Act::Prioritize(..) => unreachable!("no act of these tests"),
        };
        self.ask(database, Asked::Write(Write::Set(write.unwrap())));
    }

    pub(super) fn ask(&mut self, database: u64, act: Asked) {
        let (database, name) = (DatabaseId(database), format!("database-{database}"));
        let made = (!self.databases.contains_key(&database)).then(|| name.clone());
        let kept = self.databases.entry(database).or_insert_with(|| {
            let committer = Committer::new(Door::Open, Revision::default(), Snapshot::default());
            Kept { name, committer }
        });
        let request = Request { session: SessionId(1), ticket: None, identity: Identity::Admin, act };
        let verdicts = kept.committer.decide(0, request);
        assert!(verdicts.iter().all(Verdict::is_kept));
        self.log.keep(vec![Decided { database, made, verdicts }]);
        assert_eq!(self.log.stopped(), None);
    }

    pub(super) fn checkpoint(&mut self) {
        if let Some(position) = self.write_checkpoint().trim {
            trim(&self.checkpointing.as_ref().unwrap().log, position.sequence, 0).unwrap();
        }
    }

    /// Without trimming the log.
    pub(super) fn write_checkpoint(&mut self) -> Written {
        let databases = self.databases.iter().map(|(&id, kept)| (id, kept.captured())).collect();
        let checkpointing = self.checkpointing.as_mut().unwrap();
        let capture = Capture { starts: checkpointing.starts, databases };
        let (position, _) = self.log.log().end_position().unwrap();
        checkpointing.writer.write(position, capture).unwrap()
    }

    pub(super) fn holds(&self) -> Holds {
        let hold = |(id, kept): (&DatabaseId, &Kept)| {
            let Kept { name, committer } = kept;
            let own = committer.governing().own().clone();
            let door = match committer.governing().door() {
                Door::Open => "open".to_owned(),
                Door::Closed => "closed".into(),
                Door::Rules(rules) => rules.source().into(),
            };
            (id.0, name.clone(), committer.revision().get(), own, door, leaves(committer.tree()))
        };
        self.databases.iter().map(hold).collect()
    }
}

pub(super) type Holds = Vec<(
    u64,
    String,
    u64,
    OwnRules,
    String,
    BTreeMap<Vec<String>, (Option<hearth_tree::Scalar>, Option<hearth_tree::Priority>)>,
)>;

/// So long that a few of them fill a segment, and another one each time.
pub(super) fn long() -> Act {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    Act::Set(path("/long"), text(&format!("{number:08}").repeat(50 << 10)))
}

pub(super) fn small(at: u64) -> Act {
    static MADE: AtomicU64 = AtomicU64::new(0);
    let number_of = i64::try_from(MADE.fetch_add(1, Ordering::Relaxed)).unwrap();
    Act::Set(path(&format!("/small/{at}")), number(number_of))
}

pub(super) fn has_first_segment(folder: &Path) -> bool {
    folder.join("log/00000000000000000001.log").exists()
}

#[test]
fn each_server_goes_on_from_the_checkpoint_and_the_log_behind_it() {
    for store in StoreKind::ALL {
        let folder = Temporary::new();
        let mut expected = Holds::new();
        for life in 0..6 {
            let mut own = Life::begin(folder.path(), Some(store)).unwrap();
            assert_eq!(own.holds(), expected, "{store}, life {life}");
            let has = matches!(own.found, Found::Kept { has_checkpoint: true, .. });
            assert_eq!(has, 1 < life, "{store}, life {life}");
            // A database may begin with rules, and there may be nothing else in it.
            own.act(2 + life % 2, &Act::Store(Some(RULES)));
            for at in 0..4 {
                own.act(life % 2, &long());
                own.act(life % 2, &small(life * 10 + at));
            }
            // The first life has none, the last ones several.
            for at in 0..life {
                own.checkpoint();
                own.act(1, &small(at));
                own.act(0, &long());
                own.act(0, &Act::Store((at % 3 != 1).then_some(RULES)));
                if at % 3 == 1 {
                    own.checkpoint();
                }
            }
            expected = own.holds();
            // Cut off or ended in order.
            if life % 2 == 0 {
                own.log.end().unwrap();
            }
        }
        assert!(!has_first_segment(folder.path()), "{store}");
    }
}

#[test]
fn armed_writes_are_made_by_the_next_server() {
    let folder = Temporary::new();
    let mut own = Life::begin(folder.path(), None).unwrap();
    let offline = Assignment::value(path("/ada"), Some(Draft::from(text("offline")))).unwrap();
    own.ask(0, Asked::Arm(Write::Set(offline)));
    own.checkpoint();
    drop(own);
    let own = Life::begin(folder.path(), None).unwrap();
    assert_eq!(own.databases[&DatabaseId(0)].committer.tree().get(&path("/ada")), Some(&text("offline")));
    assert!(matches!(own.found, Found::Kept { has_checkpoint: true, sessions: 1, .. }));
}

#[test]
fn checkpoints_move_to_the_store_that_is_asked_for() {
    let folder = Temporary::new();
    let mut own = Life::begin(folder.path(), None).unwrap();
    for _ in 0..4 {
        own.act(0, &long());
        own.checkpoint();
    }
    own.act(1, &small(1));
    own.act(2, &Act::Store(Some(RULES)));
    let expected = own.holds();
    drop(own);
    assert!(!has_first_segment(folder.path()));
    let is_there = |name: &str| folder.path().join("checkpoints").join(name).exists();
    for (asked, fjall, sled) in [
        (Some(StoreKind::Sled), false, true),
        (None, false, true),
        (Some(StoreKind::Sled), false, true),
        (Some(StoreKind::Fjall), true, false),
        (None, true, false),
    ] {
        let own = Life::begin(folder.path(), asked).unwrap();
        assert_eq!(own.holds(), expected, "{asked:?}");
        assert_eq!((is_there("fjall"), is_there("sled")), (fjall, sled), "{asked:?}");
    }
}

/// Rules that an earlier program has taken, and this one does not: whatever is the default, only admins may do anything.
#[test]
fn rules_that_are_not_understood_close_their_database_and_no_other() {
    for (has_checkpoint, name) in [(false, "in the log"), (true, "in a checkpoint")] {
        let folder = Temporary::new();
        let mut own = Life::begin(folder.path(), None).unwrap();
        own.act(0, &small(0));
        own.act(1, &small(1));
        own.act(1, &Act::Store(Some(RULES)));
        let lost =
            OwnRules { version: 2, at_ms: 5, text: Some("{\"rules\": {\".read\": \"later()\"}}".into()) };
        let mut log = own.log.into_log();
        log.append(&[Entry::Rules(DatabaseId(1), &lost)]).unwrap();
        own.log = LogStep::new(log);
        own.databases.get_mut(&DatabaseId(1)).unwrap().committer.replay_rules(lost.clone());
        if has_checkpoint {
            own.checkpoint();
        }
        drop(own);
        let mut own = Life::begin(folder.path(), None).unwrap();
        let governing = |own: &Life, id| own.databases[&DatabaseId(id)].committer.governing().clone();
        assert!(matches!(governing(&own, 0).door(), Door::Open), "{name}");
        let found = governing(&own, 1);
        assert!(found.is_lost() && matches!(found.door(), Door::Closed), "{name}");
        assert_eq!(*found.own(), lost, "{name}");
        // Others mend that, and go on counting.
        own.act(1, &Act::Store(Some(RULES)));
        let mended = governing(&own, 1);
        assert!(!mended.is_lost() && matches!(mended.door(), Door::Rules(_)), "{name}");
        assert_eq!(mended.own().version, 3, "{name}");
    }
}
