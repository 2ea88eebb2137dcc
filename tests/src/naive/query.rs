//! Queries and their windows (wire reference 5.1, 5.2, 5.5): filter everything, sort everything, cut.

use super::json::export;
use super::{Content, Node, Sort, Value, key_order, sort_order, split};
use serde_json::{Map, Value as Json};
use std::cmp::Ordering;

/// A query object.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// What the children are sorted by.
    pub order: OrderBy,
    /// Where the window may start at the earliest.
    pub start: Option<Bound>,
    /// Where it must end at the latest.
    pub end: Option<Bound>,
    /// How many children it shows at most.
    pub limit: Option<Limit>,
}

/// What children are sorted by before their keys.
#[derive(Clone, Debug, PartialEq)]
pub enum OrderBy {
    /// Their priority.
    Priority,
    /// Only their key.
    Key,
    /// Their value.
    Value,
    /// What is at the end of these keys, from the child on.
    Child(Vec<String>),
}

/// A position among the sorted children.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The value. For the order by key: the key, as a text.
    pub value: Sort,
    /// The key that breaks the tie.
    pub key: Option<KeyBound>,
    /// Whether a child exactly there belongs to the window.
    pub inclusive: bool,
}

/// A key, or a sentinel beyond all keys.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyBound {
    /// Below every key.
    Min,
    /// That key; it need not be one that a child can have.
    Key(String),
    /// Above every key.
    Max,
}

/// From which end the limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// The first children.
    First(usize),
    /// The last ones.
    Last(usize),
}

impl KeyBound {
    fn read(text: &str) -> Self {
        match text {
            "[MIN_NAME]" => Self::Min,
            "[MAX_NAME]" | "[MAX_KEY]" => Self::Max,
            _ => Self::Key(text.into()),
        }
    }

    fn order_of(&self, key: &str) -> Ordering {
        match self {
            Self::Min => Ordering::Greater,
            Self::Key(bound) => key_order(key, bound),
            Self::Max => Ordering::Less,
        }
    }
}

impl Query {
    /// The query that shows everything.
    pub const fn all(order: OrderBy) -> Self {
        Self { order, start: None, end: None, limit: None }
    }

    /// Reads a query object as the SDKs send it (5.1); nothing, if it is none.
    pub fn read(object: &Map<String, Json>) -> Option<Self> {
        let order = match object.get("i") {
            None => OrderBy::Priority,
            Some(Json::String(index)) => match index.as_str() {
                ".key" => OrderBy::Key,
                ".value" => OrderBy::Value,
                ".priority" => OrderBy::Priority,
                path => OrderBy::Child(split(path)),
            },
            Some(_) => return None,
        };
        let bound = |value: &str, key: &str, inclusive: &str| match object.get(value) {
            None => Some(None),
            Some(value) => {
                let value = read_sort(value)?;
                let key = match object.get(key) {
                    None | Some(Json::Null) => None,
                    Some(key) => Some(KeyBound::read(key.as_str()?)),
                };
                let inclusive = object.get(inclusive) != Some(&Json::Bool(false));
                Some(Some(Bound { value, key, inclusive }))
            }
        };
        let (start, end) = (bound("sp", "sn", "sin")?, bound("ep", "en", "ein")?);
        let limit = match object.get("l") {
            None => None,
            Some(limit) => {
                let limit = usize::try_from(limit.as_u64()?).ok().filter(|&limit| 1 <= limit)?;
                let from_left = match object.get("vf").and_then(Json::as_str) {
                    Some("l") => true,
                    Some("r") => false,
                    Some(_) => return None,
                    None => start.is_some(),
                };
                Some(if from_left { Limit::First(limit) } else { Limit::Last(limit) })
            }
        };
        Some(Self { order, start, end, limit })
    }

    /// Whether the query shows all there is (5.3).
    pub const fn loads_all_data(&self) -> bool {
        self.start.is_none() && self.end.is_none() && self.limit.is_none()
    }

