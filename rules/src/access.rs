//! Who may do what: rules along a path, and for writes those of everything written (rules reference 5.1).

use crate::budget::Budget;
use crate::claim::Claim;
use crate::eval::{Account, Observer, Run, Site, World};
use crate::fault::{Failure, Fault};
use crate::look::Look;
use crate::outline::{NodeId, RuleId, RuleNode};
use crate::query::QueryValues;
use crate::ruleset::Ruleset;
use hearth_tree::{Key, Node, Part, Path, Snapshot, Target};

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
}

/// Why something is not allowed. For the operator and the author of the rules; a client is told that it is denied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// No `.read` grants.
    #[error("no `.read` rule between the root and `{at}` allows this read")]
    ReadNotGranted {
        /// What was to be read.
        at: Path,
    },
    /// No `.write` grants.
    #[error("no `.write` rule between the root and `{at}` allows this write")]
    WriteNotGranted {
        /// What was to be written.
        at: Path,
    },
    /// A `.validate` does not hold.
    #[error("the `.validate` rule for `{at}` does not accept what would be there")]
    Invalid {
        /// The node that would not be valid.
        at: Path,
        /// The rule that says so.
        rule: RuleId,
    },
    /// The verdict would cost too much.
    #[error("judging `{at}` takes more steps or text than one operation may")]
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
        self.write_observed(situation, after, targets, &mut ())
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
        let mut judge = Judge { ruleset: self, world, account, observer };
        let outcome = judge.read(at);
        let mut looks = judge.account.looks.unwrap_or_default();
        looks.sort_unstable();
        looks.dedup();
        ReadVerdict { outcome, looks, saw_now: judge.account.saw_now }
    }

    pub(crate) fn write_observed<O: Observer>(
        &self,
        situation: &Situation<'_>,
        after: &Snapshot,
        targets: &[Target],
        observer: &mut O,
    ) -> Result<(), Denial> {
        let query = QueryValues::default();
        let world = world(situation, &query, after.root());
        let account = Account { budget: situation.budget, looks: None, saw_now: false };
        Judge { ruleset: self, world, account, observer }.write(targets)
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
    observer: &'j mut O,
}

/// A node on the way to a written place. What was found out there serves every place below it.
#[derive(Clone, Copy)]
struct Level<'a> {
    rules: Option<NodeId>,
    before: Option<&'a Node>,
    after: Option<&'a Node>,
    granted: Option<bool>,
    validated: bool,
}

