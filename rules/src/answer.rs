//! Runs a rule when nobody watches: see [`crate::short`].

use crate::eval::{Observer, Run, Stack, aim, is_inner, is_of_type, pop, unsound};
use crate::fault::Fault;
use crate::level;
use crate::look::{Aspect, Look};
use crate::place::{When, keys_down};
use crate::program::{Action, Program};
use crate::question::{Ask, By, Operand, Question, Way};
use crate::short::{Next, Outcome, Short, Test};
use crate::value::{Value, compare, length, member, value_of};
use hearth_tree::{DEPTH_MAX, Key, Node, Path};
use std::borrow::Cow;

impl<'a, O: Observer> Run<'_, 'a, O> {
    /// Whether a rule holds.
    pub(crate) fn answer(&mut self, program: &'a Program, stack: &mut Stack<'a>) -> Result<bool, Fault> {
        let mut at = 0;
        while let Some(short) = program.shorts.get(at) {
            at = match short {
                Short::Test(test, outcomes) => {
                    let holds = self.test(program, test, stack)?;
                    let Outcome { steps, next } = outcomes[usize::from(holds)];
                    self.pay(steps)?;
                    match next {
                        Next::End(holds) => return Ok(holds),
                        Next::At(aim) => aim,
                        Next::With(holds, aim) => {
                            stack.push(Value::Bool(holds));
                            aim
                        }
                    }
                }
                Short::Push(operand) => {
                    let value = self.operand(operand)?;
                    stack.push(value);
                    at + 1
                }
                Short::Compute(step) => {
                    let value = self.compute(program, *step, stack)?;
                    stack.push(value);
                    at + 1
                }
                Short::Go(jump) => {
                    self.pay(1)?;
                    aim(jump, stack)?.unwrap_or(at + 1)
                }
            };
        }
        match stack.pop() {
            Some(Value::Bool(holds)) => Ok(holds),
            other => Err(unsound("rule", other.as_ref())),
        }
    }

    /// What one operation of the whole program comes to.
    fn compute(
        &mut self,
        program: &'a Program,
        step: usize,
        stack: &mut Stack<'a>,
    ) -> Result<Value<'a>, Fault> {
        self.pay(1)?;
        match program.steps.get(step).map(|step| &step.action) {
            Some(Action::Compute(op)) => self.value(op, stack),
            Some(Action::Go(_)) | None => Err(unsound("operation", None)),
        }
    }

    fn test(&mut self, program: &'a Program, test: &'a Test, stack: &mut Stack<'a>) -> Result<bool, Fault> {
        let value = match test {
            Test::Compare(operator, left, right) => {
                let left = match left {
                    Some(left) => self.operand(left)?,
                    None => pop(stack)?,
                };
                let right = self.operand(right)?;
                self.pay(1)?;
                return compare(*operator, &left, &right, &mut self.account.budget);
            }
            Test::Operand(operand) => self.operand(operand)?,
            Test::Compute(step) => self.compute(program, *step, stack)?,
        };
        let Value::Bool(holds) = value else { return Err(unsound("test", Some(&value))) };
        Ok(holds)
    }

    fn operand(&mut self, operand: &'a Operand) -> Result<Value<'a>, Fault> {
        if let Operand::Question(question) = operand {
            return self.question(question);
        }
        let names = if let Operand::Claim(names) = operand { names.len() } else { 0 };
        self.pay(1 + names as u64)?;
        Ok(match operand {
            Operand::Null | Operand::Question(_) => Value::Null,
            Operand::Bool(value) => Value::Bool(*value),
            Operand::Number(number) => Value::Number(*number),
            Operand::Text(text) => Value::Text(Cow::Borrowed(text)),
            Operand::Claim(names) => self.claim(names),
            Operand::Now => self.now(),
            Operand::Capture(depth) => self.capture(*depth),
        })
    }

    fn claim(&self, names: &[String]) -> Value<'a> {
        names.iter().fold(Value::from(self.world.auth), |claim, name| member(&claim, name))
    }

    fn question(&mut self, question: &'a Question) -> Result<Value<'a>, Fault> {
        let Question { way, ask, steps } = question;
        let node = self.reach(way)?;
        self.pay(*steps)?;
        let aspect = match ask {
            Ask::Val | Ask::Length | Ask::Priority | Ask::Is(_) | Ask::HasChildren => Some(Aspect::Value),
            Ask::Exists => Some(Aspect::Existence),
            // Its children are looked at.
            Ask::HasAll(_) => None,
        };
        if let Some(aspect) = aspect {
            self.remember(way, None, aspect);
        }
        Ok(match ask {
            Ask::Val => value_of(node),
            Ask::Length => {
                self.pay(1)?;
                let found = |found| Fault::NotAText { member: "length", found };
                let text = value_of(node).into_text().map_err(found)?;
                self.afford(|budget| budget.scan(&text))?;
                length(&text)
            }
            Ask::Priority => Value::from(node.and_then(Node::priority)),
            Ask::Exists => Value::Bool(node.is_some()),
            Ask::Is(method) => {
                let value = node.and_then(Node::value);
                Value::Bool(value.is_some_and(|value| is_of_type(*method, value)))
            }
            Ask::HasChildren => Value::Bool(node.is_some_and(is_inner)),
            Ask::HasAll(names) => {
                let mut has_all = true;
                for (name, steps) in names {
                    self.pay(*steps)?;
                    self.remember(way, Some(name), Aspect::Existence);
                    has_all = node.is_some_and(|node| node.child(name).is_some());
                    if !has_all {
                        break;
                    }
                }
                Value::Bool(has_all)
            }
        })
    }

    /// What is at the end of a way.
    fn reach(&mut self, way: &'a Way) -> Result<Option<&'a Node>, Fault> {
        self.pay(way.steps)?;
        let level = &self.ways.levels()[way.level];
        let mut node = match way.when {
            When::Before => level.before,
            When::After => level.after,
        };
        for down in &way.down {
            self.pay(down.steps)?;
            node = match &down.by {
                By::Key(key) => node.and_then(|node| node.child(key)),
                By::Capture(depth) => {
                    let key = self.captured(*depth).ok_or_else(|| unsound("$", None))?;
                    self.afford(|budget| budget.scan(key.as_str()))?;
                    node.and_then(|node| node.child(key))
                }
                By::Claim(names, method) => {
                    let found = |found| Fault::ArgumentNotAText { method: method.name(), found };
                    let path = self.claim(names).into_text().map_err(found)?;
                    self.afford(|budget| budget.scan(&path))?;
                    keys_down(&path).and_then(|mut keys| keys.try_fold(node?, Node::child_named))
                }
            };
        }
        Ok(node)
    }

    /// Remembers that what a way leads to was looked at, or that child of it.
    fn remember(&mut self, way: &Way, child: Option<&Key>, aspect: Aspect) {
        if self.account.looks.is_some() && way.when == When::Before {
            let at = self.path(way, child);
            if let Some(looks) = &mut self.account.looks {
                looks.extend(at.map(|at| Look { at, aspect }));
            }
        }
    }

    /// Where a way leads; nothing, if no data can be there.
    fn path(&self, way: &Way, child: Option<&Key>) -> Option<Path> {
        let mut keys: Vec<Key> = Vec::with_capacity(DEPTH_MAX);
        keys.extend(level::keys(&self.ways.levels()[..=way.level]).cloned());
        for down in &way.down {
            match &down.by {
                By::Key(key) => keys.push(key.clone()),
                By::Capture(depth) => keys.push(self.captured(*depth)?.clone()),
                By::Claim(names, _) => {
                    let Value::Text(path) = self.claim(names) else { return None };
                    for key in keys_down(&path)? {
                        if DEPTH_MAX <= keys.len() {
                            return None;
                        }
                        keys.push(Key::parse(key).ok()?);
                    }
                }
            }
        }
        keys.extend(child.cloned());
        (keys.len() <= DEPTH_MAX).then(|| keys.into_iter().collect())
    }
}