    /// What a listener of this query holds when `node` is at its path: the node itself where the query shows all,
    /// else the children in the window without the node's priority.
    pub fn answer(&self, node: Option<&Node>) -> Option<Node> {
        if self.loads_all_data() {
            return node.cloned();
        }
        let mut children = self.window(node);
        children.sort_by(|(a, _), (b, _)| key_order(a, b));
        (!children.is_empty()).then_some(Node { priority: None, content: Content::Children(children) })
    }

    /// The children in the window, in the order of the query.
    pub fn window(&self, node: Option<&Node>) -> Vec<(String, Node)> {
        let mut children: Vec<(String, Node)> = node.map_or(&[][..], Node::children).to_vec();
        children.sort_by(|a, b| self.order(a, b));
        children.retain(|child| {
            let after_start = self.start.as_ref().is_none_or(|start| {
                match self.order_to_bound(child, start, KeyBound::Min) {
                    Ordering::Greater => true,
                    Ordering::Equal => start.inclusive,
                    Ordering::Less => false,
                }
            });
            let before_end =
                self.end.as_ref().is_none_or(|end| match self.order_to_bound(child, end, KeyBound::Max) {
                    Ordering::Less => true,
                    Ordering::Equal => end.inclusive,
                    Ordering::Greater => false,
                });
            after_start && before_end
        });
        match self.limit {
            None => children,
            Some(Limit::First(most)) => children.into_iter().take(most).collect(),
            Some(Limit::Last(most)) => {
                let skipped = children.len().saturating_sub(most);
                children.into_iter().skip(skipped).collect()
            }
        }
    }

    /// The order of two children under this query.
    pub fn order(&self, (a_key, a): &(String, Node), (b_key, b): &(String, Node)) -> Ordering {
        sort_order(&self.sort(a), &self.sort(b)).then(key_order(a_key, b_key))
    }

    fn sort(&self, child: &Node) -> Sort {
        match &self.order {
            OrderBy::Priority => Sort::of_priority(child),
            OrderBy::Key => Sort::Null,
            OrderBy::Value => Sort::of(Some(child)),
            OrderBy::Child(keys) => Sort::of(child.get(keys)),
        }
    }

    fn order_to_bound(&self, (key, child): &(String, Node), bound: &Bound, no_key: KeyBound) -> Ordering {
        if self.order == OrderBy::Key {
            return match &bound.value {
                Sort::Value(Value::Text(text)) => KeyBound::read(text).order_of(key),
                value @ (Sort::Null | Sort::Value(_) | Sort::Object) => {
                    sort_order(&Sort::Value(Value::Text(key.clone())), value)
                }
            };
        }
        let by_key = || bound.key.as_ref().unwrap_or(&no_key).order_of(key);
        sort_order(&self.sort(child), &bound.value).then_with(by_key)
    }
}

/// A bound's value: null, a boolean, a number or a text.
fn read_sort(json: &Json) -> Option<Sort> {
    match json {
        Json::Null => Some(Sort::Null),
        Json::Bool(value) => Some(Sort::Value(Value::Bool(*value))),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => Some(Sort::Value(Value::Int(integer))),
            None => Value::from_f64(number.as_f64()?).map(Sort::Value),
        },
        Json::String(text) => Some(Sort::Value(Value::Text(text.clone()))),
        Json::Array(_) | Json::Object(_) => None,
    }
}

/// What to push to a listener that was last shown `old` and is to be shown `new` (5.5): children that left as `null`,
/// children that entered or changed as their full export value. Empty, if there is nothing to say.
pub fn difference(old: &[(String, Node)], new: &[(String, Node)]) -> Map<String, Json> {
    let find = |window: &[(String, Node)], key: &str| {
        window.iter().find(|(own, _)| own == key).map(|(_, child)| child.clone())
    };
    let left = old.iter().filter(|(key, _)| find(new, key).is_none());
    let changed = new.iter().filter(|(key, child)| find(old, key).as_ref() != Some(child));
    left.map(|(key, _)| (key.clone(), Json::Null))
        .chain(changed.map(|(key, child)| (key.clone(), export(Some(child)))))
        .collect()
}
