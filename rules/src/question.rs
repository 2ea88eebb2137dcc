//! What rules ask most: a question to the data, a claim, a literal, each found in one go instead of part by part.
//!
//! Why beside the list of operations: most of a rule is `root.child('a').child($b).exists()` and comparisons of such
//! things with something simple. Going there part by part, with a value on the stack for each, costs several times as
//! much as the question itself. What is recognized here is known when the rules are read; everything else stays what it
//! is. It is paid for as its parts are, in the same order, so that a verdict is the same whether it is watched or not.

use crate::ast::{Ast, ExprId, ExprKind};
use crate::budget::scan_steps;
use crate::limits::RULE_PATH_BYTES_MAX;
use crate::place::When;
use crate::types::{Capture, Method, Type, Variable};
use hearth_tree::{Key, RelativePath};
use std::mem;

/// Something that is looked up and never fails: only a question can.
#[derive(Debug)]
pub(crate) enum Operand {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    /// `auth`, or what these names lead to from there.
    Claim(Vec<String>),
    Now,
    Capture(usize),
    Question(Box<Question>),
}

/// A place, and what is asked about it.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) way: Way,
    pub(crate) ask: Ask,
    /// What the asking costs.
    pub(crate) steps: u64,
}

/// A way to a place: from a node above or at the rule's own, down.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) when: When,
    /// How deep the node is that it begins at.
    pub(crate) level: usize,
    /// What the way to there costs.
    pub(crate) steps: u64,
    pub(crate) down: Vec<Down>,
}

/// One step down, and what it costs.
#[derive(Debug)]
pub(crate) struct Down {
    pub(crate) by: By,
    pub(crate) steps: u64,
}

#[derive(Debug)]
pub(crate) enum By {
    Key(Key),
    /// The key that a `$name` stands for, scanned for a fee.
    Capture(usize),
    /// The path in a claim, which may be no text.
    Claim(Vec<String>, Method),
}

#[derive(Debug)]
pub(crate) enum Ask {
    Val,
    /// The length of the value, which costs one step more behind it.
    Length,
    Priority,
    Exists,
    /// `isNumber` and so on.
    Is(Method),
    HasChildren,
    /// All of these, each with what looking for it costs.
    HasAll(Vec<(Key, u64)>),
}

/// What a part was recognized as.
#[derive(Debug, Default)]
pub(crate) enum Form {
    /// Something else, or a part of what comes later.
    #[default]
    Other,
    Way(Way),
    Operand(Operand),
}

impl Form {
    /// The operand, if it is one.
    pub(crate) fn take_operand(&mut self) -> Option<Operand> {
        match mem::take(self) {
            Self::Operand(operand) => Some(operand),
            form @ (Self::Other | Self::Way(_)) => {
                *self = form;
                None
            }
        }
    }
}

/// Where an expression stands.
pub(crate) struct Standpoint<'a> {
    pub(crate) ast: &'a Ast,
    pub(crate) types: &'a [Type],
    pub(crate) captures: &'a [Capture],
    /// How deep the rule's node is.
    pub(crate) depth: usize,
}

impl Operand {
    /// Whether it comes to true or false, so that it can decide alone.
    pub(crate) const fn is_boolean(&self) -> bool {
        match self {
            Self::Bool(_) => true,
            Self::Question(question) => match question.ask {
                Ask::Exists | Ask::Is(_) | Ask::HasChildren | Ask::HasAll(_) => true,
                Ask::Val | Ask::Length | Ask::Priority => false,
            },
            Self::Null | Self::Number(_) | Self::Text(_) | Self::Claim(_) | Self::Now | Self::Capture(_) => {
                false
            }
        }
    }
}

/// What each part is, if it is one of these, without those that are within another. One loop: operands come first.
pub(crate) fn recognize(at: &Standpoint<'_>) -> Vec<Form> {
    let mut forms: Vec<Form> = Vec::with_capacity(at.ast.len());
    let mut is_called = vec![false; at.ast.len()];
    for (_, expr) in at.ast.iter() {
        if let ExprKind::Call { callee, .. } = expr.kind {
            is_called[callee.index()] = true;
        }
    }
    for (part, expr) in at.ast.iter() {
        let form = match &expr.kind {
            ExprKind::Null => Form::Operand(Operand::Null),
            ExprKind::Boolean(value) => Form::Operand(Operand::Bool(*value)),
            ExprKind::Number(number) => Form::Operand(Operand::Number(*number)),
            ExprKind::Text(text) => Form::Operand(Operand::Text(text.clone())),
            ExprKind::Name(name) => at.variable(name),
            ExprKind::Member { .. } if is_called[part.index()] => Form::Other,
            ExprKind::Member { target, name, .. } => at.member(&mut forms, *target, name),
            ExprKind::Call { callee, arguments } => at.call(&mut forms, *callee, arguments),
            ExprKind::Regex { .. }
            | ExprKind::List(_)
            | ExprKind::Index { .. }
            | ExprKind::Not(_)
            | ExprKind::Negate(_)
            | ExprKind::Binary { .. }
            | ExprKind::Logic { .. }
            | ExprKind::Conditional { .. } => Form::Other,
        };
        forms.push(form);
    }
    forms
}

