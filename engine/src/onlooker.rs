//! The seam to whoever looks on while rules are asked: a developer, who wants to know which of them were, and why.
//!
//! Why a seam: verdicts are made by all who read and write, so what is seen is shared by threads, and the core holds no
//! locks. And why it is not part of the rules: production has none, and pays nothing for it but one comparison.

use hearth_rules::{Attempt, Claim, Coverage, Denial, QueryValues, Ruleset, Situation, reasons};
use hearth_tree::{BoundedText, Compact, Form, Json, OverBound, Part, Path, Snapshot, Target};
use std::fmt;
use std::sync::Arc;

/// Looks on while the rules of one database are asked.
pub trait Onlooker: fmt::Debug + Send + Sync {
    /// Has a verdict made, with the coverage of these rules to count it in; with none, where none is kept. Calls `judge`
    /// once.
    fn look_on(&self, rules: &Arc<Ruleset>, judge: &mut dyn FnMut(Option<&mut Coverage>));

    /// Whether it counts anything of verdicts but what they have cost: then those that are made again end a request only if
    /// they deny.
    fn takes_notes(&self) -> bool;

    /// A verdict was made, and has cost so many steps ([`hearth_rules::Budget::steps`]).
    fn judged(&self, steps: u64);

    /// Whether somebody with this `auth` is told why something is denied. That says what rules and data are.
    fn tells_reasons(&self, auth: &Claim) -> bool;
}

/// Longest text that says why something is denied, in bytes. What is behind it repeats itself.
pub const REASONS_BYTES_MAX: usize = 16 * 1024;

/// Longest start of a value that is shown there, in bytes.
const VALUE_BYTES_MAX: usize = 500;

/// Most places of a write that are shown there.
const PLACES_MAX: usize = 10;

/// Why a read is denied. Costs as much as the verdict again.
pub(crate) fn reasons_of_read(
    rules: &Ruleset,
    situation: &Situation<'_>,
    at: &Path,
    query: &QueryValues,
    denial: &Denial,
) -> Arc<str> {
    let (_, trace) = rules.trace_read(situation, at, query);
    bounded(reasons(rules, &[Attempt::Read(at)], situation.auth, denial, &trace, REASONS_BYTES_MAX))
}

/// Why a write is denied. Costs as much as the verdict again.
pub(crate) fn reasons_of_write(
    rules: &Ruleset,
    situation: &Situation<'_>,
    after: &Snapshot,
    targets: &[Target],
    denial: &Denial,
) -> Arc<str> {
    let (_, trace) = rules.trace_write(situation, after, targets);
    let shown = targets.iter().take(PLACES_MAX);
    let values: Vec<(String, &Path)> = shown.map(|target| (value_of(after, target), &target.path)).collect();
    let attempts: Vec<Attempt<'_>> = values.iter().map(|(value, at)| Attempt::Write(value, at)).collect();
    bounded(reasons(rules, &attempts, situation.auth, denial, &trace, REASONS_BYTES_MAX))
}

/// What would be at a place, as JSON, or the start of it.
fn value_of(after: &Snapshot, target: &Target) -> String {
    let node = after.get(&target.path);
    let mut text = BoundedText::up_to(VALUE_BYTES_MAX);
    let written = match target.part {
        Part::Value => text.append_json(&Json::new(node, Form::SOCKET), Compact),
        Part::Priority => text.append_json(&node.and_then(hearth_tree::Node::priority), Compact),
    };
    let mut text = String::from_utf8_lossy(&text.into_bytes()).into_owned();
    if let Err(OverBound) = written {
        text.push('…');
    }
    text
}

fn bounded(mut text: String) -> Arc<str> {
    if REASONS_BYTES_MAX < text.len() {
        let end = (0..=REASONS_BYTES_MAX).rev().find(|&end| text.is_char_boundary(end)).unwrap_or_default();
        text.truncate(end);
        text.push_str("…\n");
    }
    text.into()
}
