//! Who looks on at the verdicts of one database: they are counted, and in development what they came to is noted.

use crate::meters::{DatabaseMeters, Meters};
use crate::study::{Studies, Study};
use hearth_engine::{DatabaseId, Onlooker};
use hearth_rules::{Claim, Coverage, Ruleset};
use std::sync::Arc;

/// Looks on at all verdicts of a database, whoever makes them.
#[derive(Debug)]
pub(crate) struct RuleWatch {
    /// In development.
    study: Option<Arc<Study>>,
    meters: Arc<DatabaseMeters>,
}

impl RuleWatch {
    pub(crate) fn new(studies: Option<&Studies>, meters: &Meters, database: DatabaseId) -> Self {
        Self { study: studies.map(|studies| studies.of(database)), meters: meters.of(database) }
    }

    /// What is noted.
    pub(crate) const fn study(&self) -> Option<&Arc<Study>> {
        self.study.as_ref()
    }
}

impl Onlooker for RuleWatch {
    fn look_on(&self, rules: &Arc<Ruleset>, judge: &mut dyn FnMut(Option<&mut Coverage>)) {
        match &self.study {
            Some(study) => study.look_on(rules, judge),
            None => judge(None),
        }
    }

    fn takes_notes(&self) -> bool {
        self.study.is_some()
    }

    fn judged(&self, steps: u64) {
        self.meters.verdicts.add(1);
        self.meters.rule_steps.add(steps);
    }

    fn tells_reasons(&self, auth: &Claim) -> bool {
        self.study.as_ref().is_some_and(|study| study.tells_reasons(auth))
    }
}
