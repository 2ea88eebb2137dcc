//! The rules reference (2.4, 3, 4) as it stands there. Nothing means an error, which nothing rescues.

use super::expression::{Expr, Snap};
use super::{number, tree};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

/// Longest text that is made, in bytes: a rule can double one at every level, and there is no budget here.
const TEXT_BYTES_MAX: usize = 300;

/// What an expression sees.
pub(crate) struct World<'a> {
    pub(crate) before: &'a Value,
    pub(crate) after: &'a Value,
    pub(crate) auth: &'a Value,
    pub(crate) now: i64,
    pub(crate) query: &'a Value,
    /// The place that the rule is for; its last key is the capture.
    pub(crate) site: [&'a str; 2],
    /// Whether a text has become too long to go on; what comes out then means nothing.
    pub(crate) is_overgrown: Cell<bool>,
    /// How often which way was gone, in the words of coverage.
    pub(crate) ways_gone: RefCell<BTreeMap<String, u64>>,
}

/// What an expression is worth.
#[derive(Clone, Debug)]
pub(crate) enum Worth {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    /// An inner node, or an object or list of `auth`: not null, equal to nothing.
    Opaque(Value),
}

impl Worth {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.as_f64().expect("a double")),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(_) | Value::Object(_) => Self::Opaque(value.clone()),
        }
    }

    pub(crate) fn is_true(&self) -> bool {
        matches!(self, Self::Bool(true))
    }

    fn bool(self) -> Option<bool> {
        if let Self::Bool(value) = self { Some(value) } else { None }
    }

    fn number(self) -> Option<f64> {
        if let Self::Number(value) = self { Some(value) } else { None }
    }

    fn text(self) -> Option<String> {
        if let Self::Text(value) = self { Some(value) } else { None }
    }

    /// A member of something in `auth`.
    fn member(&self, name: &str) -> Self {
        match self {
            Self::Text(text) if name == "length" => Self::Number(units(text)),
            Self::Opaque(Value::Object(members)) => members.get(name).map_or(Self::Null, Self::of),
            Self::Opaque(Value::Array(elements)) => {
                let at = elements.iter().enumerate().find(|(at, _)| at.to_string() == name);
                at.map_or(Self::Null, |(_, element)| Self::of(element))
            }
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::Text(_) | Self::Opaque(_) => Self::Null,
        }
    }
}

fn units(text: &str) -> f64 {
    text.encode_utf16().map(|_| 1.0).sum()
}

/// In which tree, and the keys from the root down.
type Place = (bool, Vec<String>);

