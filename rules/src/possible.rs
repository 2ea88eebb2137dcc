//! What can be said of an expression before it runs: what each of its parts can come to.
//!
//! Always too much and never too little: what a part is not said to come to, it never does. So "never true" and "nothing but
//! true" are certain, and everything that is between them is not known.

use crate::ast::{Ast, Binary, Expr, ExprId, ExprKind, Logic};
use crate::check::RuleKind;
use crate::ruleset::Rule;
use crate::types::{Method, QueryProperty, Type};
use std::cmp::Ordering;
use std::ops::{BitAnd, BitOr, Sub};

/// A set of what a part can come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Possible(u8);

impl Possible {
    pub(crate) const NOTHING: Self = Self(0);
    pub(crate) const NULL: Self = Self(1);
    pub(crate) const TRUE: Self = Self(2);
    pub(crate) const FALSE: Self = Self(4);
    pub(crate) const NUMBER: Self = Self(8);
    pub(crate) const TEXT: Self = Self(16);
    /// Something with children or members: neither is equal to anything.
    pub(crate) const INNER: Self = Self(32);
    /// What is never a value: snapshots, lists, patterns, `query`.
    const OTHER: Self = Self(64);
    pub(crate) const FAILURE: Self = Self(128);
    pub(crate) const BOOLEAN: Self = Self(2 | 4);
    /// Whatever data or claims can hold.
    pub(crate) const VALUE: Self = Self(1 | 2 | 4 | 8 | 16 | 32);
    /// The same, where something is.
    pub(crate) const THERE: Self = Self(2 | 4 | 8 | 16 | 32);

    pub(crate) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a rule of this always holds.
    pub(crate) fn is_true(self) -> bool {
        self == Self::TRUE
    }

    /// Whether a rule of this can hold.
    pub(crate) const fn can_hold(self) -> bool {
        self.has(Self::TRUE)
    }

    /// This, or nothing of it.
    const fn only_if(self, condition: bool) -> Self {
        if condition { self } else { Self::NOTHING }
    }
}

impl BitOr for Possible {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Possible {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Sub for Possible {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// Who asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Anybody,
    /// Not signed in.
    Nobody,
    /// Signed in, with whatever claims.
    Somebody,
    /// Signed in a moment ago, as anybody can: with a uid, a token, and nothing that was given to them.
    Newcomer,
}

/// What is assumed of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Assumed {
    pub(crate) who: Who,
    /// In milliseconds since 1970; nothing, where any time can be.
    pub(crate) now: Option<f64>,
    /// What `data` can be.
    pub(crate) data: Possible,
    /// What `newData` can be.
    pub(crate) new_data: Possible,
}

impl Assumed {
    /// Anything that can be where a rule of this kind runs: `.validate` runs only where something will be.
    pub(crate) const fn of(kind: RuleKind) -> Self {
        let new_data = match kind {
            RuleKind::Read | RuleKind::Write => Possible::VALUE,
            RuleKind::Validate => Possible::THERE,
        };
        Self { who: Who::Anybody, now: None, data: Possible::VALUE, new_data }
    }
}

/// A literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Exact<'a> {
    Number(f64),
    Text(&'a str),
}

impl<'a> Exact<'a> {
    pub(crate) fn of(kind: &'a ExprKind) -> Option<Self> {
        match kind {
            ExprKind::Number(number) => Some(Self::Number(*number)),
            ExprKind::Text(text) => Some(Self::Text(text)),
            ExprKind::Boolean(_)
            | ExprKind::Null
            | ExprKind::Regex { .. }
            | ExprKind::Name(_)
            | ExprKind::List(_)
            | ExprKind::Member { .. }
            | ExprKind::Index { .. }
            | ExprKind::Call { .. }
            | ExprKind::Not(_)
            | ExprKind::Negate(_)
            | ExprKind::Binary { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Conditional { .. } => None,
        }
    }

    /// In the order of rules; nothing, if they have none.
    fn order(self, other: Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.partial_cmp(&b),
            (Self::Text(a), Self::Text(b)) => Some(a.encode_utf16().cmp(b.encode_utf16())),
            (Self::Number(_), Self::Text(_)) | (Self::Text(_), Self::Number(_)) => None,
        }
    }
}

/// What is known of one part.
#[derive(Clone, Copy)]
struct Known<'a> {
    comes_to: Possible,
    exact: Option<Exact<'a>>,
    place: Option<Where>,
}

