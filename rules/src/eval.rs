//! Runs one rule's expression (rules reference 2.4, 3 and 4).
//!
//! A loop over operations with a stack of values: nothing recurses, every operation is paid for, and the first thing
//! that goes wrong ends the whole expression. Nothing is copied that the data, the claims or the rules hold, and the
//! rules of one operation share their room: only a text that a rule makes is allocated.

use crate::ast::{ExprId, Logic};
use crate::budget::Budget;
use crate::claim::Claim;
use crate::fault::{Failure, Fault};
use crate::level::Level;
use crate::look::{Aspect, Look};
use crate::outline::RuleId;
use crate::place::{Place, Step as WayStep, Ways, When};
use crate::program::{Action, Jump, Op, Program, Step};
use crate::query::QueryValues;
use crate::text::text_method;
use crate::types::{Method, Variable};
use crate::value::{Value, binary, length, member, number_text, value_of};
use hearth_tree::{Key, Node};
use std::borrow::Cow;
use std::mem;

/// What is told while rules run.
pub(crate) trait Observer {
    /// Whether it wants to know what every part comes to.
    const WATCHES: bool = true;

    /// A node of the data is reached, with rules for it or not: the last of these levels.
    fn node(&mut self, levels: &[Level<'_>]);
    /// A rule begins to run.
    fn rule(&mut self, rule: RuleId);
    /// A part of it has a value.
    fn part(&mut self, rule: RuleId, part: ExprId, value: &Value<'_>);
    /// It ended.
    fn outcome(&mut self, rule: RuleId, outcome: &Result<bool, Failure>);
}

/// Nobody looks.
impl Observer for () {
    const WATCHES: bool = false;

    fn node(&mut self, _levels: &[Level<'_>]) {}
    fn rule(&mut self, _rule: RuleId) {}
    fn part(&mut self, _rule: RuleId, _part: ExprId, _value: &Value<'_>) {}
    fn outcome(&mut self, _rule: RuleId, _outcome: &Result<bool, Failure>) {}
}

/// What all rules of one operation see.
#[derive(Clone, Copy)]
pub(crate) struct World<'a> {
    pub(crate) auth: &'a Claim,
    pub(crate) now: f64,
    pub(crate) query: &'a QueryValues,
    pub(crate) before: Option<&'a Node>,
    pub(crate) after: Option<&'a Node>,
}

/// What a verdict uses up and gathers on its way.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) budget: Budget,
    /// Nothing, where nobody will ask what a verdict depends on.
    pub(crate) looks: Option<Vec<Look>>,
    pub(crate) saw_now: bool,
}

/// Room that the rules of one operation use one after the other.
#[derive(Debug, Default)]
pub(crate) struct Room<'a> {
    stack: Stack<'a>,
    steps: Vec<WayStep<'a>>,
}

/// One run.
pub(crate) struct Run<'r, 'a, O> {
    pub(crate) world: World<'a>,
    pub(crate) ways: Ways<'r, 'a>,
    pub(crate) account: &'r mut Account,
    observer: &'r mut O,
    rule: RuleId,
}

pub(crate) type Stack<'a> = Vec<Value<'a>>;

/// Runs a rule for the last of these levels: whether it holds.
pub(crate) fn run<'a, O: Observer>(
    (rule, program): (RuleId, &'a Program),
    world: World<'a>,
    levels: &[Level<'a>],
    room: &mut Room<'a>,
    account: &mut Account,
    observer: &mut O,
) -> Result<bool, Failure> {
    let mut stack = mem::take(&mut room.stack);
    let ways = Ways::new(levels, mem::take(&mut room.steps));
    let mut run = Run { world, ways, account, observer, rule };
    let outcome = if O::WATCHES {
        run.run(program, &mut stack)
    } else {
        run.answer(program, &mut stack).map_err(|fault| Failure { part: program.whole(), fault })
    };
    stack.clear();
    *room = Room { stack, steps: run.ways.into_steps() };
    outcome
}

impl<'a, O: Observer> Run<'_, 'a, O> {
    fn run(&mut self, program: &'a Program, stack: &mut Stack<'a>) -> Result<bool, Failure> {
        let mut at = 0;
        while let Some(Step { action, part }) = program.steps.get(at) {
            let failed = |fault| Failure { part: *part, fault };
            if !self.account.budget.spend(1) {
                return Err(failed(Fault::OverBudget));
            }
            at = match action {
                Action::Compute(op) => {
                    let value = self.value(op, stack).map_err(failed)?;
                    self.observer.part(self.rule, *part, &value);
                    stack.push(value);
                    at + 1
                }
                Action::Go(jump) => aim(jump, stack).map_err(failed)?.unwrap_or(at + 1),
            };
        }
        match stack.pop() {
            Some(Value::Bool(holds)) => Ok(holds),
            other => Err(Failure { part: program.whole(), fault: unsound("rule", other.as_ref()) }),
        }
    }

    /// Takes the operands of an operation from the stack and computes it.
    pub(crate) fn value(&mut self, op: &'a Op, stack: &mut Stack<'a>) -> Result<Value<'a>, Fault> {
        Ok(match op {
            Op::Null => Value::Null,
            Op::Bool(value) => Value::Bool(*value),
            Op::Number(number) => Value::Number(*number),
            Op::Text(text) => Value::Text(Cow::Borrowed(text)),
            Op::Variable(variable) => self.variable(*variable),
            Op::Member(name) => member(&pop(stack)?, name),
            Op::Index => {
                let index = pop(stack)?;
                self.index(&pop(stack)?, &index)?
            }
            Op::QueryProperty(property) => {
                pop(stack)?;
                self.world.query.property(*property)
            }
            Op::Length => {
                let text = pop_text(stack, "length")?;
                self.afford(|budget| budget.scan(&text))?;
                length(&text)
            }
            Op::Call(method) => self.call(*method, stack)?,
            Op::Descend(keys) => Value::Place(self.ways.descend(pop_place(stack)?, keys)),
            Op::Matches(pattern) => {
                let text = pop_text(stack, "matches")?;
                self.afford(|budget| budget.match_text(&text, pattern.weight()))?;
                Value::Bool(pattern.occurs_in(&text))
            }
            Op::HasChildren(None) => {
                Value::Bool(self.look(pop_place(stack)?, Aspect::Value).is_some_and(is_inner))
            }
            Op::HasChildren(Some(count)) => self.has_children(*count, stack)?,
            Op::Not => {
                let operand = pop(stack)?;
                let Value::Bool(holds) = operand else { return Err(unsound("!", Some(&operand))) };
                Value::Bool(!holds)
            }
            Op::Negate => {
                let operand = pop(stack)?;
                let Value::Number(number) = operand else {
                    return Err(Fault::NotNegatable { found: operand.kind() });
                };
                Value::Number(-number)
            }
            Op::Binary(operator) => {
                let right = pop(stack)?;
                binary(*operator, pop(stack)?, right, &mut self.account.budget)?
            }
            // Takes its own value to be seen as that of the whole.
            Op::Settle => pop(stack)?,
        })
    }

    fn variable(&mut self, variable: Variable) -> Value<'a> {
        match variable {
            Variable::Auth => Value::from(self.world.auth),
            Variable::Now => self.now(),
            Variable::Root => Value::Place(self.ways.root(When::Before)),
            Variable::Data => Value::Place(self.ways.here(When::Before)),
            Variable::NewData => Value::Place(self.ways.here(When::After)),
            Variable::Query => Value::Query,
            Variable::Capture(depth) => self.capture(depth),
        }
    }

    pub(crate) fn now(&mut self) -> Value<'a> {
        self.account.saw_now = true;
        Value::Number(self.world.now)
    }

