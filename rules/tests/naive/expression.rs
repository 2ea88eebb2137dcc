//! An expression as it was made up: printed for the real evaluator, walked by the naive one.

use super::pattern::Pattern;

#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Now,
    /// `$k`
    Capture,
    Auth,
    /// Of something in `auth`.
    Member(Box<Self>, &'static str),
    Index(Box<Self>, Box<Self>),
    Query(&'static str),
    Val(Snap),
    Priority(Snap),
    Exists(Snap),
    /// `isString` and its like.
    Is(&'static str, Snap),
    HasChild(Snap, Box<Self>),
    HasChildren(Snap, Option<Vec<Self>>),
    Not(Box<Self>),
    Negate(Box<Self>),
    Binary(&'static str, Box<Self>, Box<Self>),
    Conditional(Box<Self>, Box<Self>, Box<Self>),
    Length(Box<Self>),
    Method(&'static str, Box<Self>, Vec<Self>),
    Matches(Box<Self>, Pattern),
}

#[derive(Clone, Debug)]
pub(crate) enum Snap {
    Root,
    Data,
    NewData,
    Child(Box<Self>, Box<Expr>),
    Parent(Box<Self>),
    Either(Box<Expr>, Box<Self>, Box<Self>),
}

impl Expr {
    pub(crate) fn print(&self) -> String {
        match self {
            Self::Null => "null".into(),
            Self::Bool(value) => value.to_string(),
            Self::Number(number) => format!("{number:e}"),
            Self::Text(text) => quoted(text),
            Self::Now => "now".into(),
            Self::Capture => "$k".into(),
            Self::Auth => "auth".into(),
            Self::Member(target, name) => format!("{}.{name}", target.print()),
            Self::Index(target, index) => format!("{}[{}]", target.print(), index.print()),
            Self::Query(name) => format!("query.{name}"),
            Self::Val(snap) => format!("{}.val()", snap.print()),
            Self::Priority(snap) => format!("{}.getPriority()", snap.print()),
            Self::Exists(snap) => format!("{}.exists()", snap.print()),
            Self::Is(method, snap) => format!("{}.{method}()", snap.print()),
            Self::HasChild(snap, path) => format!("{}.hasChild({})", snap.print(), path.print()),
            Self::HasChildren(snap, None) => format!("{}.hasChildren()", snap.print()),
            Self::HasChildren(snap, Some(names)) => {
                format!("{}.hasChildren([{}])", snap.print(), listed(names))
            }
            Self::Not(inner) => format!("!({})", inner.print()),
            Self::Negate(inner) => format!("-({})", inner.print()),
            Self::Binary(operator, left, right) => {
                format!("({}) {operator} ({})", left.print(), right.print())
            }
            Self::Conditional(condition, then, otherwise) => {
                format!("(({}) ? ({}) : ({}))", condition.print(), then.print(), otherwise.print())
            }
            Self::Length(on) => format!("({}).length", on.print()),
            Self::Method(method, on, arguments) => {
                format!("({}).{method}({})", on.print(), listed(arguments))
            }
            Self::Matches(on, pattern) => format!("({}).matches({})", on.print(), pattern.print()),
        }
    }

    /// Whether the compiler takes it for a part of `auth`, whose `length` is a member like any other.
    pub(crate) fn is_of_auth(&self) -> bool {
        if let Self::Conditional(_, then, otherwise) = self {
            return then.is_of_auth() && otherwise.is_of_auth();
        }
        matches!(self, Self::Auth | Self::Member(..) | Self::Index(..))
    }
}

impl Snap {
    fn print(&self) -> String {
        match self {
            Self::Root => "root".into(),
            Self::Data => "data".into(),
            Self::NewData => "newData".into(),
            Self::Child(of, path) => format!("{}.child({})", of.print(), path.print()),
            Self::Parent(of) => format!("{}.parent()", of.print()),
            Self::Either(condition, then, otherwise) => {
                format!("(({}) ? {} : {})", condition.print(), then.print(), otherwise.print())
            }
        }
    }
}

fn listed(all: &[Expr]) -> String {
    all.iter().map(Expr::print).collect::<Vec<_>>().join(", ")
}

fn quoted(text: &str) -> String {
    let escaped = |ch: char| match ch {
        '\'' | '\\' => format!("\\{ch}"),
        '\n' => "\\n".into(),
        _ => ch.to_string(),
    };
    format!("'{}'", text.chars().map(escaped).collect::<String>())
}
