//! The types that the compiler knows, and the names of the language: variables, methods, properties of `query`.
//! Source: rules reference 2.3.

use std::fmt;

/// What an expression is known to be before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Comparisons, logic, and most methods.
    Boolean,
    /// Literals, `now`, `length`, arithmetic.
    Number,
    /// Literals, captures, results of text methods.
    String,
    /// The literal `null`.
    Null,
    /// A regular expression literal.
    Regex,
    /// A list literal.
    Array,
    /// `data`, `newData`, `root` and what is reached from them.
    Snapshot,
    /// A method that is not called.
    Method,
    /// What `val()` or `getPriority()` gives: known only when the rule runs.
    Value,
    /// `auth` and everything in it.
    Auth,
    /// `query`.
    Query,
    /// A property of `query` that may be null.
    QueryValue,
    /// A conditional whose branches differ.
    Mixed,
    /// Something that was already complained about.
    Broken,
}

impl Type {
    pub(crate) const fn is_boolean(self) -> bool {
        matches!(self, Self::Boolean | Self::Broken)
    }

    /// Accepted by `==` and `!=`.
    pub(crate) const fn is_comparable(self) -> bool {
        matches!(self, Self::Boolean | Self::Null) || self.is_orderable()
    }

    /// Accepted by `<`, `<=`, `>`, `>=` and `+`.
    pub(crate) const fn is_orderable(self) -> bool {
        matches!(self, Self::String) || self.is_numeric()
    }

    /// Accepted by `-`, `*`, `/` and `%`.
    pub(crate) const fn is_numeric(self) -> bool {
        matches!(
            self,
            Self::Number | Self::Value | Self::Auth | Self::QueryValue | Self::Mixed | Self::Broken
        )
    }

    /// Accepted where a method wants a text.
    pub(crate) const fn is_textual(self) -> bool {
        matches!(self, Self::String | Self::Value | Self::Auth | Self::Mixed | Self::Broken)
    }
}

/// As a noun in advice.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a text",
            Self::Null => "null",
            Self::Regex => "a regular expression",
            Self::Array => "a list",
            Self::Snapshot => "a snapshot",
            Self::Method => "a method that is not called",
            Self::Value => "a stored value",
            Self::Auth => "a part of auth",
            Self::Query => "the query",
            Self::QueryValue => "a value of the query",
            Self::Mixed => "a conditional whose branches differ",
            Self::Broken => "something unknown",
        })
    }
}

/// What a name without a receiver can stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Auth,
    Now,
    Root,
    Data,
    NewData,
    Query,
    /// A `$name` that is bound to the key at this depth: 1 is the first level below the root.
    Capture(usize),
}

impl Variable {
    /// `captures` are the names declared on the way from the root, with their depths.
    pub(crate) fn parse(name: &str, captures: &[Capture]) -> Option<Self> {
        match name {
            "auth" => Some(Self::Auth),
            "now" => Some(Self::Now),
            "root" => Some(Self::Root),
            "data" => Some(Self::Data),
            "newData" => Some(Self::NewData),
            "query" => Some(Self::Query),
            _ => captures.iter().find(|each| each.name == name).map(|each| Self::Capture(each.depth)),
        }
    }

    pub(crate) const fn type_of(self) -> Type {
        match self {
            Self::Auth => Type::Auth,
            Self::Now => Type::Number,
            Self::Root | Self::Data | Self::NewData => Type::Snapshot,
            Self::Query => Type::Query,
            Self::Capture(_) => Type::String,
        }
    }
}

/// A `$name` in scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Capture {
    /// With its `$`.
    pub(crate) name: String,
    pub(crate) depth: usize,
}

/// The ten methods of snapshots and the seven of texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Val,
    Child,
    Parent,
    HasChild,
    HasChildren,
    Exists,
    GetPriority,
    IsNumber,
    IsString,
    IsBoolean,
    Contains,
    BeginsWith,
    EndsWith,
    Replace,
    ToLowerCase,
    ToUpperCase,
    Matches,
}

