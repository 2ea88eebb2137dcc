//! What clients want, in the words of the model and in those of the tree.

use crate::dice::Dice;
use crate::naive::{Bound, KeyBound, Limit, OrderBy, Query, Refusal, Sort, Tree, Value};
use crate::twin;
use hearth_tree::{Assignment, Part, ReadOptions, Target, Write, read_priority, read_update, read_value};
use serde_json::{Value as Json, json};

/// Few, so that everything collides.
const KEYS: &[&str] = &["a", "b", "c", "1"];

/// A write as a client sends it.
#[derive(Clone, Debug)]
pub(super) enum Wish {
    /// At one place; a priority, if that is its last key.
    Set(String, Json),
    /// At several places below one.
    Update(String, Vec<(String, Json)>),
}

impl Wish {
    /// Any write that is in order.
    pub(super) fn random(dice: &mut Dice) -> Self {
        loop {
            let wish = match dice.below(10) {
                0..6 => Self::Set(path(dice, 3), value(dice, 2)),
                6 => Self::Set(format!("{}/.priority", path(dice, 2)), priority(dice)),
                _ => {
                    let part = |dice: &mut Dice| match dice.below(6) {
                        0 => (format!("{}/.priority", path(dice, 2)), priority(dice)),
                        _ => (format!("{}/{}", dice.pick(KEYS), path(dice, 2)), value(dice, 1)),
                    };
                    let parts = (0..=dice.below(4)).map(|_| part(dice)).collect();
                    Self::Update(path(dice, 1), parts)
                }
            };
            let is_legal = wish.apply(&mut Tree::default(), 0).is_ok();
            if is_legal {
                return wish;
            }
        }
    }

    /// The place that it was sent to.
    pub(super) fn place(&self) -> &str {
        match self {
            Self::Set(at, _) | Self::Update(at, _) => at.trim_end_matches("/.priority"),
        }
    }

    /// The write of the model.
    ///
    /// # Errors
    /// The model's refusal.
    pub(super) fn apply(&self, tree: &mut Tree, now_ms: i64) -> Result<(), Refusal> {
        match self {
            Self::Set(at, value) => tree.set(at, value, now_ms),
            Self::Update(at, parts) => tree.update(at, parts, now_ms),
        }
    }

    /// The write of the tree.
    ///
    /// # Panics
    /// If the tree takes it for illegal, which the model does not.
    pub(super) fn to_write(&self) -> Write {
        let options = ReadOptions::default();
        match self {
            Self::Set(at, value) => {
                let text = value.to_string();
                let Target { path, part } = Target::<hearth_tree::Path>::parse(at).expect("a legal place");
                Write::Set(match part {
                    Part::Value => {
                        let value = read_value(text.as_bytes(), &options).expect("a legal value");
                        Assignment::value(path, value).expect("nothing is deep here")
                    }
                    Part::Priority => {
                        let priority = read_priority(text.as_bytes(), &options).expect("a legal priority");
                        Assignment::priority(path, priority)
                    }
                })
            }
            Self::Update(at, parts) => {
                let parts: serde_json::Map<_, _> = parts.iter().cloned().collect();
                let text = Json::Object(parts).to_string();
                Write::Update(
                    read_update(text.as_bytes(), &twin::path(at), &options).expect("a legal update"),
                )
            }
        }
    }
}

/// Up to that many keys, with slashes between them.
pub(super) fn path(dice: &mut Dice, depth: usize) -> String {
    (0..dice.below(depth + 1)).map(|_| *dice.pick(KEYS)).collect::<Vec<_>>().join("/")
}

fn value(dice: &mut Dice, depth: usize) -> Json {
    match dice.below(if depth == 0 { 8 } else { 12 }) {
        0..3 => json!(dice.below(3)),
        3 => json!(*dice.pick(&["", "x"])),
        4 => json!(dice.percent(50)),
        5 => json!({".value": dice.below(2), ".priority": priority(dice)}),
        6 => match dice.below(3) {
            0 => json!({".sv": "timestamp"}),
            _ => json!({".sv": {"increment": dice.below(3)}}),
        },
        7 => Json::Null,
        _ => {
            let mut members = serde_json::Map::new();
            for _ in 0..=dice.below(3) {
                members.insert((*dice.pick(KEYS)).into(), value(dice, depth - 1));
            }
            if dice.percent(25) {
                members.insert(".priority".into(), priority(dice));
            }
            Json::Object(members)
        }
    }
}

fn priority(dice: &mut Dice) -> Json {
    match dice.below(5) {
        0 => Json::Null,
        1 => json!({".sv": {"increment": 1}}),
        2 => json!("p"),
        _ => json!(dice.below(3)),
    }
}

/// A query of any order that does not show all there is.
pub(super) fn query(dice: &mut Dice) -> Query {
    loop {
        let order = match dice.below(4) {
            0 => OrderBy::Priority,
            1 => OrderBy::Key,
            2 => OrderBy::Value,
            _ => OrderBy::Child(vec![(*dice.pick(KEYS)).into()]),
        };
        let start = dice.percent(40).then(|| bound(dice, &order));
        let end = dice.percent(40).then(|| bound(dice, &order));
        let limit = match dice.below(3) {
            0 => None,
            1 => Some(Limit::First(1 + dice.below(3))),
            _ => Some(Limit::Last(1 + dice.below(3))),
        };
        let query = Query { order, start, end, limit };
        if !query.loads_all_data() {
            return query;
        }
    }
}

fn bound(dice: &mut Dice, order: &OrderBy) -> Bound {
    let text = |dice: &mut Dice| Sort::Value(Value::Text((*dice.pick(KEYS)).into()));
    let inclusive = dice.percent(60);
    if *order == OrderBy::Key {
        return Bound { value: text(dice), key: None, inclusive };
    }
    let value = match dice.below(6) {
        0 => Sort::Null,
        1 if *order != OrderBy::Priority => Sort::Value(Value::Bool(true)),
        2 => Sort::Value(Value::Text("x".into())),
        _ => Sort::Value(Value::Int(i64::from(dice.percent(50)))),
    };
    let key = dice.percent(30).then(|| KeyBound::Key((*dice.pick(KEYS)).into()));
    Bound { value, key, inclusive }
}
