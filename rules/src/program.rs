//! An expression made ready to run: a list of operations on a stack.
//!
//! Why not the tree itself: running it is then a loop too, and what can be known before (names, patterns, where to go on
//! when a side is not needed) is looked up once. Because an [`Ast`] has every part behind its operands, the operations
//! are its parts in the same order, with jumps in between.

use crate::ast::{Ast, Binary, ExprId, ExprKind, Logic};
use crate::check::Checked;
use crate::pattern::Pattern;
use crate::question::Standpoint;
use crate::short::{Short, shorten};
use crate::types::{Capture, Method, QueryProperty, Type, Variable};
use hearth_tree::{Key, RelativePath};

/// A rule's expression, ready to run.
#[derive(Debug)]
pub(crate) struct Program {
    /// All of it, part by part.
    pub(crate) steps: Vec<Step>,
    /// The same for when nobody watches.
    pub(crate) shorts: Vec<Short>,
}

/// One operation, and the part of the expression whose value it makes or works on.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) part: ExprId,
}

#[derive(Debug)]
pub(crate) enum Action {
    /// Makes a value of those on the stack.
    Compute(Op),
    /// Decides where to go on.
    Go(Jump),
}

#[derive(Debug)]
pub(crate) enum Op {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    Variable(Variable),
    /// A member of auth.
    Member(String),
    /// A member of auth by a computed name.
    Index,
    QueryProperty(QueryProperty),
    Length,
    /// Any method but the next ones.
    Call(Method),
    /// `child` with a literal path, by far the most frequent call: its keys are read once.
    Descend(Vec<Key>),
    Matches(Pattern),
    /// The names are on the stack; none given is a question of its own.
    HasChildren(Option<usize>),
    Not,
    Negate,
    Binary(Binary),
    /// Where `&&`, `||` and `?:` have their value, whichever side it came from.
    Settle,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Jump {
    /// Behind the left side of `&&` or `||`: goes to `settled` if it decides, else drops it.
    Decide { logic: Logic, settled: usize },
    /// Behind a condition: goes to `otherwise` unless it holds.
    Branch { otherwise: usize },
    /// Behind the branch of a condition that holds.
    Always { settled: usize },
}

/// A jump whose aim is a part of the expression.
enum Pending {
    Decide(Logic, ExprId),
    /// Aims at the operation behind its own condition's other branch.
    Branch {
        behind: ExprId,
    },
    Always(ExprId),
}

impl Program {
    /// Lowers an expression that was found to be in order, of a node that so many levels deep.
    pub(crate) fn lower(ast: &Ast, checked: &mut Checked, captures: &[Capture], depth: usize) -> Self {
        let (mut jumps, is_absorbed) = jumps(ast);
        let mut steps: Vec<Step> = Vec::with_capacity(ast.len());
        // For each part, the operation that gives it its value, and the first one behind it.
        let mut begins = vec![0; ast.len()];
        let mut ends = vec![0; ast.len()];
        let mut unaimed: Vec<(usize, Pending)> = Vec::new();
        for (part, expr) in ast.iter() {
            begins[part.index()] = steps.len();
            if !is_absorbed[part.index()] {
                let op = lowered(ast, &expr.kind, checked, captures);
                steps.extend(op.map(|op| Step { action: Action::Compute(op), part }));
            }
            if let Some(jump) = jumps[part.index()].take() {
                unaimed.push((steps.len(), jump));
                // Stands in until every part has its place.
                steps.push(Step { action: Action::Compute(Op::Settle), part });
            }
            ends[part.index()] = steps.len();
        }
        for (at, jump) in unaimed {
            steps[at].action = Action::Go(match jump {
                Pending::Decide(logic, whole) => Jump::Decide { logic, settled: begins[whole.index()] },
                Pending::Branch { behind } => Jump::Branch { otherwise: ends[behind.index()] },
                Pending::Always(whole) => Jump::Always { settled: begins[whole.index()] },
            });
        }
        let shorts = shorten(&steps, &Standpoint { ast, types: &checked.types, captures, depth });
        Self { steps, shorts }
    }

