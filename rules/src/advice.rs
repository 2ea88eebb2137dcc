//! What to do about a problem: one sentence for people beside the words of the service.

use crate::ast::{Binary, Logic};
use crate::problem::{PatternMistake, Problem};
use crate::types::Type;

impl Problem {
    /// One sentence, where there is something to say beyond the message.
    pub(crate) fn advice(&self) -> Option<String> {
        Some(match self {
            Self::Unexpected { found, .. } => return unexpected(found),
            Self::ForbiddenInKey { key } => return Some(forbidden_key(key)),
            Self::ExpectedObject { key } => return Some(expected_object(key)),
            Self::NoSuchMember { name, on } => return no_such_member(name, *on),
            Self::UnknownVariable { name } => return unknown_variable(name),
            Self::Pattern { mistake } => return pattern(mistake).map(Into::into),
            Self::RuleNotBoolean { found } => return Some(rule_not_boolean(*found)),
            Self::NotOperand { found: Type::Snapshot } => {
                "write `!data.exists()` to ask whether something is there".into()
            }
            Self::NotOperand { .. } => {
                "a missing value is not false here: write `… !== true` or `… == null`".into()
            }
            Self::LogicOperand { operator, found, .. } => logic(*operator, *found),
            Self::Condition { found } => {
                format!("{found} is neither true nor false; compare it, as in `… != null`")
            }
            Self::EqualityOperand { operator, found, .. } => equality(*operator, *found),
            Self::OrderOperand { found, .. } | Self::PlusOperand { found, .. } => operand(*found)?.into(),
            Self::ArithmeticOperand { found, .. } | Self::NegateOperand { found } => operand(*found)?.into(),
            Self::InvalidIndex { found: Type::Snapshot } => {
                "write `.child(…)` to go down by a computed key".into()
            }
            Self::InvalidIndex { found: Type::Value } => {
                "a value has no members; write `.child(…).val()` instead of `.val()[…]`".into()
            }
            Self::NotAnObject { found: Type::QueryValue } => {
                "a value of the query can only be compared".into()
            }
            Self::NotAFunction { name: Some(name) } if name == "length" => {
                "`length` is used without `()`".into()
            }
            Self::NotAFunction { .. } => "only methods of snapshots and texts can be called".into(),
            Self::ExpectsText { .. } | Self::ReplaceArgument { .. } | Self::HasChildrenElement { .. } => {
                "numbers become texts by adding one, as in `now + ''`; snapshots need `.val()`".into()
            }
            Self::MatchesArgument { .. } => {
                "write the pattern between slashes, as in `.matches(/^[a-z]+$/)`".into()
            }
            Self::HasChildrenArgument { .. } | Self::HasChildrenCount => {
                "write the names as a list, as in `.hasChildren(['title', 'owner'])`".into()
            }
            Self::UnexpectedArray => "a list can only be the argument of `hasChildren`".into(),
            Self::Branch { found: Type::Regex } => {
                "a pattern is for `matches`; put the `?` around the whole call".into()
            }
            Self::Branch { .. } => "call it: `()` is missing".into(),
            Self::NewDataInRead => "a read changes nothing; `data` is what is there".into(),
            Self::Assignment => "write `==` to compare".into(),
            Self::Comment => "put the comment outside of the quotes".into(),
            Self::UnclosedBracket { bracket: '[' } => "add the missing `]`".into(),
            Self::UnclosedBracket { .. } => "add the missing `)`".into(),
            Self::UnclosedString => "a text ends with the quote that it begins with, on the same line".into(),
            Self::EmptyExpression => "write `false` to grant nothing".into(),
            Self::RegexFlags => "flags such as g and m have no use here; leave them out".into(),
            Self::MissingRules => "a ruleset is one object: `{\"rules\": { … }}`".into(),
            Self::InvalidEscape { ch } => format!("a backslash of an expression is doubled here: `\\\\{ch}`"),
            Self::MultipleCaptures { first, .. } => {
                format!("one `$` node stands for every other key; put both sets of rules below `{first}`")
            }
            Self::RepeatedCapture { .. } => "give each level a name of its own".into(),
            Self::DuplicateMember { .. } => "merge the two; only one can count".into(),
            Self::InvalidIndexOn | Self::InvalidIndexPath { .. } => {
                "write names of children, paths below them or `.value`, as in `[\"topic\", \"meta/created\"]`"
                    .into()
            }
            Self::PatternsTooLarge => "use smaller counts in braces, or `length` to bound a text".into(),
            Self::DocumentTooLong { .. }
            | Self::DocumentTooNested
            | Self::Syntax { .. }
            | Self::Unclosed { .. }
            | Self::UnclosedText
            | Self::UnclosedComment
            | Self::DoubleComma
            | Self::SingleQuotes
            | Self::BareKey { .. }
            | Self::LoneSurrogate
            | Self::ControlCharacter { .. }
            | Self::UnexpectedMember { .. }
            | Self::InvalidRule
            | Self::InvalidKey { .. }
            | Self::UnclosedRegex
            | Self::InvalidCodeEscape { .. }
            | Self::ExpressionTooNested
            | Self::NotAnObject { .. }
            | Self::InvalidIndex { .. }
            | Self::ExpectsNoArguments { .. }
            | Self::ExpectsOneArgument { .. }
            | Self::ReplaceCount
            | Self::MatchesCount => return None,
        })
    }
}

fn unexpected(found: &str) -> Option<String> {
    Some(match found.trim_matches('`') {
        "and" => "write `&&`".into(),
        "or" => "write `||`".into(),
        "not" => "write `!`".into(),
        ";" => "a rule is one expression; join conditions with `&&`".into(),
        "&" | "|" => "logic is written `&&` and `||`; there are no bit operators".into(),
        "in" => "write `.hasChild(…)` or `.contains(…)`".into(),
        "auth" => "there is no `typeof`; snapshots have `isString()`, `isNumber()` and `isBoolean()`".into(),
        "{" => "a rule is one expression; there are no functions".into(),
        "+" => "numbers need no sign; `++` does not exist".into(),
        _ => return None,
    })
}

