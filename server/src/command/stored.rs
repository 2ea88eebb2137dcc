//! What a server that begins says of rules that are stored with its databases: they win over what it was started with, so
//! that whoever starts it must not believe otherwise.

use crate::clock::Moment;
use crate::database::Naming;
use crate::log::Kept;
use hearth_engine::{Door, OwnRules};
use hearth_rules::Ruleset;
use hearth_rules_cli::plain;

/// Databases that are named. Where there are more, their number is said.
const NAMED_MAX: usize = 10;

/// A sentence for each database that is served and has rules of its own, without its end; those that need somebody first.
pub(super) fn stored_rules<'a>(kept: impl Iterator<Item = &'a Kept>, naming: &Naming) -> Vec<String> {
    let mut said: Vec<_> = kept.filter(|kept| is_served(&kept.name, naming)).filter_map(sentence).collect();
    said.sort();
    let more = said.len().saturating_sub(NAMED_MAX);
    let said = said.into_iter().take(NAMED_MAX).map(|(_, sentence)| sentence);
    said.chain((0 < more).then(|| format!("{more} more databases have stored rules"))).collect()
}

fn is_served(name: &str, naming: &Naming) -> bool {
    match naming {
        Naming::OnUse => true,
        Naming::Listed(names) => names.iter().any(|own| own.as_str() == name),
    }
}

/// A database that is served whose stored rules open more than is likely meant, and what, in lines.
pub(super) fn open_rules<'a>(
    kept: impl Iterator<Item = &'a Kept>,
    naming: &Naming,
) -> Option<(String, String)> {
    kept.filter(|kept| is_served(&kept.name, naming)).find_map(|Kept { name, committer }| {
        let governing = committer.governing();
        let (Some(_), Door::Rules(rules)) = (&governing.own().text, governing.door()) else { return None };
        let risks = rules.lint().into_iter().filter(|warning| warning.lint.is_risk());
        let risks: Vec<_> = risks.map(|risk| format!("warning: {risk}")).collect();
        (!risks.is_empty()).then(|| (name.clone(), plain(&risks.join("\n"))))
    })
}

/// Whether all is well, and what there is to say.
fn sentence(Kept { name, committer }: &Kept) -> Option<(bool, String)> {
    let governing = committer.governing();
    let OwnRules { version, at_ms, text } = governing.own();
    let text = text.as_deref()?;
    let of = format!("version {version} of {}", Moment(*at_ms));
    if !governing.is_lost() {
        return Some((true, format!("database `{name}` uses its stored rules, {of}")));
    }
    let problem = Ruleset::compile(text).err().map(|rejected| format!(" ({rejected})")).unwrap_or_default();
    let problem = problem.replace('\n', "; ");
    let lost = format!(
        "database `{name}` is closed to all but admins: its stored rules, {of}, cannot be used by this version of hearth{problem}; storing others mends that"
    );
    Some((false, lost))
}