    /// The part that is the whole expression.
    pub(crate) fn whole(&self) -> ExprId {
        self.steps.last().map_or(ExprId(0), |step| step.part)
    }
}

/// Behind which parts a jump stands, and which parts are only looked at by the operation of another: methods, and
/// literal paths.
fn jumps(ast: &Ast) -> (Vec<Option<Pending>>, Vec<bool>) {
    let mut jumps: Vec<Option<Pending>> = (0..ast.len()).map(|_| None).collect();
    let mut is_absorbed = vec![false; ast.len()];
    for (part, expr) in ast.iter() {
        match &expr.kind {
            ExprKind::Logic { operator, left, .. } => {
                jumps[left.index()] = Some(Pending::Decide(*operator, part));
            }
            ExprKind::Conditional { condition, then, .. } => {
                jumps[condition.index()] = Some(Pending::Branch { behind: *then });
                jumps[then.index()] = Some(Pending::Always(part));
            }
            ExprKind::Call { callee, arguments } => {
                is_absorbed[callee.index()] = true;
                if literal_path(ast, *callee, arguments).is_some() {
                    is_absorbed[arguments[0].index()] = true;
                }
            }
            ExprKind::Boolean(_)
            | ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Null
            | ExprKind::Regex { .. }
            | ExprKind::Name(_)
            | ExprKind::List(_)
            | ExprKind::Member { .. }
            | ExprKind::Index { .. }
            | ExprKind::Not(_)
            | ExprKind::Negate(_)
            | ExprKind::Binary { .. } => {}
        }
    }
    (jumps, is_absorbed)
}

/// The keys that a call of `child` goes down by, if they are written out.
fn literal_path(ast: &Ast, callee: ExprId, arguments: &[ExprId]) -> Option<Vec<Key>> {
    let ExprKind::Member { name, .. } = &ast.get(callee).kind else { return None };
    let ([argument], true) = (arguments, name == Method::Child.name()) else { return None };
    let ExprKind::Text(path) = &ast.get(*argument).kind else { return None };
    let keys = RelativePath::parse(path).ok()?;
    // A path without keys names no child, which is for the general case to say.
    (!keys.is_here()).then(|| keys.keys().to_vec())
}

/// The operation for one part; none for what only an operation further on looks at.
fn lowered(ast: &Ast, kind: &ExprKind, checked: &mut Checked, captures: &[Capture]) -> Option<Op> {
    Some(match kind {
        ExprKind::Regex { .. } | ExprKind::List(_) => return None,
        ExprKind::Null => Op::Null,
        ExprKind::Boolean(value) => Op::Bool(*value),
        ExprKind::Number(number) => Op::Number(*number),
        ExprKind::Text(text) => Op::Text(text.clone()),
        ExprKind::Name(name) => {
            Op::Variable(Variable::parse(name, captures).expect("unknown names are refused"))
        }
        ExprKind::Member { target, name, .. } => member(name, checked.types[target.index()]),
        ExprKind::Index { .. } => Op::Index,
        ExprKind::Call { callee, arguments } => call(ast, *callee, arguments, checked),
        ExprKind::Not(_) => Op::Not,
        ExprKind::Negate(_) => Op::Negate,
        ExprKind::Binary { operator, .. } => Op::Binary(*operator),
        ExprKind::Logic { .. } | ExprKind::Conditional { .. } => Op::Settle,
    })
}

/// A member that is no method.
fn member(name: &str, on: Type) -> Op {
    match (on, QueryProperty::parse(name)) {
        (Type::Query, Some(property)) => Op::QueryProperty(property),
        (Type::Auth, _) => Op::Member(name.into()),
        _ => Op::Length,
    }
}

fn call(ast: &Ast, callee: ExprId, arguments: &[ExprId], checked: &mut Checked) -> Op {
    let ExprKind::Member { target, name, .. } = &ast.get(callee).kind else {
        unreachable!("only members are called, as was checked")
    };
    let method = Method::parse(name, checked.types[target.index()]).expect("unknown methods are refused");
    match (method, arguments) {
        (Method::Child, arguments) => {
            literal_path(ast, callee, arguments).map_or(Op::Call(method), Op::Descend)
        }
        (Method::Matches, [pattern]) => Op::Matches(
            checked.patterns.remove(pattern).expect("every pattern is compiled when it is checked"),
        ),
        (Method::HasChildren, []) => Op::HasChildren(None),
        (Method::HasChildren, [list, ..]) => {
            let ExprKind::List(names) = &ast.get(*list).kind else {
                unreachable!("only a list is accepted, as was checked")
            };
            Op::HasChildren(Some(names.len()))
        }
        _ => Op::Call(method),
    }
}
