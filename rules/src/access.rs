//! Who may do what: rules along a path, and for writes those of everything written (rules reference 5.1).

use crate::budget::Budget;
use crate::claim::Claim;
use crate::coverage::Coverage;
use crate::eval::{Account, Observer, Room, World, run};
use crate::fault::{Failure, Fault};
use crate::level::{self, Level};
use crate::look::Look;
use crate::outline::{RuleId, RuleNode};
use crate::query::QueryValues;
use crate::ruleset::Ruleset;
use hearth_tree::{Key, Node, OneLine, Part, Path, Snapshot, Target};

/// What a verdict is about, beside the operation itself.
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The value of `auth`; [`Claim::Null`] for nobody.
    pub auth: &'a Claim,
    /// The value of `now`, in milliseconds since 1970; the one that server timestamps of the same operation get.
    pub now_ms: i64,
    /// The tree before the operation.
    pub before: &'a Snapshot,
    /// What the verdict may cost.
    pub budget: Budget,
}

/// Whether a read is allowed, and what that depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadVerdict {
    /// Allowed, or why not.
    pub outcome: Result<(), Denial>,
    /// What of the data it depends on: as long as none of these differs, the same read has the same outcome, for the
    /// same rules, identity and query. Ascending, each once.
    pub looks: Vec<Look>,
    /// Whether it depends on the time.
    pub saw_now: bool,
    /// What it has cost, as [`Budget::steps`] counts.
    pub steps: u64,
}

/// Whether a write is allowed, and what it has cost to find out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteVerdict {
    /// Allowed, or why not.
    pub outcome: Result<(), Denial>,
    /// As [`Budget::steps`] counts.
    pub steps: u64,
}

/// Why something is not allowed. For the operator and the author of the rules; a client is told that it is denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// No `.read` grants.
    #[error("no `.read` rule between the root and `{}` allows this read", OneLine(.at))]
    ReadNotGranted {
        /// What was to be read.
        at: Path,
    },
    /// No `.write` grants.
    #[error("no `.write` rule between the root and `{}` allows this write", OneLine(.at))]
    WriteNotGranted {
        /// What was to be written.
        at: Path,
    },
    /// A `.validate` does not hold.
    #[error("the `.validate` rule for `{}` does not accept what would be there", OneLine(.at))]
    Invalid {
        /// The node that would not be valid.
        at: Path,
        /// The rule that says so.
        rule: RuleId,
    },
    /// The verdict would cost too much.
    #[error("judging `{}` takes more steps or text than one operation may", OneLine(.at))]
    OverBudget {
        /// Where the budget ended.
        at: Path,
    },
}

impl Ruleset {
    /// Judges a read. Costs what the `.read` rules on the path cost.
    pub fn read(&self, situation: &Situation<'_>, at: &Path, query: &QueryValues) -> ReadVerdict {
        self.read_observed(situation, at, query, &mut ())
    }

    /// Judges a write of these places, from the tree before to the tree `after`, in which all of them are written and
    /// every server value is resolved. A place counts as written even if nothing changes there. Costs O(what is
    /// written) times what the rules for it cost.
    ///
    /// # Errors
    /// [`Denial`] says what stands against it.
    pub fn write(
        &self,
        situation: &Situation<'_>,
        after: &Snapshot,
        targets: &[Target],
    ) -> Result<(), Denial> {
        self.judge_write(situation, after, targets, None).outcome
    }

    /// As [`Ruleset::write`], with what it has cost; counted in the coverage, if one of this ruleset is given.
    pub fn judge_write(
        &self,
        situation: &Situation<'_>,
        after: &Snapshot,
        targets: &[Target],
        coverage: Option<&mut Coverage>,
    ) -> WriteVerdict {
        match coverage {
            None => self.write_observed(situation, after, targets, &mut ()),
            Some(coverage) => self.write_observed(situation, after, targets, coverage),
        }
    }

    pub(crate) fn read_observed<O: Observer>(
        &self,
        situation: &Situation<'_>,
        at: &Path,
        query: &QueryValues,
        observer: &mut O,
    ) -> ReadVerdict {
        let root = situation.before.root();
        let world = world(situation, query, root);
        let account = Account { budget: situation.budget, looks: Some(Vec::new()), saw_now: false };
        let mut judge = Judge::new(self, world, account, observer);
        let outcome = judge.read(at);
        let mut looks = judge.account.looks.take().unwrap_or_default();
        looks.sort_unstable();
        looks.dedup();
        let steps = situation.budget.steps - judge.account.budget.steps;
        ReadVerdict { outcome, looks, saw_now: judge.account.saw_now, steps }
    }

    pub(crate) fn write_observed<O: Observer>(
        &self,
        situation: &Situation<'_>,
        after: &Snapshot,
        targets: &[Target],
        observer: &mut O,
    ) -> WriteVerdict {
        let query = QueryValues::default();
        let world = world(situation, &query, after.root());
        let account = Account { budget: situation.budget, looks: None, saw_now: false };
        let mut judge = Judge::new(self, world, account, observer);
        let outcome = judge.write(targets);
        WriteVerdict { outcome, steps: situation.budget.steps - judge.account.budget.steps }
    }
}

#[expect(clippy::cast_precision_loss, reason = "rules know doubles only; the year 287396 is far")]
const fn world<'a>(situation: &Situation<'a>, query: &'a QueryValues, after: Option<&'a Node>) -> World<'a> {
    World {
        auth: situation.auth,
        now: situation.now_ms as f64,
        query,
        before: situation.before.root(),
        after,
    }
}

struct Judge<'j, O> {
    ruleset: &'j Ruleset,
    world: World<'j>,
    account: Account,
    room: Room<'j>,
    /// From the root down to what is judged.
    levels: Vec<Level<'j>>,
    observer: &'j mut O,
}