/// What is known of a place in the data.
#[derive(Clone, Copy)]
struct Where {
    value: Possible,
    /// How far below the root it is at least, and at most.
    depth_min: usize,
    depth_max: Option<usize>,
}

/// For each part of a rule that stands so far below the root, what it can come to. One loop: operands come first.
pub(crate) fn possible(rule: &Rule, depth: usize, assumed: Assumed) -> Vec<Possible> {
    let Rule { ast, types, .. } = rule;
    let mut prospect = Prospect { ast, types, depth, assumed, known: Vec::with_capacity(ast.len()) };
    for (part, expr) in ast.iter() {
        let known = prospect.part(part, expr);
        prospect.known.push(known);
    }
    prospect.known.iter().map(|known| known.comes_to).collect()
}

struct Prospect<'a> {
    ast: &'a Ast,
    types: &'a [Type],
    depth: usize,
    assumed: Assumed,
    known: Vec<Known<'a>>,
}

const fn plain<'a>(comes_to: Possible) -> Known<'a> {
    Known { comes_to, exact: None, place: None }
}

impl<'a> Prospect<'a> {
    fn get(&self, part: ExprId) -> Known<'a> {
        self.known[part.index()]
    }

    fn comes_to(&self, part: ExprId) -> Possible {
        self.get(part).comes_to
    }

    fn part(&self, part: ExprId, expr: &'a Expr) -> Known<'a> {
        let exact = Exact::of(&expr.kind);
        match &expr.kind {
            ExprKind::Boolean(true) => plain(Possible::TRUE),
            ExprKind::Boolean(false) => plain(Possible::FALSE),
            ExprKind::Number(_) => Known { exact, ..plain(Possible::NUMBER) },
            ExprKind::Text(_) => Known { exact, ..plain(Possible::TEXT) },
            ExprKind::Null => plain(Possible::NULL),
            ExprKind::Regex { .. } | ExprKind::List(_) => plain(Possible::OTHER),
            ExprKind::Name(name) => self.name(name),
            // Looked at by the call alone.
            ExprKind::Member { .. } if self.types[part.index()] == Type::Method => plain(Possible::OTHER),
            ExprKind::Member { target, name, .. } => plain(self.member(*target, name)),
            ExprKind::Index { target, index } => {
                let (target, index) = (self.comes_to(*target), self.comes_to(*index));
                plain(strict(&[target, index], Possible::VALUE | unless(index, Possible::TEXT)))
            }
            ExprKind::Call { callee, arguments } => self.call(*callee, arguments),
            ExprKind::Not(operand) => {
                let operand = self.comes_to(*operand);
                plain(
                    Possible::FALSE.only_if(operand.has(Possible::TRUE))
                        | Possible::TRUE.only_if(operand.has(Possible::FALSE))
                        | (operand & Possible::FAILURE),
                )
            }
            ExprKind::Negate(operand) => {
                let operand = self.comes_to(*operand);
                let number = Possible::NUMBER.only_if(operand.has(Possible::NUMBER));
                plain(strict(&[operand], number | unless(operand, Possible::NUMBER)))
            }
            ExprKind::Binary { operator, left, right } => {
                plain(binary(*operator, self.get(*left), self.get(*right)))
            }
            ExprKind::Logic { operator, left, right } => {
                let (left, right) = (self.comes_to(*left), self.comes_to(*right));
                let (needed, decided) = match operator {
                    Logic::And => (Possible::TRUE, Possible::FALSE),
                    Logic::Or => (Possible::FALSE, Possible::TRUE),
                };
                plain((left & (decided | Possible::FAILURE)) | right.only_if(left.has(needed)))
            }
            ExprKind::Conditional { condition, then, otherwise } => {
                let condition = self.comes_to(*condition);
                plain(
                    (condition & Possible::FAILURE)
                        | self.comes_to(*then).only_if(condition.has(Possible::TRUE))
                        | self.comes_to(*otherwise).only_if(condition.has(Possible::FALSE)),
                )
            }
        }
    }

    fn name(&self, name: &str) -> Known<'a> {
        let place = |value, depth| Known {
            place: Some(Where { value, depth_min: depth, depth_max: Some(depth) }),
            ..plain(Possible::OTHER)
        };
        match name {
            "auth" => plain(match self.assumed.who {
                Who::Anybody => Possible::NULL | Possible::INNER,
                Who::Nobody => Possible::NULL,
                Who::Somebody | Who::Newcomer => Possible::INNER,
            }),
            "now" => Known { exact: self.assumed.now.map(Exact::Number), ..plain(Possible::NUMBER) },
            "root" => place(Possible::VALUE, 0),
            "data" => place(self.assumed.data, self.depth),
            "newData" => place(self.assumed.new_data, self.depth),
            "query" => plain(Possible::OTHER),
            // A capture.
            _ => plain(Possible::TEXT),
        }
    }

    fn member(&self, target: ExprId, name: &str) -> Possible {
        let on = self.comes_to(target);
        match self.types[target.index()] {
            Type::Auth => {
                let is_auth = matches!(&self.ast.get(target).kind, ExprKind::Name(name) if name == "auth");
                let inner = match name {
                    "uid" | "provider" if is_auth && self.assumed.who == Who::Newcomer => Possible::TEXT,
                    "token" if is_auth && self.assumed.who == Who::Newcomer => Possible::INNER,
                    _ => Possible::VALUE,
                };
                let length = Possible::NUMBER.only_if(name == "length" && on.has(Possible::TEXT));
                let others = on - Possible::INNER - Possible::FAILURE;
                strict(
                    &[on],
                    inner.only_if(on.has(Possible::INNER))
                        | Possible::NULL.only_if(!others.is_empty())
                        | length,
                )
            }
            Type::Query => match QueryProperty::parse(name) {
                Some(
                    QueryProperty::OrderByKey | QueryProperty::OrderByValue | QueryProperty::OrderByPriority,
                ) => Possible::BOOLEAN,
                Some(QueryProperty::OrderByChild) => Possible::NULL | Possible::TEXT,
                Some(QueryProperty::LimitToFirst | QueryProperty::LimitToLast) => {
                    Possible::NULL | Possible::NUMBER
                }
                Some(QueryProperty::StartAt | QueryProperty::EndAt | QueryProperty::EqualTo) | None => {
                    Possible::VALUE - Possible::INNER
                }
            },
            // The length of a text; nothing else has members.
            Type::Boolean
            | Type::Number
            | Type::String
            | Type::Null
            | Type::Regex
            | Type::Array
            | Type::Snapshot
            | Type::Method
            | Type::Value
            | Type::QueryValue
            | Type::Mixed
            | Type::Broken => {
                let length = Possible::NUMBER.only_if(on.has(Possible::TEXT));
                strict(&[on], length | unless(on, Possible::TEXT))
            }
        }
    }

    fn call(&self, callee: ExprId, arguments: &'a [ExprId]) -> Known<'a> {
        let ExprKind::Member { target, name, .. } = &self.ast.get(callee).kind else {
            return plain(Possible::VALUE | Possible::OTHER | Possible::FAILURE);
        };
        let Some(method) = Method::parse(name, self.types[target.index()]) else {
            return plain(Possible::VALUE | Possible::OTHER | Possible::FAILURE);
        };
        let on = self.get(*target);
        match on.place {
            Some(place) => self.of_place(method, on.comes_to, place, arguments),
            None if self.types[target.index()] == Type::Snapshot => {
                // One of two snapshots: nothing is known of it.
                let any = Where { value: Possible::VALUE, depth_min: 0, depth_max: None };
                self.of_place(method, on.comes_to, any, arguments)
            }
            None => plain(self.of_text(method, on.comes_to, arguments)),
        }
    }

    fn of_place(&self, method: Method, on: Possible, place: Where, arguments: &'a [ExprId]) -> Known<'a> {
        let Where { value, depth_min, depth_max } = place;
        let argument = self.texts(arguments);
        let is = |kind: Possible| {
            Possible::TRUE.only_if(value.has(kind)) | Possible::FALSE.only_if(!(value - kind).is_empty())
        };
        let has_some = Possible::BOOLEAN - Possible::TRUE.only_if(!value.has(Possible::INNER));
        let answer = |answer: Possible| plain(strict(&[on, argument], answer));
        match method {
            Method::Val => answer(value),
            Method::Exists => answer(is(Possible::THERE)),
            Method::IsNumber => answer(is(Possible::NUMBER)),
            Method::IsString => answer(is(Possible::TEXT)),
            Method::IsBoolean => answer(is(Possible::BOOLEAN)),
            Method::GetPriority => answer(
                Possible::NULL | (Possible::NUMBER | Possible::TEXT).only_if(value.has(Possible::THERE)),
            ),
            Method::HasChild => answer(has_some),
            Method::HasChildren => match arguments.first().map(|list| &self.ast.get(*list).kind) {
                None => answer(is(Possible::INNER)),
                Some(ExprKind::List(names)) if names.is_empty() => answer(Possible::TRUE),
                Some(ExprKind::List(names)) => plain(strict(&[on, self.texts(names)], has_some)),
                Some(_) => answer(Possible::BOOLEAN | Possible::FAILURE),
            },
            Method::Child => {
                let value = if value.has(Possible::INNER) { Possible::VALUE } else { Possible::NULL };
                let levels = match arguments.first().map(|path| &self.ast.get(*path).kind) {
                    Some(ExprKind::Text(path)) => {
                        Some(path.split('/').filter(|key| !key.is_empty()).count().max(1))
                    }
                    Some(_) | None => None,
                };
                let depth_max = depth_max.zip(levels).map(|(depth, levels)| depth + levels);
                let place = Some(Where { value, depth_min: depth_min + 1, depth_max });
                Known { place, ..answer(Possible::OTHER) }
            }
            Method::Parent => {
                // What is not gone has a parent with children.
                let value = if value.has(Possible::NULL) { Possible::VALUE } else { Possible::INNER };
                let place = Where {
                    value,
                    depth_min: depth_min.saturating_sub(1),
                    depth_max: depth_max.map(|depth| depth.saturating_sub(1)),
                };
                let up = Possible::OTHER.only_if(depth_max != Some(0));
                let above_root = Possible::FAILURE.only_if(depth_min == 0);
                Known { place: Some(place), ..answer(up | above_root) }
            }
            Method::Contains
            | Method::BeginsWith
            | Method::EndsWith
            | Method::Replace
            | Method::ToLowerCase
            | Method::ToUpperCase
            | Method::Matches => answer(Possible::VALUE | Possible::FAILURE),
        }
    }

    fn of_text(&self, method: Method, on: Possible, arguments: &[ExprId]) -> Possible {
        let argument = if method == Method::Matches { Possible::TEXT } else { self.texts(arguments) };
        let made = match method {
            Method::Replace | Method::ToLowerCase | Method::ToUpperCase => Possible::TEXT,
            Method::Contains | Method::BeginsWith | Method::EndsWith | Method::Matches => Possible::BOOLEAN,
            Method::Val
            | Method::Child
            | Method::Parent
            | Method::HasChild
            | Method::HasChildren
            | Method::Exists
            | Method::GetPriority
            | Method::IsNumber
            | Method::IsString
            | Method::IsBoolean => Possible::VALUE | Possible::FAILURE,
        };
        strict(&[on, argument], made.only_if(on.has(Possible::TEXT)) | unless(on, Possible::TEXT))
    }

    /// What becomes of arguments that have to be texts.
    fn texts(&self, arguments: &[ExprId]) -> Possible {
        let each = |argument: &ExprId| {
            // A list is of `hasChildren`, which looks at it itself.
            if matches!(self.ast.get(*argument).kind, ExprKind::List(_)) {
                return Possible::TEXT;
            }
            let comes_to = self.comes_to(*argument);
            (comes_to & Possible::TEXT) | unless(comes_to, Possible::TEXT)
        };
        let all: Vec<Possible> = arguments.iter().map(each).collect();
        strict(&all, Possible::TEXT)
    }
}

/// A failure, if something else than this can be.
fn unless(found: Possible, accepted: Possible) -> Possible {
    Possible::FAILURE.only_if(!(found - accepted).is_empty())
}

/// The result of an operation that fails where one of its operands does.
fn strict(operands: &[Possible], result: Possible) -> Possible {
    let fails = operands.iter().any(|operand| operand.has(Possible::FAILURE));
    let never_ends = operands.iter().any(|operand| (*operand - Possible::FAILURE).is_empty());
    if never_ends { Possible::FAILURE } else { result | Possible::FAILURE.only_if(fails) }
}

fn binary(operator: Binary, left: Known<'_>, right: Known<'_>) -> Possible {
    let [a, b] = [left, right].map(|side| side.comes_to - Possible::FAILURE);
    let both = |kind: Possible| a.has(kind) && b.has(kind);
    let exact = left.exact.zip(right.exact);
    let outcome =
        |can_hold: bool, can_not: bool| Possible::TRUE.only_if(can_hold) | Possible::FALSE.only_if(can_not);
    let order = |holds: fn(Ordering) -> bool| {
        let numbers = a == Possible::NUMBER && b == Possible::NUMBER;
        let texts = a == Possible::TEXT && b == Possible::TEXT;
        let fails = Possible::FAILURE.only_if(!numbers && !texts);
        let ordered = both(Possible::NUMBER) || both(Possible::TEXT);
        let decided = exact.and_then(|(a, b)| a.order(b)).map(holds);
        fails | outcome(ordered && decided != Some(false), ordered && decided != Some(true))
    };
    let equality = |wanted: bool| {
        let can_equal = ((a & b) - Possible::INNER) != Possible::NOTHING && exact.is_none_or(|(a, b)| a == b);
        let is_one_value = [Possible::NULL, Possible::TRUE, Possible::FALSE].contains(&a) && a == b;
        let must_equal = is_one_value || exact.is_some_and(|(a, b)| a == b);
        if wanted { outcome(can_equal, !must_equal) } else { outcome(!must_equal, can_equal) }
    };
    let result = match operator {
        Binary::Equal | Binary::StrictEqual => equality(true),
        Binary::NotEqual | Binary::StrictNotEqual => equality(false),
        Binary::Less => order(Ordering::is_lt),
        Binary::LessOrEqual => order(Ordering::is_le),
        Binary::Greater => order(Ordering::is_gt),
        Binary::GreaterOrEqual => order(Ordering::is_ge),
        Binary::Plus => {
            let addable = Possible::NUMBER | Possible::TEXT;
            let joins =
                (a.has(Possible::TEXT) && b.has(addable)) || (a.has(addable) && b.has(Possible::TEXT));
            Possible::NUMBER.only_if(both(Possible::NUMBER))
                | Possible::TEXT.only_if(joins)
                | unless(a | b, addable)
        }
        Binary::Minus | Binary::Times | Binary::Divide | Binary::Remainder => {
            Possible::NUMBER.only_if(both(Possible::NUMBER)) | unless(a | b, Possible::NUMBER)
        }
    };
    strict(&[left.comes_to, right.comes_to], result)
}
