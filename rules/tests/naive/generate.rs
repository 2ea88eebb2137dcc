//! Expressions and what they are asked about, made up from bytes: few keys and texts, so that much is the same by chance.
//!
//! Every expression is one that the compiler accepts. Bytes that have run out are the first choice everywhere, and that
//! is always something small.

use super::expression::{Expr, Snap};
use super::pattern::{Atom, Item, Pattern, Piece, Repeat, Sequence};
use super::tree::pruned;
use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value, json};

const KEYS: [&str; 6] = ["a", "b", "k", "x y", "é", "n"];
const TEXTS: [&str; 25] = [
    "",
    "a",
    "b",
    "ab",
    "aXa",
    "k",
    "K",
    "\u{212a}",
    "é",
    "É",
    "\u{1F600}",
    "\u{e000}",
    "5",
    "٥",
    "x y",
    "_",
    "\n",
    "'",
    "\\",
    "a/b",
    "length",
    "ſ",
    "0",
    "01",
    "+1",
];
const PATHS: [&str; 12] = ["a", "b", "k", "a/b", "/a//b/", "", "/", "..", "a.b/k", "x y", "n/k/a", "é"];
const NUMBERS: [f64; 12] =
    [0.0, 1.0, 2.0, 0.5, 7.0, 1e21, 1e20, 1e-7, 1e-6, 123_456_789.125, 9_007_199_254_740_993.0, 1e308];
const COMPARISONS: [&str; 4] = ["<", "<=", ">", ">="];
const EQUALITIES: [&str; 4] = ["==", "===", "!=", "!=="];

/// Far below what the compiler refuses.
const PATTERN_WEIGHT_MAX: u64 = 500;

/// Makes expressions up.
pub(crate) struct Author<'s, 'd> {
    pub(crate) bytes: &'s mut Unstructured<'d>,
    /// Whether there is an after, beside a before.
    pub(crate) is_write: bool,
}

/// Levels that are left below.
type Depth = u32;

impl Author<'_, '_> {
    fn choose<T: Clone>(&mut self, items: &[T]) -> Result<T> {
        self.bytes.choose(items).cloned()
    }

    /// One of that many ways, the first where no depth is left.
    fn way(&mut self, ways: u32, depth: Depth) -> Result<u32> {
        if depth == 0 { Ok(0) } else { self.bytes.int_in_range(0..=ways - 1) }
    }

    pub(crate) fn boolean(&mut self, depth: Depth) -> Result<Expr> {
        let below = depth.saturating_sub(1);
        // Comparisons more often than anything else: they are where most kinds of values meet.
        Ok(match self.way(20, depth)? {
            0 => {
                let known = [Expr::Bool(true), Expr::Bool(false), Expr::Exists(Snap::Data)];
                self.choose(&known)?
            }
            1 => Expr::Exists(self.snap(below)?),
            2 => Expr::HasChild(self.snap(below)?, Box::new(self.argument(below)?)),
            3 => Expr::HasChildren(self.snap(below)?, None),
            4 => Expr::HasChildren(self.snap(below)?, Some(self.arguments(below)?)),
            5 => Expr::Is(self.choose(&["isString", "isNumber", "isBoolean"])?, self.snap(below)?),
            6 => Expr::Query(self.choose(&["orderByKey", "orderByValue", "orderByPriority"])?),
            7 => self.text_test(below)?,
            8 => Expr::Matches(Box::new(self.receiver(below)?), self.pattern()?),
            9 => Expr::Not(Box::new(self.boolean(below)?)),
            10 => {
                let operator = self.choose(&["&&", "||"])?;
                Expr::Binary(operator, Box::new(self.boolean(below)?), Box::new(self.boolean(below)?))
            }
            11 => self.conditional(below, Self::boolean)?,
            12..=14 => self.binary(&EQUALITIES, below, Self::comparable)?,
            _ => self.binary(&COMPARISONS, below, Self::orderable)?,
        })
    }

