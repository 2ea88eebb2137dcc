//! Random rules, data and operations against the algorithms of the rules reference (5.1), written down as they stand
//! there: on JSON values, copying everything, remembering nothing.

use crate::case::Case;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
struct Rules {
    read: Option<Condition>,
    write: Option<Condition>,
    validate: Option<Condition>,
    /// `$k` among them is the capture.
    children: BTreeMap<String, Self>,
}

#[derive(Clone, Copy, Debug)]
enum Condition {
    Always,
    Never,
    OldExists,
    NewIsGone,
    NewIsText,
    NewHasChildren,
    Unchanged,
    SiblingOfNewExists,
}

impl Condition {
    const fn print(self) -> &'static str {
        match self {
            Self::Always => "true",
            Self::Never => "false",
            Self::OldExists => "data.exists()",
            Self::NewIsGone => "!newData.exists()",
            Self::NewIsText => "newData.isString()",
            Self::NewHasChildren => "newData.hasChildren()",
            Self::Unchanged => "newData.val() === data.val()",
            Self::SiblingOfNewExists => "newData.parent().child('a').exists()",
        }
    }

    fn holds(self, before: &Value, after: &Value, path: &[&str]) -> bool {
        let (old, new) = (get(before, path), get(after, path));
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::OldExists => !old.is_null(),
            Self::NewIsGone => new.is_null(),
            Self::NewIsText => new.is_string(),
            Self::NewHasChildren => new.is_object(),
            Self::Unchanged => !new.is_object() && old == new,
            // The root has no parent: an error, so it does not hold.
            Self::SiblingOfNewExists => {
                path.split_last().is_some_and(|(_, above)| !get(after, above)["a"].is_null())
            }
        }
    }
}

fn get<'a>(mut value: &'a Value, path: &[&str]) -> &'a Value {
    for key in path {
        value = &value[*key];
    }
    value
}

impl Rules {
    fn print(&self) -> Value {
        let mut members = Map::new();
        for (name, condition) in [(".read", self.read), (".write", self.write), (".validate", self.validate)]
        {
            members.extend(condition.map(|condition| (name.to_owned(), json!(condition.print()))));
        }
        members.extend(self.children.iter().map(|(name, child)| (name.clone(), child.print())));
        Value::Object(members)
    }

    fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |rules, key| rules.children.get(*key).or_else(|| rules.children.get("$k")))
    }

    fn may_read(&self, data: &Value, path: &[&str]) -> bool {
        (0..=path.len()).any(|depth| {
            let place = &path[..depth];
            let read = self.at(place).and_then(|rules| rules.read);
            read.is_some_and(|read| read.holds(data, data, place))
        })
    }

    fn may_write(&self, before: &Value, writes: &[(Vec<&str>, Value)]) -> bool {
        let mut after = before.clone();
        for (path, value) in writes {
            set(&mut after, path, value);
        }
        let after = pruned(&after);
        writes.iter().all(|(path, _)| {
            let granted = (0..=path.len()).any(|depth| {
                let write = self.at(&path[..depth]).and_then(|rules| rules.write);
                write.is_some_and(|write| write.holds(before, &after, &path[..depth]))
            });
            granted
                && (0..=path.len()).all(|depth| self.is_valid(before, &after, &path[..depth]))
                && self.is_valid_below(before, &after, path)
        })
    }

    fn is_valid(&self, before: &Value, after: &Value, place: &[&str]) -> bool {
        let validate = self.at(place).and_then(|rules| rules.validate);
        get(after, place).is_null() || validate.is_none_or(|validate| validate.holds(before, after, place))
    }

    fn is_valid_below(&self, before: &Value, after: &Value, place: &[&str]) -> bool {
        let children = get(after, place).as_object().into_iter().flatten();
        children.into_iter().all(|(key, _)| {
            let child: Vec<&str> = place.iter().copied().chain([key.as_str()]).collect();
            self.is_valid(before, after, &child) && self.is_valid_below(before, after, &child)
        })
    }
}

