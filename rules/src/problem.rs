//! Everything that can be wrong with rules, in the words of the service where these are known (rules reference 1.2,
//! 2.2 and 2.3), in ours elsewhere.

use crate::ast::{Binary, Logic};
use crate::limits::{
    DOCUMENT_BYTES_MAX, DOCUMENT_NESTING_MAX, EXPRESSION_NESTING_MAX, PATTERN_BYTES_MAX, PATTERN_NESTING_MAX,
    PATTERN_REPEAT_MAX, PATTERNS_WEIGHT_MAX, REPEATS_MAX,
};
use crate::types::Type;
use hearth_tree::{KeyError, PathError};

/// One kind of mistake.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(
    missing_docs,
    reason = "the message of each variant says what it is, its fields are the words in the message"
)]
pub enum Problem {
    // The document as JSON.
    #[error("the document has {bytes} bytes; at most {DOCUMENT_BYTES_MAX} are allowed")]
    DocumentTooLong { bytes: usize },
    #[error("Parse error: objects and lists are nested more than {DOCUMENT_NESTING_MAX} levels deep")]
    DocumentTooNested,
    #[error("Parse error: expected {expected}, found {found}.")]
    Syntax { expected: &'static str, found: String },
    #[error("Parse error: this is never closed; expected `{close}` before the end of the document.")]
    Unclosed { close: char },
    #[error("Parse error: this text is never closed.")]
    UnclosedText,
    #[error("Parse error: this comment is never closed.")]
    UnclosedComment,
    #[error("Parse error: two commas with nothing between them.")]
    DoubleComma,
    #[error("Parse error: keys and texts stand in double quotes.")]
    SingleQuotes,
    #[error("Parse error: key `{name}` needs double quotes.")]
    BareKey { name: String },
    #[error("Parse error: `\\{ch}` is no escape of JSON.")]
    InvalidEscape { ch: char },
    #[error("Parse error: half of a surrogate pair stands alone.")]
    LoneSurrogate,
    #[error("Parse error: a text cannot hold the control character U+{code:04X}.")]
    ControlCharacter { code: u32 },
    #[error("Parse error: member `{name}` is already there in this object.")]
    DuplicateMember { name: String },

    // The document as rules.
    #[error("Expected 'rules' property.")]
    MissingRules,
    #[error("Unexpected property '{name}': only 'rules' can stand here.")]
    UnexpectedMember { name: String },
    #[error("Expected '{{'.")]
    ExpectedObject { key: String },
    #[error("Invalid rule expression.  Expected 'true', 'false', or an expression string.")]
    InvalidRule,
    #[error("Invalid indexOn expression. Must be either a string or an array of strings")]
    InvalidIndexOn,
    #[error("Invalid indexOn expression: {error}")]
    InvalidIndexPath { error: PathError },
    #[error(r##"String can't contain ".", "#", "$", "/", "[", or "]""##)]
    ForbiddenInKey { key: String },
    #[error("{error}")]
    InvalidKey { error: KeyError },
    #[error("Cannot have multiple default rules ('{first}' and '{second}').")]
    MultipleCaptures { first: String, second: String },
    #[error("Variable '{name}' is already declared by a node above this one.")]
    RepeatedCapture { name: String },

    // An expression as a sequence of signs.
    #[error("Expression is empty.")]
    EmptyExpression,
    #[error("Expected {expected}, found {found}.")]
    Unexpected { expected: &'static str, found: String },
    #[error("Rule expressions may not contain assignments.")]
    Assignment,
    #[error("Rule expressions may not contain comments.")]
    Comment,
    #[error("'{bracket}' is never closed.")]
    UnclosedBracket { bracket: char },
    #[error("String literal is never closed.")]
    UnclosedString,
    #[error("Regular expression literal is never closed.")]
    UnclosedRegex,
    #[error("'\\{ch}' needs {digits} hexadecimal digits.")]
    InvalidCodeEscape { ch: char, digits: usize },
    #[error("Expression is nested more than {EXPRESSION_NESTING_MAX} levels deep.")]
    ExpressionTooNested,

    // A pattern.
    #[error("regular expressions do not support flags other than i")]
    RegexFlags,
    #[error("Illegal regular expression: {mistake}.")]
    Pattern { mistake: PatternMistake },

    #[error(
        "the regular expressions of these rules are too large: all together they may have {PATTERNS_WEIGHT_MAX} parts, repeats counted as often as they may repeat"
    )]
    PatternsTooLarge,