impl<'j, O: Observer> Judge<'j, O> {
    fn node(&self, id: NodeId) -> &'j RuleNode {
        self.ruleset.node(id)
    }

    /// Runs a rule for one node of the data. A failure counts as false (rules reference 2.4).
    fn holds(&mut self, rule: RuleId, site: Site<'_>) -> Result<bool, Denial> {
        let ruleset = self.ruleset;
        self.observer.node(site.keys);
        self.observer.rule(rule);
        // The world lives longer than the keys of the site: both are narrowed to the shorter.
        let world = self.world;
        let mut run = Run { world: &world, site, account: &mut self.account, observer: self.observer, rule };
        let outcome = run.run(&ruleset.rule(rule).program);
        self.observer.outcome(rule, &outcome);
        match outcome {
            Ok(holds) => Ok(holds),
            Err(Failure { fault: Fault::OverBudget, .. }) => Err(over_budget(site.keys)),
            Err(_) => Ok(false),
        }
    }

    fn read(&mut self, at: &Path) -> Result<(), Denial> {
        let keys = at.keys();
        let mut rules = Some(NodeId::ROOT);
        let mut node = self.world.before;
        for depth in 0..=keys.len() {
            let site = Site { keys: &keys[..depth], before: node, after: node };
            self.observer.node(site.keys);
            // Below the last node with rules none can grant.
            let Some(id) = rules else { break };
            if let Some(rule) = self.node(id).read
                && self.holds(rule, site)?
            {
                return Ok(());
            }
            if let Some(key) = keys.get(depth) {
                rules = self.node(id).child(key);
                node = node.and_then(|node| node.child(key));
            }
        }
        Err(Denial::ReadNotGranted { at: at.clone() })
    }

    fn write(&mut self, targets: &[Target]) -> Result<(), Denial> {
        // In order, neighbours share the longest ways from the root, and each node on them is judged once.
        let mut targets: Vec<&Target> = targets.iter().collect();
        targets.sort_by(|a, b| a.path.cmp(&b.path));
        let mut levels: Vec<Level<'j>> = Vec::new();
        let mut previous: &[Key] = &[];
        for target in targets {
            let keys = target.path.keys();
            let shared = keys.iter().zip(previous).take_while(|(a, b)| a == b).count();
            levels.truncate(shared + 1);
            self.descend(&mut levels, keys);
            self.grant(&mut levels, &target.path)?;
            self.validate(&mut levels, keys)?;
            if target.part == Part::Value {
                let last = levels[keys.len()];
                self.validate_carried(&mut keys.to_vec(), last)?;
            }
            previous = keys;
        }
        Ok(())
    }

    /// Adds the levels that are missing down to a place.
    fn descend(&self, levels: &mut Vec<Level<'j>>, keys: &[Key]) {
        if levels.is_empty() {
            let (before, after) = (self.world.before, self.world.after);
            levels.push(Level { rules: Some(NodeId::ROOT), before, after, granted: None, validated: false });
        }
        for key in &keys[levels.len() - 1..] {
            let above = levels[levels.len() - 1];
            levels.push(Level {
                rules: above.rules.and_then(|id| self.node(id).child(key)),
                before: above.before.and_then(|node| node.child(key)),
                after: above.after.and_then(|node| node.child(key)),
                granted: None,
                validated: false,
            });
        }
    }

    fn grant(&mut self, levels: &mut [Level<'j>], at: &Path) -> Result<(), Denial> {
        for (depth, level) in levels.iter_mut().enumerate() {
            let granted = match level.granted {
                Some(granted) => granted,
                None => {
                    let site = Site { keys: &at.keys()[..depth], before: level.before, after: level.after };
                    self.observer.node(site.keys);
                    let rule = level.rules.and_then(|id| self.node(id).write);
                    rule.map_or(Ok(false), |rule| self.holds(rule, site))?
                }
            };
            level.granted = Some(granted);
            if granted {
                return Ok(());
            }
        }
        Err(Denial::WriteNotGranted { at: at.clone() })
    }

    /// From the root down to a written place: what will be there must be valid.
    fn validate(&mut self, levels: &mut [Level<'j>], keys: &[Key]) -> Result<(), Denial> {
        for (depth, level) in levels.iter_mut().enumerate().filter(|(_, level)| !level.validated) {
            let site = Site { keys: &keys[..depth], before: level.before, after: level.after };
            self.validate_node(level.rules, site)?;
            level.validated = true;
        }
        Ok(())
    }

    /// What is gone is not validated.
    fn validate_node(&mut self, rules: Option<NodeId>, site: Site<'_>) -> Result<(), Denial> {
        let rule = rules.and_then(|id| self.node(id).validate);
        match (rule, site.after) {
            (Some(rule), Some(_)) if !self.holds(rule, site)? => {
                Err(Denial::Invalid { at: site.keys.iter().cloned().collect(), rule })
            }
            _ => Ok(()),
        }
    }

    /// Everything below a written place that will be there. Goes only where there are rules to go for; as deep as the
    /// tree is at most.
    fn validate_carried(&mut self, keys: &mut Vec<Key>, above: Level<'j>) -> Result<(), Denial> {
        let (Some(rules), Some(after)) = (above.rules.map(|id| self.node(id)), above.after) else {
            return Ok(());
        };
        let ruleset = self.ruleset;
        let validates = |id: NodeId| ruleset.node(id).validates;
        if rules.capture.is_some_and(validates) {
            for (key, child) in after.children() {
                self.validate_child(keys, above, key, child)?;
            }
            return Ok(());
        }
        for (key, _) in rules.literals.iter().filter(|&&(_, id)| validates(id)) {
            if let Some(child) = after.child(key) {
                self.validate_child(keys, above, key, child)?;
            }
        }
        Ok(())
    }

    fn validate_child(
        &mut self,
        keys: &mut Vec<Key>,
        above: Level<'j>,
        key: &Key,
        after: &'j Node,
    ) -> Result<(), Denial> {
        if !self.account.budget.spend(1) {
            return Err(over_budget(keys));
        }
        let level = Level {
            rules: above.rules.and_then(|id| self.node(id).child(key)),
            before: above.before.and_then(|node| node.child(key)),
            after: Some(after),
            granted: None,
            validated: false,
        };
        keys.push(key.clone());
        let site = Site { keys, before: level.before, after: level.after };
        self.validate_node(level.rules, site)?;
        self.validate_carried(keys, level)?;
        keys.pop();
        Ok(())
    }
}

fn over_budget(keys: &[Key]) -> Denial {
    Denial::OverBudget { at: keys.iter().cloned().collect() }
}