impl World<'_> {
    pub(crate) fn value(&self, expr: &Expr) -> Option<Worth> {
        Some(match expr {
            Expr::Null => Worth::Null,
            Expr::Bool(value) => Worth::Bool(*value),
            Expr::Number(number) => Worth::Number(*number),
            Expr::Text(text) => Worth::Text(text.clone()),
            #[expect(clippy::cast_precision_loss, reason = "times of tests are small")]
            Expr::Now => Worth::Number(self.now as f64),
            Expr::Capture => Worth::Text(self.site[1].into()),
            Expr::Auth => Worth::of(self.auth),
            Expr::Member(target, name) => self.value(target)?.member(name),
            Expr::Index(target, index) => self.index(&self.value(target)?, self.value(index)?)?,
            Expr::Query(name) if name.starts_with("orderBy") && *name != "orderByChild" => {
                Worth::Bool(self.query[*name] == true)
            }
            Expr::Query(name) => Worth::of(&self.query[*name]),
            Expr::Val(snap) => Worth::of(tree::value(self.node(snap)?)),
            Expr::Priority(snap) => Worth::of(tree::priority(self.node(snap)?)),
            Expr::Exists(snap) => Worth::Bool(!self.node(snap)?.is_null()),
            Expr::Is(method, snap) => {
                let value = tree::value(self.node(snap)?);
                Worth::Bool(match *method {
                    "isString" => value.is_string(),
                    "isNumber" => value.is_number(),
                    _ => value.is_boolean(),
                })
            }
            Expr::HasChild(snap, path) => {
                let place = self.place(snap)?;
                Worth::Bool(self.exists_below(&place, &self.value(path)?.text()?))
            }
            Expr::HasChildren(snap, None) => Worth::Bool(tree::has_children(self.node(snap)?)),
            Expr::HasChildren(snap, Some(names)) => {
                let place = self.place(snap)?;
                let names: Option<Vec<Worth>> = names.iter().map(|name| self.value(name)).collect();
                let names: Option<Vec<String>> = names?.into_iter().map(Worth::text).collect();
                Worth::Bool(names?.iter().all(|name| self.exists_below(&place, name)))
            }
            Expr::Not(inner) => Worth::Bool(!self.value(inner)?.bool()?),
            Expr::Negate(inner) => Worth::Number(-self.value(inner)?.number()?),
            Expr::Binary("&&", left, right) => {
                if self.value(left)?.bool()? {
                    self.goes("decided by the right side of &&");
                    self.value(right)?
                } else {
                    // In `a && b && c` it was decided further inside.
                    if !matches!(**left, Expr::Binary("&&", ..)) {
                        self.goes("decided by the left side of &&");
                    }
                    Worth::Bool(false)
                }
            }
            Expr::Binary("||", left, right) => {
                if self.value(left)?.bool()? {
                    // In `a || b || c` it was decided further inside.
                    if !matches!(**left, Expr::Binary("||", ..)) {
                        self.goes("decided by the left side of ||");
                    }
                    Worth::Bool(true)
                } else {
                    self.goes("decided by the right side of ||");
                    self.value(right)?
                }
            }
            Expr::Binary(operator, left, right) => {
                self.bounded(binary(operator, self.value(left)?, self.value(right)?)?)?
            }
            Expr::Conditional(condition, then, otherwise) => {
                self.value(if self.holds(condition)? { then } else { otherwise })?
            }
            Expr::Length(on) if on.is_of_auth() => self.value(on)?.member("length"),
            Expr::Length(on) => Worth::Number(units(&self.value(on)?.text()?)),
            Expr::Method(method, on, arguments) => {
                let on = self.value(on)?;
                let arguments: Option<Vec<Worth>> =
                    arguments.iter().map(|argument| self.value(argument)).collect();
                let arguments: Option<Vec<String>> = arguments?.into_iter().map(Worth::text).collect();
                self.bounded(text_method(method, &on.text()?, &arguments?))?
            }
            Expr::Matches(on, pattern) => Worth::Bool(pattern.occurs_in(&self.value(on)?.text()?)),
        })
    }

    fn goes(&self, way: &str) {
        *self.ways_gone.borrow_mut().entry(way.into()).or_default() += 1;
    }

    /// Whether the condition of a `?:` holds.
    fn holds(&self, condition: &Expr) -> Option<bool> {
        let holds = self.value(condition)?.bool()?;
        self.goes(if holds { "the first branch of ?:" } else { "the second branch of ?:" });
        Some(holds)
    }

    fn bounded(&self, worth: Worth) -> Option<Worth> {
        if let Worth::Text(text) = &worth
            && TEXT_BYTES_MAX < text.len()
        {
            self.is_overgrown.set(true);
            return None;
        }
        Some(worth)
    }

    fn index(&self, target: &Worth, index: Worth) -> Option<Worth> {
        match (target, index) {
            (_, Worth::Text(name)) => Some(target.member(&name)),
            (Worth::Opaque(Value::Array(_)), Worth::Number(at)) => Some(target.member(&number::text(at))),
            _ => None,
        }
    }

    fn place(&self, snap: &Snap) -> Option<Place> {
        let site = || self.site.map(str::to_owned).to_vec();
        Some(match snap {
            Snap::Root => (false, Vec::new()),
            Snap::Data => (false, site()),
            Snap::NewData => (true, site()),
            Snap::Child(of, path) => {
                let (after, mut keys) = self.place(of)?;
                below(&mut keys, &self.value(path)?.text()?);
                (after, keys)
            }
            Snap::Parent(of) => {
                let (after, mut keys) = self.place(of)?;
                keys.pop()?;
                (after, keys)
            }
            Snap::Either(condition, then, otherwise) => {
                self.place(if self.holds(condition)? { then } else { otherwise })?
            }
        })
    }

    fn node(&self, snap: &Snap) -> Option<&Value> {
        let (after, keys) = self.place(snap)?;
        Some(tree::get(if after { self.after } else { self.before }, &keys))
    }

    fn exists_below(&self, (after, keys): &Place, path: &str) -> bool {
        let mut keys = keys.clone();
        below(&mut keys, path);
        !tree::get(if *after { self.after } else { self.before }, &keys).is_null()
    }
}