impl Standpoint<'_> {
    fn variable(&self, name: &str) -> Form {
        let way = |when, level| Form::Way(Way { when, level, steps: 1, down: Vec::new() });
        match Variable::parse(name, self.captures) {
            Some(Variable::Auth) => Form::Operand(Operand::Claim(Vec::new())),
            Some(Variable::Now) => Form::Operand(Operand::Now),
            Some(Variable::Capture(depth)) => Form::Operand(Operand::Capture(depth)),
            Some(Variable::Root) => way(When::Before, 0),
            Some(Variable::Data) => way(When::Before, self.depth),
            Some(Variable::NewData) => way(When::After, self.depth),
            Some(Variable::Query) | None => Form::Other,
        }
    }

    /// A member that is no method: of auth, or the length of a value.
    fn member(&self, forms: &mut [Form], target: ExprId, name: &str) -> Form {
        match (mem::take(&mut forms[target.index()]), self.types[target.index()]) {
            (Form::Operand(Operand::Claim(mut names)), Type::Auth) => {
                names.push(name.into());
                Form::Operand(Operand::Claim(names))
            }
            (Form::Operand(Operand::Question(mut question)), Type::Value)
                if matches!(question.ask, Ask::Val) && name == "length" =>
            {
                question.ask = Ask::Length;
                Form::Operand(Operand::Question(question))
            }
            (form, _) => {
                forms[target.index()] = form;
                Form::Other
            }
        }
    }

    fn call(&self, forms: &mut [Form], callee: ExprId, arguments: &[ExprId]) -> Form {
        let ExprKind::Member { target, name, .. } = &self.ast.get(callee).kind else { return Form::Other };
        let target = target.index();
        let Form::Way(_) = &forms[target] else { return Form::Other };
        let Some(method) = Method::parse(name, Type::Snapshot) else { return Form::Other };
        let Form::Way(mut way) = mem::take(&mut forms[target]) else { return Form::Other };
        let ask = match (method, arguments) {
            (Method::Parent, []) if way.down.is_empty() && way.level != 0 => {
                return Form::Way(Way { level: way.level - 1, steps: way.steps + 1, ..way });
            }
            (Method::Child, [path]) if self.goes_down(forms, &mut way, *path, method) => {
                return Form::Way(way);
            }
            (Method::HasChild, [path]) if self.goes_down(forms, &mut way, *path, method) => {
                Some((Ask::Exists, 0))
            }
            (Method::Val, []) => Some((Ask::Val, 1)),
            (Method::Exists, []) => Some((Ask::Exists, 1)),
            (Method::GetPriority, []) => Some((Ask::Priority, 1)),
            (Method::IsNumber | Method::IsString | Method::IsBoolean, []) => Some((Ask::Is(method), 1)),
            (Method::HasChildren, []) => Some((Ask::HasChildren, 1)),
            (Method::HasChildren, [list]) => self.has_all(forms, *list),
            _ => None,
        };
        match ask {
            Some((ask, steps)) => Form::Operand(Operand::Question(Box::new(Question { way, ask, steps }))),
            None => {
                forms[target] = Form::Way(way);
                Form::Other
            }
        }
    }

    /// Adds what leads down by the argument of a call, if that is simple enough.
    fn goes_down(&self, forms: &mut [Form], way: &mut Way, argument: ExprId, method: Method) -> bool {
        let form = &mut forms[argument.index()];
        match mem::take(form) {
            Form::Operand(Operand::Text(text)) => {
                // Neither what is no path nor what is longer than any is worth a shortcut.
                let path = RelativePath::parse(&text).unwrap_or_default();
                let leads_down = !path.is_here() && text.len() <= RULE_PATH_BYTES_MAX;
                // The path of a `child` is read beforehand, that of a `hasChild` costs what any text does.
                if !leads_down {
                    *form = Form::Operand(Operand::Text(text));
                    return false;
                }
                let mut steps = if method == Method::Child { 1 } else { 2 + scan_steps(&text) };
                way.down.extend(
                    path.keys()
                        .iter()
                        .map(|key| Down { by: By::Key(key.clone()), steps: mem::take(&mut steps) }),
                );
                true
            }
            Form::Operand(Operand::Capture(depth)) => {
                way.down.push(Down { by: By::Capture(depth), steps: 2 });
                true
            }
            Form::Operand(Operand::Claim(names)) => {
                let steps = 2 + names.len() as u64;
                way.down.push(Down { by: By::Claim(names, method), steps });
                true
            }
            kept @ (Form::Other
            | Form::Way(_)
            | Form::Operand(
                Operand::Null | Operand::Bool(_) | Operand::Number(_) | Operand::Now | Operand::Question(_),
            )) => {
                *form = kept;
                false
            }
        }
    }

    /// A list of names that are written out and lead one level down.
    fn has_all(&self, forms: &mut [Form], list: ExprId) -> Option<(Ask, u64)> {
        let ExprKind::List(elements) = &self.ast.get(list).kind else { return None };
        let name = |element: &ExprId| {
            let Form::Operand(Operand::Text(name)) = &forms[element.index()] else { return None };
            Some((Key::parse(name).ok()?, scan_steps(name)))
        };
        let names: Vec<_> = elements.iter().map(name).collect::<Option<_>>()?;
        for element in elements {
            forms[element.index()] = Form::Other;
        }
        let steps = 1 + names.len() as u64;
        Some((Ask::HasAll(names), steps))
    }
}