    // Types.
    #[error("Expression must evaluate to a boolean.")]
    RuleNotBoolean { found: Type },
    #[error("! only operates on booleans.")]
    NotOperand { found: Type },
    #[error("- only operates on numbers.")]
    NegateOperand { found: Type },
    #[error("{side} operand of {operator} must be boolean.")]
    LogicOperand { side: Side, operator: Logic, found: Type },
    #[error("condition of ? must be boolean.")]
    Condition { found: Type },
    #[error("a branch of ? cannot be {found}.")]
    Branch { found: Type },
    #[error("Invalid {} expression: {} operand is not a number, boolean, string, {}.", .operator.reported(), .side.lower(), or_null(*.operator, *.side))]
    EqualityOperand { side: Side, operator: Binary, found: Type },
    #[error("Invalid {operator} expression: {} operand must be a number or string.", .side.lower())]
    OrderOperand { side: Side, operator: Binary, found: Type },
    #[error("Invalid + expression: {} operand is not a number or string.", .side.lower())]
    PlusOperand { side: Side, found: Type },
    #[error("Invalid {operator} expression: {} operand is not a number.", .side.lower())]
    ArithmeticOperand { side: Side, operator: Binary, found: Type },
    #[error("Unexpected array literal.")]
    UnexpectedArray,
    #[error("Unknown variable '{name}'.")]
    UnknownVariable { name: String },
    #[error("newData is invalid in .read expressions.")]
    NewDataInRead,
    #[error("No such method/property '{name}'.")]
    NoSuchMember { name: String, on: Type },
    #[error("Invalid property access: target is not an object.")]
    NotAnObject { found: Type },
    #[error("Invalid property access.")]
    InvalidIndex { found: Type },
    #[error("Type error: Function call on target that is not a function.")]
    NotAFunction { name: Option<String> },
    #[error("{method}() expects no arguments.")]
    ExpectsNoArguments { method: &'static str },
    #[error("{method}() expects 1 argument.")]
    ExpectsOneArgument { method: &'static str },
    #[error("{method}() expects a string argument.")]
    ExpectsText { method: &'static str, found: Type },
    #[error("replace() expects two arguments.")]
    ReplaceCount,
    #[error("Argument {position} of replace() must be a string.")]
    ReplaceArgument { position: usize, found: Type },
    #[error("matches() expects 1 regular expression literal argument.")]
    MatchesCount,
    #[error("matches() expects a regular expression literal argument.")]
    MatchesArgument { found: Type },
    #[error("hasChildren() expects only a single argument (containing an array of child names).")]
    HasChildrenCount,
    #[error("hasChildren() expects an array of child names.")]
    HasChildrenArgument { found: Type },
    #[error("hasChildren() expects an array of strings.")]
    HasChildrenElement { found: Type },
}

/// Which operand of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "nothing beyond the names")]
pub enum Side {
    Left,
    Right,
}

impl Side {
    const fn lower(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Left => "Left",
            Self::Right => "Right",
        })
    }
}

/// The end of the complaint about an operand of `==` or `!=`: the service's texts for the sides differ.
const fn or_null(operator: Binary, side: Side) -> &'static str {
    let is_equality = matches!(operator, Binary::Equal | Binary::StrictEqual);
    if is_equality && matches!(side, Side::Left) { "null" } else { "or null" }
}

/// What is wrong inside a regular expression.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the message of each variant says what it is")]
pub enum PatternMistake {
    #[error("an alternative is empty")]
    EmptyAlternative,
    #[error("'^' can only be the first character of the whole pattern")]
    StartAnchor,
    #[error("'$' can only be the last character of the whole pattern")]
    EndAnchor,
    #[error("'{0}' has nothing before it to repeat")]
    NothingToRepeat(char),
    #[error("'{{' must be followed by a count, as in {{3}}, {{3,}} or {{3,5}}")]
    Braces,
    #[error("the counts in braces are in the wrong order")]
    BracesOrder,
    #[error("a count in braces is at most {PATTERN_REPEAT_MAX}")]
    BracesTooLarge,
    #[error("a group '(' is never closed")]
    UnclosedGroup,
    #[error("')' closes no group")]
    UnopenedGroup,
    #[error("'(?' is not supported: there are no special groups")]
    SpecialGroup,
    #[error("a set '[' is never closed")]
    UnclosedSet,
    #[error("a set without characters matches nothing")]
    EmptySet,
    #[error("the range '{0}-{1}' in a set is in the wrong order")]
    RangeOrder(char, char),
    #[error("a class such as \\d cannot be an end of a range")]
    RangeOfClass,
    #[error("it ends with a backslash")]
    TrailingBackslash,
    #[error("groups are nested more than {PATTERN_NESTING_MAX} levels deep")]
    TooNested,
    #[error("more than {REPEATS_MAX} repeats follow each other")]
    TooManyRepeats,
    #[error("compiled it would take more than {PATTERN_BYTES_MAX} bytes")]
    TooLarge,
}