/// A path without a key names a child that is never there.
fn below(keys: &mut Vec<String>, path: &str) {
    let count = keys.len();
    keys.extend(path.split('/').filter(|key| !key.is_empty()).map(str::to_owned));
    if keys.len() == count {
        keys.push(String::new());
    }
}

fn binary(operator: &str, left: Worth, right: Worth) -> Option<Worth> {
    use Worth::{Bool, Null, Number, Text};
    let same = match (&left, &right) {
        (Null, Null) => true,
        (Bool(a), Bool(b)) => a == b,
        (Number(a), Number(b)) => a == b,
        (Text(a), Text(b)) => a == b,
        _ => false,
    };
    let order = match (&left, &right) {
        // Nothing compares with what is not a number, and that is no error.
        (Number(a), Number(b)) => Some(a.partial_cmp(b)),
        (Text(a), Text(b)) => Some(Some(a.encode_utf16().cmp(b.encode_utf16()))),
        _ => None,
    };
    Some(match operator {
        "==" | "===" => Bool(same),
        "!=" | "!==" => Bool(!same),
        "<" => Bool(order?.is_some_and(std::cmp::Ordering::is_lt)),
        "<=" => Bool(order?.is_some_and(std::cmp::Ordering::is_le)),
        ">" => Bool(order?.is_some_and(std::cmp::Ordering::is_gt)),
        ">=" => Bool(order?.is_some_and(std::cmp::Ordering::is_ge)),
        "+" => match (left, right) {
            (Number(a), Number(b)) => Number(a + b),
            (Text(a), Text(b)) => Text(a + &b),
            (Text(a), Number(b)) => Text(a + &number::text(b)),
            (Number(a), Text(b)) => Text(number::text(a) + &b),
            _ => return None,
        },
        _ => {
            let (a, b) = (left.number()?, right.number()?);
            Number(match operator {
                "-" => a - b,
                "*" => a * b,
                "%" => a % b,
                _ if b == 0.0 => f64::NAN,
                _ => a / b,
            })
        }
    })
}

fn text_method(method: &str, on: &str, arguments: &[String]) -> Worth {
    let all: Vec<char> = on.chars().collect();
    let part: Vec<char> = arguments.first().map(|part| part.chars().collect()).unwrap_or_default();
    match method {
        "contains" => Worth::Bool((0..=all.len()).any(|at| all[at..].starts_with(&part))),
        "beginsWith" => Worth::Bool(all.starts_with(&part)),
        "endsWith" => Worth::Bool(all.ends_with(&part)),
        "toLowerCase" => Worth::Text(on.to_lowercase()),
        "toUpperCase" => Worth::Text(on.to_uppercase()),
        _ => {
            let mut text = String::new();
            let mut at = 0;
            while at < all.len() && text.len() <= TEXT_BYTES_MAX {
                if !part.is_empty() && all[at..].starts_with(&part) {
                    text += &arguments[1];
                    at += part.len();
                } else {
                    text.push(all[at]);
                    at += 1;
                }
            }
            Worth::Text(text)
        }
    }
}
