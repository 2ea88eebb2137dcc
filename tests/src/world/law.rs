//! Rules at random, and the question whether somebody may read something, asked of them anew each time.

use crate::dice::Dice;
use crate::naive::Query;
use crate::twin;
use hearth_engine::{Body, Content, Door, Identity};
use hearth_rules::{Budget, Claim, QueryValues, Ruleset, Situation};
use hearth_tree::{Path, Snapshot, Write};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names of people are keys of the data, so that rules can look them up.
const PEOPLE: &[&str] = &["a", "b", "c"];

/// What is allowed.
#[derive(Clone, Debug)]
pub(super) enum Law {
    /// Everything.
    None,
    /// What rules allow; they change.
    Rules(Arc<Ruleset>),
}

/// What was said about what is allowed.
#[derive(Clone, Debug)]
pub(super) struct Laws {
    /// Where nothing is stored.
    pub(super) default: Law,
    /// What is stored.
    pub(super) own: Option<Law>,
}

/// Another law.
#[derive(Clone, Debug)]
pub(super) enum Amendment {
    Default(Law),
    Own(Option<Law>),
}

impl Laws {
    /// What is allowed.
    pub(super) fn now(&self) -> &Law {
        self.own.as_ref().unwrap_or(&self.default)
    }

    /// Says something else.
    pub(super) fn amend(&mut self, amendment: Amendment) {
        match amendment {
            Amendment::Default(law) => self.default = law,
            Amendment::Own(law) => self.own = law,
        }
    }
}

impl Law {
    /// The law that these rules are.
    pub(super) fn of_text(text: &str) -> Self {
        Self::Rules(Arc::new(Ruleset::compile(text).expect("they were used before")))
    }

    /// The rules that it is.
    pub(super) fn rules(&self) -> Option<Arc<Ruleset>> {
        match self {
            Self::None => None,
            Self::Rules(rules) => Some(rules.clone()),
        }
    }

    /// Some rules.
    pub(super) fn random(dice: &mut Dice) -> Self {
        Self::Rules(Arc::new(ruleset(dice)))
    }

    /// What the engine is given of it.
    pub(super) fn door(&self) -> Door {
        match self {
            Self::None => Door::Open,
            Self::Rules(rules) => Door::Rules(rules.clone()),
        }
    }

    /// Whether anything is forbidden.
    pub(super) const fn has_rules(&self) -> bool {
        matches!(self, Self::Rules(_))
    }

    /// Other rules, if there are any.
    pub(super) fn other(&self, dice: &mut Dice) -> Self {
        if self.has_rules() { Self::random(dice) } else { Self::None }
    }

    /// Somebody.
    pub(super) fn identity(&self, dice: &mut Dice) -> Identity {
        match dice.below(12) {
            0 => Identity::Admin,
            1 => Identity::nobody(),
            _ => {
                let uid = Claim::Text((*dice.pick(PEOPLE)).into());
                Identity::User(Arc::new(Claim::Object(BTreeMap::from([("uid".into(), uid)]))))
            }
        }
    }

    /// How many verdicts go to the log at once. One, where what is published last has to be the tree of every push.
    pub(super) const fn group(&self, dice: &mut Dice) -> usize {
        match self {
            Self::None => 1 + dice.below(8),
            Self::Rules(_) => 1,
        }
    }

    /// Whether somebody may read a place of a tree.
    pub(super) fn may_read(
        &self,
        who: &Identity,
        now_ms: i64,
        tree: &Snapshot,
        at: &Path,
        query: &hearth_tree::Query,
    ) -> bool {
        match (self, who) {
            (Self::None, _) | (_, Identity::Admin) => true,
            (Self::Rules(rules), Identity::User(auth)) => {
                let situation = Situation { auth, now_ms, before: tree, budget: Budget::DEFAULT };
                rules.read(&situation, at, &QueryValues::from(query)).outcome.is_ok()
            }
        }
    }