impl Method {
    const ALL: [Self; 17] = [
        Self::Val,
        Self::Child,
        Self::Parent,
        Self::HasChild,
        Self::HasChildren,
        Self::Exists,
        Self::GetPriority,
        Self::IsNumber,
        Self::IsString,
        Self::IsBoolean,
        Self::Contains,
        Self::BeginsWith,
        Self::EndsWith,
        Self::Replace,
        Self::ToLowerCase,
        Self::ToUpperCase,
        Self::Matches,
    ];

    /// A method that a receiver of this type has.
    pub(crate) fn parse(name: &str, receiver: Type) -> Option<Self> {
        let of_text = match receiver {
            Type::Snapshot => false,
            Type::String | Type::Value | Type::Auth => true,
            Type::Boolean
            | Type::Number
            | Type::Null
            | Type::Regex
            | Type::Array
            | Type::Method
            | Type::Query
            | Type::QueryValue
            | Type::Mixed
            | Type::Broken => return None,
        };
        Self::ALL.into_iter().find(|method| method.name() == name && method.is_of_text() == of_text)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Val => "val",
            Self::Child => "child",
            Self::Parent => "parent",
            Self::HasChild => "hasChild",
            Self::HasChildren => "hasChildren",
            Self::Exists => "exists",
            Self::GetPriority => "getPriority",
            Self::IsNumber => "isNumber",
            Self::IsString => "isString",
            Self::IsBoolean => "isBoolean",
            Self::Contains => "contains",
            Self::BeginsWith => "beginsWith",
            Self::EndsWith => "endsWith",
            Self::Replace => "replace",
            Self::ToLowerCase => "toLowerCase",
            Self::ToUpperCase => "toUpperCase",
            Self::Matches => "matches",
        }
    }

    const fn is_of_text(self) -> bool {
        match self {
            Self::Val
            | Self::Child
            | Self::Parent
            | Self::HasChild
            | Self::HasChildren
            | Self::Exists
            | Self::GetPriority
            | Self::IsNumber
            | Self::IsString
            | Self::IsBoolean => false,
            Self::Contains
            | Self::BeginsWith
            | Self::EndsWith
            | Self::Replace
            | Self::ToLowerCase
            | Self::ToUpperCase
            | Self::Matches => true,
        }
    }

    /// The type of its result.
    pub(crate) const fn result(self) -> Type {
        match self {
            Self::Val | Self::GetPriority => Type::Value,
            Self::Child | Self::Parent => Type::Snapshot,
            Self::Replace | Self::ToLowerCase | Self::ToUpperCase => Type::String,
            Self::HasChild
            | Self::HasChildren
            | Self::Exists
            | Self::IsNumber
            | Self::IsString
            | Self::IsBoolean
            | Self::Contains
            | Self::BeginsWith
            | Self::EndsWith
            | Self::Matches => Type::Boolean,
        }
    }
}

/// The nine properties of `query`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryProperty {
    OrderByKey,
    OrderByValue,
    OrderByPriority,
    OrderByChild,
    StartAt,
    EndAt,
    EqualTo,
    LimitToFirst,
    LimitToLast,
}

impl QueryProperty {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "orderByKey" => Self::OrderByKey,
            "orderByValue" => Self::OrderByValue,
            "orderByPriority" => Self::OrderByPriority,
            "orderByChild" => Self::OrderByChild,
            "startAt" => Self::StartAt,
            "endAt" => Self::EndAt,
            "equalTo" => Self::EqualTo,
            "limitToFirst" => Self::LimitToFirst,
            "limitToLast" => Self::LimitToLast,
            _ => return None,
        })
    }

    pub(crate) const fn type_of(self) -> Type {
        match self {
            Self::OrderByKey | Self::OrderByValue | Self::OrderByPriority => Type::Boolean,
            Self::OrderByChild
            | Self::StartAt
            | Self::EndAt
            | Self::EqualTo
            | Self::LimitToFirst
            | Self::LimitToLast => Type::QueryValue,
        }
    }
}