    fn text_test(&mut self, depth: Depth) -> Result<Expr> {
        let method = self.choose(&["contains", "beginsWith", "endsWith"])?;
        let on = self.receiver(depth)?;
        Ok(Expr::Method(method, Box::new(on), vec![self.argument(depth)?]))
    }

    fn binary(
        &mut self,
        operators: &[&'static str],
        depth: Depth,
        operand: fn(&mut Self, Depth) -> Result<Expr>,
    ) -> Result<Expr> {
        let operator = self.choose(operators)?;
        Ok(Expr::Binary(operator, Box::new(operand(self, depth)?), Box::new(operand(self, depth)?)))
    }

    fn conditional(&mut self, depth: Depth, branch: fn(&mut Self, Depth) -> Result<Expr>) -> Result<Expr> {
        let condition = self.boolean(depth)?;
        Ok(Expr::Conditional(
            Box::new(condition),
            Box::new(branch(self, depth)?),
            Box::new(branch(self, depth)?),
        ))
    }

    /// What `==` accepts.
    fn comparable(&mut self, depth: Depth) -> Result<Expr> {
        Ok(match self.way(5, depth)? {
            0 => Expr::Null,
            1 => self.boolean(depth - 1)?,
            _ => self.orderable(depth)?,
        })
    }

    /// What `<` and `+` accept.
    fn orderable(&mut self, depth: Depth) -> Result<Expr> {
        Ok(match self.way(5, depth)? {
            0 | 1 => self.numeric(depth)?,
            2 => self.binary(&["+"], depth - 1, Self::orderable)?,
            _ => self.argument(depth)?,
        })
    }

    /// What arithmetic accepts.
    fn numeric(&mut self, depth: Depth) -> Result<Expr> {
        let below = depth.saturating_sub(1);
        Ok(match self.way(9, depth)? {
            0 => {
                let few = self.bytes.ratio(2, 3)?;
                Expr::Number(if few { self.choose(&NUMBERS[..3])? } else { self.choose(&NUMBERS)? })
            }
            1 => Expr::Now,
            2 => Expr::Val(self.snap(below)?),
            3 => Expr::Priority(self.snap(below)?),
            4 => self.claim(below)?,
            5 => {
                let asked = ["orderByChild", "startAt", "endAt", "equalTo", "limitToFirst", "limitToLast"];
                Expr::Query(self.choose(&asked)?)
            }
            6 => Expr::Length(Box::new(self.receiver(below)?)),
            7 => Expr::Negate(Box::new(self.numeric(below)?)),
            _ => self.binary(&["-", "*", "/", "%"], below, Self::numeric)?,
        })
    }

    fn claim(&mut self, depth: Depth) -> Result<Expr> {
        Ok(match self.way(3, depth)? {
            0 => Expr::Auth,
            1 => {
                let name = self.choose(&["uid", "token", "role", "list", "n", "length", "missing"])?;
                Expr::Member(Box::new(self.claim(depth - 1)?), name)
            }
            _ => Expr::Index(Box::new(self.claim(depth - 1)?), Box::new(self.comparable(depth - 1)?)),
        })
    }

    /// What text methods are called on.
    fn receiver(&mut self, depth: Depth) -> Result<Expr> {
        let below = depth.saturating_sub(1);
        Ok(match self.way(8, depth)? {
            0 => Expr::Text(self.choose(&TEXTS)?.into()),
            1 => Expr::Capture,
            2 => Expr::Val(self.snap(below)?),
            3 => self.claim(below)?,
            4 => {
                let method = self.choose(&["toLowerCase", "toUpperCase"])?;
                Expr::Method(method, Box::new(self.receiver(below)?), Vec::new())
            }
            5 => {
                let on = self.receiver(below)?;
                let arguments = vec![self.argument(below)?, self.argument(below)?];
                Expr::Method("replace", Box::new(on), arguments)
            }
            6 => {
                // With a text on one side it is a text.
                let text = Expr::Text(self.choose(&TEXTS)?.into());
                let other = self.orderable(below)?;
                let (left, right) = if self.bytes.ratio(1, 2)? { (text, other) } else { (other, text) };
                Expr::Binary("+", Box::new(left), Box::new(right))
            }
            _ => self.conditional(below, Self::receiver)?,
        })
    }

    /// What methods accept as a text.
    fn argument(&mut self, depth: Depth) -> Result<Expr> {
        if self.bytes.ratio(1, 3)? {
            Ok(Expr::Text(self.choose(&PATHS)?.into()))
        } else {
            self.receiver(depth)
        }
    }

    fn arguments(&mut self, depth: Depth) -> Result<Vec<Expr>> {
        let count = self.bytes.int_in_range(0..=3)?;
        (0..count).map(|_| self.argument(depth)).collect()
    }

    fn snap(&mut self, depth: Depth) -> Result<Snap> {
        let below = depth.saturating_sub(1);
        Ok(match self.way(6, depth)? {
            0 => Snap::Data,
            1 => Snap::Root,
            2 => {
                if self.is_write {
                    Snap::NewData
                } else {
                    Snap::Data
                }
            }
            3 => Snap::Child(Box::new(self.snap(below)?), Box::new(self.argument(below)?)),
            4 => Snap::Parent(Box::new(self.snap(below)?)),
            _ => {
                let condition = self.boolean(below)?;
                Snap::Either(Box::new(condition), Box::new(self.snap(below)?), Box::new(self.snap(below)?))
            }
        })
    }

    fn pattern(&mut self) -> Result<Pattern> {
        let mut pattern = Pattern {
            from_start: self.bytes.arbitrary()?,
            to_end: self.bytes.arbitrary()?,
            ignores_case: self.bytes.arbitrary()?,
            alternatives: self.alternatives(2)?,
        };
        if PATTERN_WEIGHT_MAX < pattern.weight() {
            pattern.alternatives = vec![vec![Piece { atom: Atom::Any, repeats: Vec::new() }]];
        }
        Ok(pattern)
    }

    fn alternatives(&mut self, depth: Depth) -> Result<Vec<Sequence>> {
        let count = self.bytes.int_in_range(1..=2)?;
        (0..count).map(|_| self.sequence(depth)).collect()
    }

    fn sequence(&mut self, depth: Depth) -> Result<Sequence> {
        let count = self.bytes.int_in_range(1..=3)?;
        (0..count).map(|_| self.piece(depth)).collect()
    }

    fn piece(&mut self, depth: Depth) -> Result<Piece> {
        let atom = match self.bytes.int_in_range(0..=4)? {
            4 if depth != 0 => Atom::Group(self.alternatives(depth - 1)?),
            1 => Atom::Any,
            2 => Atom::Class(self.class()?),
            3 => {
                let negated = self.bytes.arbitrary()?;
                let count = self.bytes.int_in_range(1..=3)?;
                Atom::Set { negated, items: (0..count).map(|_| self.item()).collect::<Result<_>>()? }
            }
            _ => Atom::Char(self.sign()?),
        };
        let count = self.bytes.int_in_range(0..=4_u32)?.saturating_sub(2);
        let repeats = (0..count).map(|_| self.repeat()).collect::<Result<_>>()?;
        Ok(Piece { atom, repeats })
    }

    fn item(&mut self) -> Result<Item> {
        Ok(match self.bytes.int_in_range(0..=2)? {
            0 => Item::Char(self.sign()?),
            1 => {
                let (one, other) = (self.sign()?, self.sign()?);
                Item::Range(one.min(other), one.max(other))
            }
            _ => Item::Class(self.class()?),
        })
    }

    fn class(&mut self) -> Result<char> {
        self.choose(&['d', 'w', 's', 'D', 'W', 'S'])
    }

    fn sign(&mut self) -> Result<char> {
        // No line breaks: a pattern ends with its line.
        let texts = TEXTS.concat();
        let all = texts.chars().chain(['-', ']', '^', '$', '/', '|', '(', '.']).filter(|ch| *ch != '\n');
        let all: Vec<char> = all.collect();
        self.choose(&all)
    }

    fn repeat(&mut self) -> Result<Repeat> {
        let least = self.bytes.int_in_range(0..=2)?;
        let most = if self.bytes.arbitrary()? { Some(least + self.bytes.int_in_range(0..=2)?) } else { None };
        Ok(Repeat { least, most })
    }
}

/// Data of a few levels, with priorities.
pub(crate) fn tree(bytes: &mut Unstructured<'_>, depth: Depth) -> Result<Value> {
    Ok(pruned(&node(bytes, depth)?))
}

fn node(bytes: &mut Unstructured<'_>, depth: Depth) -> Result<Value> {
    if depth == 0 || bytes.ratio(1, 3)? {
        let value = leaf(bytes)?;
        return Ok(if bytes.ratio(1, 6)? {
            json!({".value": value, ".priority": priority(bytes)?})
        } else {
            value
        });
    }
    let mut members = Map::new();
    for _ in 0..bytes.int_in_range(0..=3)? {
        let key = *bytes.choose(&KEYS)?;
        members.insert(key.into(), node(bytes, depth - 1)?);
    }
    if bytes.ratio(1, 6)? {
        members.insert(".priority".into(), priority(bytes)?);
    }
    Ok(Value::Object(members))
}

fn leaf(bytes: &mut Unstructured<'_>) -> Result<Value> {
    Ok(match bytes.int_in_range(0..=3)? {
        0 => json!(null),
        1 => json!(bytes.arbitrary::<bool>()?),
        2 => json!(bytes.choose(&NUMBERS)?),
        _ => json!(bytes.choose(&TEXTS)?),
    })
}

fn priority(bytes: &mut Unstructured<'_>) -> Result<Value> {
    Ok(if bytes.arbitrary()? { json!(2) } else { json!("k") })
}

/// Nobody, or claims of every kind.
pub(crate) fn auth(bytes: &mut Unstructured<'_>) -> Result<Value> {
    if bytes.ratio(1, 4)? {
        return Ok(json!(null));
    }
    Ok(json!({
        "uid": bytes.choose(&KEYS)?, "n": bytes.choose(&NUMBERS)?, "a": leaf(bytes)?, "": leaf(bytes)?,
        "token": {"role": leaf(bytes)?, "list": [leaf(bytes)?, "a"], "n": {}},
        "list": [leaf(bytes)?, {"uid": "k"}],
    }))
}

/// A query with the names that rules know.
pub(crate) fn query(bytes: &mut Unstructured<'_>) -> Result<Value> {
    let mut query = Map::new();
    match bytes.int_in_range(0..=4)? {
        0 => {}
        1 => drop(query.insert("orderByKey".into(), json!(true))),
        2 => drop(query.insert("orderByValue".into(), json!(true))),
        3 => drop(query.insert("orderByPriority".into(), json!(true))),
        _ => drop(query.insert("orderByChild".into(), json!(bytes.choose(&KEYS)?))),
    }
    for name in ["startAt", "endAt", "equalTo"] {
        match bytes.int_in_range(0..=3)? {
            0 | 1 => {}
            2 => drop(query.insert(name.into(), json!(bytes.int_in_range(0..=2)?))),
            _ => drop(query.insert(name.into(), json!(bytes.choose(&TEXTS)?))),
        }
    }
    if bytes.ratio(1, 3)? {
        let name = *bytes.choose(&["limitToFirst", "limitToLast"])?;
        query.insert(name.into(), json!(bytes.int_in_range(1..=3)?));
    }
    Ok(Value::Object(query))
}