    /// Whether somebody may make a write that leads from one tree to another.
    pub(super) fn may_write(
        &self,
        who: &Identity,
        now_ms: i64,
        (before, after): (&Snapshot, &Snapshot),
        write: &Write,
    ) -> bool {
        match (self, who) {
            (Self::None, _) | (_, Identity::Admin) => true,
            (Self::Rules(rules), Identity::User(auth)) => {
                let situation = Situation { auth, now_ms, before, budget: Budget::DEFAULT };
                rules.write(&situation, after, &write.targets()).is_ok()
            }
        }
    }

    /// Every byte of a push may be read by whom it goes to. `query` is that of its tag.
    pub(super) fn check_push(
        &self,
        who: &Identity,
        now_ms: i64,
        tree: &Snapshot,
        body: &Body,
        query: Option<&Query>,
    ) {
        let check = |at: &Path, query: &hearth_tree::Query| {
            let may = self.may_read(who, now_ms, tree, at, query);
            assert!(may, "`{at}` is told to {who:?} by {body:?} at {now_ms} under {}", self.text());
        };
        match (query, &body.content) {
            (Some(query), _) => check(&body.at, &twin::tree_query(query)),
            (None, Content::Put(_) | Content::PutOver(..) | Content::Priority(_)) => {
                check(&body.at, &hearth_tree::Query::EVERYTHING);
            }
            (None, Content::Merge(parts)) => {
                for (below, _) in parts {
                    let at = body.at.join(below).expect("a place of the tree");
                    check(&at, &hearth_tree::Query::EVERYTHING);
                }
            }
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Self::None => "no rules",
            Self::Rules(rules) => rules.source(),
        }
    }
}

fn ruleset(dice: &mut Dice) -> Ruleset {
    let below = |dice: &mut Dice| {
        let key = *dice.pick(&["a", "b", "$x"]);
        format!(r#""{key}": {{".read": "{}"}}"#, condition(dice, 2, key == "$x"))
    };
    let place = |dice: &mut Dice, key: &str| {
        let read = if dice.percent(70) {
            format!(r#"".read": "{}", "#, condition(dice, 2, false))
        } else {
            String::new()
        };
        format!(r#""{key}": {{{read}{}}}"#, below(dice))
    };
    let places: Vec<String> = ["a", "b", "c", "1"].iter().map(|key| place(dice, key)).collect();
    let read = if dice.percent(20) { condition(dice, 2, false) } else { "false".into() };
    let write = *dice.pick(&["true", "true", "auth != null", "!data.exists() || auth.uid != 'a'"]);
    let text = format!(r#"{{"rules": {{".read": "{read}", ".write": "{write}", {}}}}}"#, places.join(", "));
    Ruleset::compile(&text).unwrap_or_else(|rejected| panic!("{text}: {rejected}"))
}

/// Something that rules ask about the data, the time, the query, or who it is.
fn condition(dice: &mut Dice, depth: usize, captures: bool) -> String {
    let key = |dice: &mut Dice| *dice.pick(&["a", "b", "c", "1"]);
    if 0 < depth && dice.percent(45) {
        let (one, other) = (condition(dice, depth - 1, captures), condition(dice, depth - 1, captures));
        return match dice.below(3) {
            0 => format!("({one} && {other})"),
            1 => format!("({one} || {other})"),
            _ => format!("!({one})"),
        };
    }
    match dice.below(14) {
        0..4 => format!("root.child('{}').child(auth.uid).exists()", key(dice)),
        4 => {
            format!("root.child('{}/' + auth.uid + '/{}').val() === {}", key(dice), key(dice), dice.below(3))
        }
        5 => format!("data.child('{}').val() === {}", key(dice), dice.below(3)),
        6 => format!("data.parent().child('{}').exists()", key(dice)),
        7 => format!("root.child('{}').hasChildren(['{}'])", key(dice), key(dice)),
        8 => format!("root.child('{}').getPriority() === {}", key(dice), dice.below(3)),
        9 => format!("now < {}", 1_000_000 + 50 * dice.below(60)),
        10 => "query.limitToFirst <= 2".into(),
        11 if captures => "$x === auth.uid".into(),
        11 => "data.isNumber()".into(),
        12 => "data.hasChildren()".into(),
        _ => "auth.uid === 'b'".into(),
    }
}
