//! A program made short, for when nobody watches: questions asked in one go, and every answer with where it leads.
//!
//! Why two programs: who watches (a trace, coverage) wants the value of every part, and a verdict only needs the last.
//! Both cost the same steps and come to the same, which the tests and fuzz targets hold them to.

use crate::ast::{Ast, Binary, ExprKind, Logic};
use crate::program::{Action, Jump, Op, Step};
use crate::question::{Form, Operand, Standpoint, recognize};
use crate::types::Type;
use std::mem;

/// One thing to do.
#[derive(Debug)]
pub(crate) enum Short {
    /// What an operation of the whole program does.
    Compute(usize),
    /// Puts something on the stack.
    Push(Operand),
    /// Decides where to go on.
    Go(Jump),
    /// Finds out whether something holds, and where that leads: first if not, then if so.
    Test(Test, [Outcome; 2]),
}

#[derive(Debug)]
pub(crate) enum Test {
    Operand(Operand),
    /// Both sides; a left one that is none is on the stack.
    Compare(Binary, Option<Operand>, Operand),
    /// What an operation of the whole program comes to.
    Compute(usize),
}

/// Where true or false leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// What the operations on the way there cost.
    pub(crate) steps: u64,
    pub(crate) next: Next,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// It is what the whole comes to.
    End(bool),
    /// Goes on there.
    At(usize),
    /// Goes on there with it on the stack.
    With(bool, usize),
}

/// What is done for one part of the expression.
enum Plan {
    /// What the whole program does.
    Whole,
    /// Nothing: it is within another one's.
    Within,
    Operand(Operand),
    Compare(Binary, Option<Operand>, Operand),
}

/// Makes a program short.
pub(crate) fn shorten(steps: &[Step], at: &Standpoint<'_>) -> Vec<Short> {
    let mut plans = plans(at);
    let leads = leads(steps);
    let mut shorts: Vec<Short> = Vec::new();
    // For each operation of the whole program the one that begins what it is part of.
    let mut begins = Vec::with_capacity(steps.len() + 1);
    for (index, Step { action, part }) in steps.iter().enumerate() {
        begins.push(shorts.len());
        let test = |test| Short::Test(test, leads[index + 1]);
        let short = match action {
            // Both ways are known to the test before it.
            Action::Go(_) if matches!(shorts.last(), Some(Short::Test(..))) => continue,
            Action::Go(jump) => Short::Go(*jump),
            Action::Compute(op) => match mem::replace(&mut plans[part.index()], Plan::Within) {
                Plan::Within => continue,
                Plan::Operand(operand) if operand.is_boolean() => test(Test::Operand(operand)),
                Plan::Operand(operand) => Short::Push(operand),
                Plan::Compare(operator, left, right) => test(Test::Compare(operator, left, right)),
                Plan::Whole if at.types[part.index()] == Type::Boolean && !matches!(op, Op::Settle) => {
                    test(Test::Compute(index))
                }
                Plan::Whole => Short::Compute(index),
            },
        };
        shorts.push(short);
    }
    begins.push(shorts.len());
    for short in &mut shorts {
        match short {
            Short::Compute(_) | Short::Push(_) => {}
            Short::Go(
                Jump::Decide { settled: aim, .. }
                | Jump::Branch { otherwise: aim }
                | Jump::Always { settled: aim },
            ) => {
                *aim = begins[*aim];
            }
            Short::Test(_, outcomes) => {
                for outcome in outcomes {
                    match &mut outcome.next {
                        Next::End(_) => {}
                        Next::At(aim) | Next::With(_, aim) => *aim = begins[*aim],
                    }
                }
            }
        }
    }
    shorts
}

/// What is done for each part.
fn plans(at: &Standpoint<'_>) -> Vec<Plan> {
    let mut forms = recognize(at);
    let firsts = firsts(at.ast);
    let kinds: Vec<&ExprKind> = at.ast.iter().map(|(_, expr)| &expr.kind).collect();
    let mut plans: Vec<Plan> = kinds.iter().map(|_| Plan::Whole).collect();
    let mut rest = kinds.len();
    // From the back: an expression comes behind all its parts.
    while let Some(part) = rest.checked_sub(1) {
        let (plan, first) = match (forms[part].take_operand(), kinds[part]) {
            (Some(operand), _) => (Plan::Operand(operand), firsts[part]),
            (None, ExprKind::Binary { operator, left, right }) if operator.compares() => {
                match (forms[right.index()].take_operand(), forms[left.index()].take_operand()) {
                    (Some(of_right), Some(of_left)) => {
                        (Plan::Compare(*operator, Some(of_left), of_right), firsts[part])
                    }
                    (Some(of_right), None) => {
                        (Plan::Compare(*operator, None, of_right), firsts[right.index()])
                    }
                    (None, of_left) => {
                        if let Some(of_left) = of_left {
                            forms[left.index()] = Form::Operand(of_left);
                        }
                        (Plan::Whole, part)
                    }
                }
            }
            (None, _) => (Plan::Whole, part),
        };
        plans[first..part].fill_with(|| Plan::Within);
        plans[part] = plan;
        rest = first;
    }
    plans
}

/// Where the parts of each part begin: an expression with all its parts is one stretch of the list.
fn firsts(ast: &Ast) -> Vec<usize> {
    let mut firsts: Vec<usize> = Vec::with_capacity(ast.len());
    for (part, expr) in ast.iter() {
        let first = match &expr.kind {
            ExprKind::Boolean(_)
            | ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::Null
            | ExprKind::Regex { .. }
            | ExprKind::Name(_) => None,
            ExprKind::List(elements) => elements.first(),
            ExprKind::Member { target: first, .. }
            | ExprKind::Index { target: first, .. }
            | ExprKind::Call { callee: first, .. }
            | ExprKind::Not(first)
            | ExprKind::Negate(first)
            | ExprKind::Binary { left: first, .. }
            | ExprKind::Logic { left: first, .. }
            | ExprKind::Conditional { condition: first, .. } => Some(first),
        };
        firsts.push(first.map_or(part.index(), |first| firsts[first.index()]));
    }
    firsts
}

/// Where false and true on the stack lead from each operation on. From the back: nothing jumps backwards.
fn leads(steps: &[Step]) -> Vec<[Outcome; 2]> {
    let end = |holds| Outcome { steps: 0, next: Next::End(holds) };
    let mut leads = vec![[end(false), end(true)]; steps.len() + 1];
    for (index, Step { action, .. }) in steps.iter().enumerate().rev() {
        let later = |at: usize, holds: bool| {
            let Outcome { steps, next } = leads[at][usize::from(holds)];
            Outcome { steps: steps + 1, next }
        };
        let dropped = |at| Outcome { steps: 1, next: Next::At(at) };
        let lead = |holds: bool| match action {
            Action::Compute(Op::Settle) => later(index + 1, holds),
            Action::Compute(Op::Not) => later(index + 1, !holds),
            Action::Go(Jump::Decide { logic, settled }) if holds == (*logic == Logic::Or) => {
                later(*settled, holds)
            }
            Action::Go(Jump::Branch { otherwise }) if !holds => dropped(*otherwise),
            Action::Go(Jump::Decide { .. } | Jump::Branch { .. }) => dropped(index + 1),
            Action::Go(Jump::Always { settled }) => later(*settled, holds),
            Action::Compute(_) => Outcome { steps: 0, next: Next::With(holds, index) },
        };
        leads[index] = [lead(false), lead(true)];
    }
    leads
}