fn set(root: &mut Value, path: &[&str], value: &Value) {
    match path.split_first() {
        None => *root = value.clone(),
        // Nothing below a value takes nothing away (wire reference 7.7).
        Some(_) if value.is_null() && !root.is_object() => {}
        Some((key, below)) => {
            if !root.is_object() {
                *root = json!({});
            }
            set(&mut root[*key], below, value);
        }
    }
}

fn pruned(value: &Value) -> Value {
    let Value::Object(members) = value else { return value.clone() };
    let kept: Map<String, Value> = members
        .iter()
        .map(|(key, child)| (key.clone(), pruned(child)))
        .filter(|(_, child)| !child.is_null())
        .collect();
    if kept.is_empty() { Value::Null } else { Value::Object(kept) }
}

fn arb_condition() -> impl Strategy<Value = Option<Condition>> {
    prop::option::weighted(
        0.5,
        prop::sample::select(vec![
            Condition::Always,
            Condition::Always,
            Condition::Never,
            Condition::OldExists,
            Condition::NewIsGone,
            Condition::NewIsText,
            Condition::NewHasChildren,
            Condition::Unchanged,
            Condition::SiblingOfNewExists,
        ]),
    )
}

fn arb_rules() -> impl Strategy<Value = Rules> {
    let node = |children: BTreeMap<String, Rules>| {
        (arb_condition(), arb_condition(), arb_condition()).prop_map(move |(read, write, validate)| {
            // What `.read` cannot ask is never asked.
            let read = read
                .filter(|read| matches!(read, Condition::Always | Condition::Never | Condition::OldExists));
            Rules { read, write, validate, children: children.clone() }
        })
    };
    node(BTreeMap::new()).prop_recursive(3, 20, 3, move |inner| {
        let name = prop::sample::select(vec!["a", "b", "$k"]).prop_map(str::to_owned);
        prop::collection::btree_map(name, inner, 0..3).prop_flat_map(node)
    })
}

/// Captures of two levels have two names.
fn named_apart(rules: &Value, depth: usize) -> Value {
    let Value::Object(members) = rules else { return rules.clone() };
    let name = |name: &String| if name == "$k" { format!("$k{depth}") } else { name.clone() };
    Value::Object(members.iter().map(|(key, below)| (name(key), named_apart(below, depth + 1))).collect())
}

fn arb_value() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![json!(null), json!("x"), json!("y"), json!(1)]);
    leaf.prop_recursive(3, 12, 3, |inner| {
        let key = prop::sample::select(vec!["a", "b", "c"]).prop_map(str::to_owned);
        prop::collection::btree_map(key, inner, 0..3)
            .prop_map(|members| pruned(&Value::Object(members.into_iter().collect())))
    })
}

fn arb_path() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(vec!["a", "b", "c"]), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn verdicts_are_those_of_the_reference(
        rules in arb_rules(),
        data in arb_value(),
        path in arb_path(),
        values in prop::collection::btree_map(prop::sample::select(vec!["a", "b", "c/a", "c/b"]), arb_value(), 1..4),
        value in arb_value(),
    ) {
        let printed = named_apart(&rules.print(), 0);
        let judge = |op: Value| {
            let row = json!({"rules": {"rules": printed}, "auth": null, "now": 1, "data": data, "op": op});
            Case::of(&row).is_allowed()
        };
        let text = format!("/{}", path.join("/"));
        prop_assert_eq!(judge(json!({"kind": "read", "path": text})), rules.may_read(&data, &path), "read {}", printed);

        let set = rules.may_write(&data, &[(path.clone(), value.clone())]);
        prop_assert_eq!(judge(json!({"kind": "set", "path": text, "value": value})), set, "set {} {}", text, printed);

        let writes: Vec<(Vec<&str>, Value)> = values
            .iter()
            .map(|(below, value)| (path.iter().copied().chain(below.split('/')).collect(), value.clone()))
            .collect();
        let update = rules.may_write(&data, &writes);
        prop_assert_eq!(judge(json!({"kind": "update", "path": text, "value": values})), update, "update {} {}", text, printed);
    }
}