fn forbidden_key(key: &str) -> String {
    if key.starts_with('.') {
        "rules are called `.read`, `.write`, `.validate` and `.indexOn`".into()
    } else if key.contains('/') {
        "write one object per level instead of a path".into()
    } else {
        "data cannot have such a key, so no rule can be for it".into()
    }
}

fn expected_object(key: &str) -> String {
    if key.starts_with('.') {
        "rules are called `.read`, `.write`, `.validate` and `.indexOn`; any other name is a child".into()
    } else if matches!(key, "read" | "write" | "validate" | "indexOn") {
        format!("the name of a rule begins with a dot: `.{key}`")
    } else {
        "a child holds rules in braces; comments are written `// …`".into()
    }
}

fn no_such_member(name: &str, on: Type) -> Option<String> {
    Some(match (on, name) {
        (_, "numChildren") => "children cannot be counted; keep a counter in the data".into(),
        (_, "startsWith") => "it is called `beginsWith`".into(),
        (_, "includes" | "indexOf") => "it is called `contains`".into(),
        (_, "test" | "match") => "it is called `matches`".into(),
        (Type::Snapshot, "contains" | "beginsWith" | "endsWith" | "matches" | "length" | "replace") => {
            format!("texts have that; write `.val().{name}` to get the text first")
        }
        (Type::Snapshot, _) => format!("write `.child('{name}')` to go to a child"),
        (Type::Value, "exists" | "hasChild" | "hasChildren" | "child" | "parent") => {
            format!("snapshots have that; leave out `.val()` before `.{name}`")
        }
        (Type::Value, _) => {
            format!("a value has no members; write `.child('{name}').val()` instead of `.val().{name}`")
        }
        (Type::Query, "startAfter" | "endBefore") => "rules see such a bound as `startAt` or `endAt`".into(),
        (Type::String, "val") => "a `$variable` is a text already".into(),
        _ => return None,
    })
}

fn unknown_variable(name: &str) -> Option<String> {
    Some(match name {
        "request" | "resource" => "that is the language of another product; write `auth` or `newData`".into(),
        "user" => "write `auth`".into(),
        "undefined" => "write `null`".into(),
        "this" => "write `data` or `newData`".into(),
        "typeof" | "function" | "var" | "let" | "const" => {
            "a rule is one expression, without statements".into()
        }
        _ if name.starts_with('$') => format!("`{name}` is known only at its own node and below"),
        _ => "there are `auth`, `now`, `root`, `data`, `newData`, `query` and the `$variables` of the path"
            .into(),
    })
}

const fn pattern(mistake: &PatternMistake) -> Option<&'static str> {
    Some(match mistake {
        PatternMistake::StartAnchor | PatternMistake::EndAnchor => {
            "put the alternatives in a group between the anchors, as in `/^(a|b)$/`, or escape the character"
        }
        PatternMistake::EmptyAlternative => "make the whole group optional with `?`",
        PatternMistake::SpecialGroup => "write a plain group `( )`, or `\\\\?` for a question mark",
        PatternMistake::Braces => "write `\\\\{` for a brace",
        PatternMistake::TooLarge | PatternMistake::BracesTooLarge => "bound the text with `length` instead",
        PatternMistake::NothingToRepeat(_) => "escape the character with a backslash",
        PatternMistake::BracesOrder
        | PatternMistake::UnclosedGroup
        | PatternMistake::UnopenedGroup
        | PatternMistake::UnclosedSet
        | PatternMistake::EmptySet
        | PatternMistake::RangeOrder(..)
        | PatternMistake::RangeOfClass
        | PatternMistake::TrailingBackslash
        | PatternMistake::TooManyRepeats
        | PatternMistake::TooNested => return None,
    })
}

fn rule_not_boolean(found: Type) -> String {
    if found == Type::Snapshot {
        "write `.exists()` to ask whether something is there".into()
    } else if found == Type::Auth {
        "compare it, as in `auth != null` or `… == true`".into()
    } else {
        format!("this is {found}; compare it, as in `… == true`")
    }
}

fn logic(operator: Logic, found: Type) -> String {
    if found == Type::Snapshot {
        format!("write `.exists()`; {operator} takes only true and false")
    } else if found == Type::Auth {
        format!("write `… != null` or `… == true`; {operator} takes only true and false")
    } else {
        format!("this is {found}; compare it, as in `… == true`")
    }
}

fn equality(operator: Binary, found: Type) -> String {
    if found == Type::Snapshot {
        format!(
            "write `.val() {operator} …` to compare the value, or `.exists()` to ask whether something is there"
        )
    } else if found == Type::Method {
        "call the method: add `()`".into()
    } else if found == Type::Query {
        "compare one of its properties, such as `query.limitToFirst`".into()
    } else {
        format!("{found} cannot be compared")
    }
}

const fn operand(found: Type) -> Option<&'static str> {
    match found {
        Type::Snapshot => Some("write `.val()` to get the value of a snapshot"),
        Type::Method => Some("call the method: add `()`"),
        Type::String => Some("a text is never converted to a number"),
        Type::Null => Some("ask for null with `== null`"),
        Type::Boolean => Some("true and false can only be compared with `==` and `!=`"),
        Type::Number
        | Type::Regex
        | Type::Array
        | Type::Value
        | Type::Auth
        | Type::Query
        | Type::QueryValue
        | Type::Mixed
        | Type::Broken => None,
    }
}