    pub(crate) fn capture(&self, depth: usize) -> Value<'a> {
        self.captured(depth).map_or(Value::Null, |key| Value::Text(Cow::Borrowed(key.as_str())))
    }

    /// The key that a `$name` stands for.
    pub(crate) fn captured(&self, depth: usize) -> Option<&'a Key> {
        self.ways.levels().get(depth).and_then(|level| level.key)
    }

    /// A computed name is never converted: neither null nor a number names a member of an object.
    fn index(&mut self, target: &Value<'a>, index: &Value<'a>) -> Result<Value<'a>, Fault> {
        match (target, index) {
            (_, Value::Text(name)) => {
                self.afford(|budget| budget.scan(name))?;
                Ok(member(target, name))
            }
            (Value::Claims(claim @ Claim::List(_)), Value::Number(at)) => {
                Ok(Value::from(claim.member(&number_text(*at))))
            }
            (_, other) => Err(Fault::IndexNotAName { found: other.kind() }),
        }
    }

    fn call(&mut self, method: Method, stack: &mut Stack<'a>) -> Result<Value<'a>, Fault> {
        let name = method.name();
        Ok(match method {
            Method::Val => value_of(self.look(pop_place(stack)?, Aspect::Value)),
            Method::GetPriority => {
                Value::from(self.look(pop_place(stack)?, Aspect::Value).and_then(Node::priority))
            }
            Method::Exists => Value::Bool(self.look(pop_place(stack)?, Aspect::Existence).is_some()),
            Method::IsNumber | Method::IsString | Method::IsBoolean => {
                let node = self.look(pop_place(stack)?, Aspect::Value);
                Value::Bool(node.and_then(Node::value).is_some_and(|value| is_of_type(method, value)))
            }
            Method::Parent => Value::Place(self.ways.parent(pop_place(stack)?).ok_or(Fault::AboveRoot)?),
            Method::Child => {
                let path = pop_argument(stack, name)?;
                Value::Place(self.child(pop_place(stack)?, &path)?)
            }
            Method::HasChild => {
                let path = pop_argument(stack, name)?;
                let child = self.child(pop_place(stack)?, &path)?;
                Value::Bool(self.look(child, Aspect::Existence).is_some())
            }
            Method::Replace => {
                let new = pop_argument(stack, name)?;
                let old = pop_argument(stack, name)?;
                let text = pop_text(stack, name)?;
                text_method(method, &text, &[old, new], &mut self.account.budget)?
            }
            Method::Contains | Method::BeginsWith | Method::EndsWith => {
                let part = pop_argument(stack, name)?;
                let text = pop_text(stack, name)?;
                text_method(method, &text, &[part], &mut self.account.budget)?
            }
            Method::ToLowerCase | Method::ToUpperCase => {
                let text = pop_text(stack, name)?;
                text_method(method, &text, &[], &mut self.account.budget)?
            }
            Method::Matches | Method::HasChildren => return Err(unsound(name, None)),
        })
    }

    fn child(&mut self, place: Place<'a>, path: &Cow<'a, str>) -> Result<Place<'a>, Fault> {
        // A key is looked up per segment; the text itself may be anything that a client wrote.
        self.afford(|budget| budget.scan(path))?;
        Ok(self.ways.child(place, path))
    }

    /// All names are looked at before any child is: a name that is no text is an error whatever is there.
    fn has_children(&mut self, count: usize, stack: &mut Stack<'a>) -> Result<Value<'a>, Fault> {
        let first = stack.len().checked_sub(count).ok_or_else(|| unsound("hasChildren", None))?;
        let names = &stack[first..];
        if let Some(other) = names.iter().find(|name| !matches!(name, Value::Text(_))) {
            return Err(Fault::ArgumentNotAText { method: "hasChildren", found: other.kind() });
        }
        let place = first.checked_sub(1).map(|below| &stack[below]);
        let Some(&Value::Place(place)) = place else { return Err(unsound("hasChildren", place)) };
        let mut has_all = true;
        for name in names {
            let Value::Text(name) = name else { return Err(unsound("hasChildren", Some(name))) };
            let child = self.child(self.ways.held(place), name)?;
            has_all = self.look(child, Aspect::Existence).is_some();
            if !has_all {
                break;
            }
        }
        self.ways.forget(place);
        stack.truncate(first - 1);
        Ok(Value::Bool(has_all))
    }

    /// What is at a place, which nobody needs again; that it was looked at is remembered.
    fn look(&mut self, place: Place<'a>, aspect: Aspect) -> Option<&'a Node> {
        if let (Some(looks), When::Before) = (&mut self.account.looks, place.when()) {
            looks.extend(self.ways.path(place).map(|at| Look { at, aspect }));
        }
        self.ways.forget(place);
        place.node()
    }

    pub(crate) fn afford(&mut self, pay: impl FnOnce(&mut Budget) -> bool) -> Result<(), Fault> {
        if pay(&mut self.account.budget) { Ok(()) } else { Err(Fault::OverBudget) }
    }

    pub(crate) fn pay(&mut self, steps: u64) -> Result<(), Fault> {
        self.afford(|budget| budget.spend(steps))
    }
}

/// Where to go on; nothing, if with the next operation.
pub(crate) fn aim(jump: &Jump, stack: &mut Stack<'_>) -> Result<Option<usize>, Fault> {
    match jump {
        Jump::Decide { logic, settled } => match stack.last() {
            Some(Value::Bool(left)) if *left == (*logic == Logic::Or) => Ok(Some(*settled)),
            Some(Value::Bool(_)) => {
                stack.pop();
                Ok(None)
            }
            other => Err(unsound("&& or ||", other)),
        },
        Jump::Branch { otherwise } => match stack.pop() {
            Some(Value::Bool(true)) => Ok(None),
            Some(Value::Bool(false)) => Ok(Some(*otherwise)),
            other => Err(unsound("?", other.as_ref())),
        },
        Jump::Always { settled } => Ok(Some(*settled)),
    }
}

/// Something that the compiler should have made impossible. Said, not panicked about: a verdict denies.
pub(crate) fn unsound(what: &'static str, found: Option<&Value<'_>>) -> Fault {
    Fault::Unsound { what, found: found.map_or("nothing", Value::kind) }
}

pub(crate) fn pop<'a>(stack: &mut Stack<'a>) -> Result<Value<'a>, Fault> {
    stack.pop().ok_or_else(|| unsound("operator", None))
}

fn pop_place<'a>(stack: &mut Stack<'a>) -> Result<Place<'a>, Fault> {
    let value = pop(stack)?;
    let found = value.kind();
    let Value::Place(place) = value else { return Err(Fault::Unsound { what: "snapshot method", found }) };
    Ok(place)
}

/// What a text method is called on.
fn pop_text<'a>(stack: &mut Stack<'a>, member: &'static str) -> Result<Cow<'a, str>, Fault> {
    pop(stack)?.into_text().map_err(|found| Fault::NotAText { member, found })
}

fn pop_argument<'a>(stack: &mut Stack<'a>, method: &'static str) -> Result<Cow<'a, str>, Fault> {
    pop(stack)?.into_text().map_err(|found| Fault::ArgumentNotAText { method, found })
}

pub(crate) fn is_inner(node: &Node) -> bool {
    node.value().is_none()
}

pub(crate) const fn is_of_type(method: Method, value: &hearth_tree::Scalar) -> bool {
    use hearth_tree::Scalar;
    matches!(
        (method, value),
        (Method::IsNumber, Scalar::Number(_))
            | (Method::IsString, Scalar::Text(_))
            | (Method::IsBoolean, Scalar::Bool(_))
    )
}