impl<'j, O: Observer> Judge<'j, O> {
    fn new(ruleset: &'j Ruleset, world: World<'j>, account: Account, observer: &'j mut O) -> Self {
        let mut levels = Vec::with_capacity(LEVELS_EXPECTED);
        levels.push(Level::root(world.before, world.after));
        Self { ruleset, world, account, room: Room::default(), levels, observer }
    }

    fn rules(&self, level: &Level<'_>) -> Option<&'j RuleNode> {
        level.rules.map(|id| self.ruleset.node(id))
    }

    /// Runs a rule for the node that so many levels down. A failure counts as false (rules reference 2.4).
    fn holds(&mut self, rule: RuleId, depth: usize) -> Result<bool, Denial> {
        let levels = &self.levels[..=depth];
        self.observer.node(levels);
        self.observer.rule(rule);
        let program = (rule, &self.ruleset.rule(rule).program);
        let outcome = run(program, self.world, levels, &mut self.room, &mut self.account, self.observer);
        self.observer.outcome(rule, &outcome);
        match outcome {
            Ok(holds) => Ok(holds),
            Err(Failure { fault: Fault::OverBudget, .. }) => Err(over_budget(levels)),
            Err(_) => Ok(false),
        }
    }

    fn read(&mut self, at: &'j Path) -> Result<(), Denial> {
        let mut keys = at.keys().iter();
        loop {
            let depth = self.levels.len() - 1;
            let level = self.levels[depth];
            self.observer.node(&self.levels);
            // Below the last node with rules none can grant.
            let Some(rules) = self.rules(&level) else { break };
            if let Some(rule) = rules.read
                && self.holds(rule, depth)?
            {
                return Ok(());
            }
            let Some(key) = keys.next() else { break };
            self.levels.push(level.below(self.ruleset, key));
        }
        Err(Denial::ReadNotGranted { at: at.clone() })
    }

    fn write(&mut self, targets: &'j [Target]) -> Result<(), Denial> {
        // In order, neighbours share the longest ways from the root, and each node on them is judged once.
        let mut targets: Vec<&Target> = targets.iter().collect();
        targets.sort_by(|a, b| a.path.cmp(&b.path));
        let mut previous: &[Key] = &[];
        for target in targets {
            let keys = target.path.keys();
            let shared = keys.iter().zip(previous).take_while(|(a, b)| a == b).count();
            self.levels.truncate(shared + 1);
            for key in &keys[shared..] {
                let above = self.levels[self.levels.len() - 1];
                self.levels.push(above.below(self.ruleset, key));
            }
            self.grant(&target.path)?;
            self.validate()?;
            if target.part == Part::Value {
                self.validate_carried()?;
            }
            previous = keys;
        }
        Ok(())
    }

    fn grant(&mut self, at: &Path) -> Result<(), Denial> {
        for depth in 0..self.levels.len() {
            let level = self.levels[depth];
            let granted = match level.granted {
                Some(granted) => granted,
                None => {
                    self.observer.node(&self.levels[..=depth]);
                    let rule = self.rules(&level).and_then(|rules| rules.write);
                    rule.map_or(Ok(false), |rule| self.holds(rule, depth))?
                }
            };
            self.levels[depth].granted = Some(granted);
            if granted {
                return Ok(());
            }
        }
        Err(Denial::WriteNotGranted { at: at.clone() })
    }

    /// From the root down to a written place: what will be there must be valid.
    fn validate(&mut self) -> Result<(), Denial> {
        for depth in 0..self.levels.len() {
            if !self.levels[depth].validated {
                self.validate_node(depth)?;
                self.levels[depth].validated = true;
            }
        }
        Ok(())
    }

    /// What is gone is not validated.
    fn validate_node(&mut self, depth: usize) -> Result<(), Denial> {
        let level = self.levels[depth];
        match (self.rules(&level).and_then(|rules| rules.validate), level.after) {
            (Some(rule), Some(_)) if !self.holds(rule, depth)? => {
                Err(Denial::Invalid { at: level::path(&self.levels[..=depth]), rule })
            }
            _ => Ok(()),
        }
    }

    /// Everything below the last level that will be there. Goes only where there are rules to go for; as deep as the
    /// tree is at most.
    fn validate_carried(&mut self) -> Result<(), Denial> {
        let above = self.levels[self.levels.len() - 1];
        let (Some(rules), Some(after)) = (self.rules(&above), above.after) else {
            return Ok(());
        };
        let ruleset = self.ruleset;
        let validates = |id| ruleset.node(id).validates;
        if rules.capture.is_some_and(validates) {
            for (key, child) in after.children() {
                self.validate_child(&above, key, child)?;
            }
            return Ok(());
        }
        for (key, _) in rules.literals.iter().filter(|&&(_, id)| validates(id)) {
            if let Some(child) = after.child(key) {
                self.validate_child(&above, key, child)?;
            }
        }
        Ok(())
    }

    fn validate_child(&mut self, above: &Level<'j>, key: &'j Key, after: &'j Node) -> Result<(), Denial> {
        if !self.account.budget.spend(1) {
            return Err(over_budget(&self.levels));
        }
        let depth = self.levels.len();
        self.levels.push(above.below_to(self.ruleset, key, after));
        self.validate_node(depth)?;
        self.validate_carried()?;
        self.levels.pop();
        Ok(())
    }
}

/// Room for so many levels is made at first: for most writes enough.
const LEVELS_EXPECTED: usize = 8;

fn over_budget(levels: &[Level<'_>]) -> Denial {
    Denial::OverBudget { at: level::path(levels) }
}
