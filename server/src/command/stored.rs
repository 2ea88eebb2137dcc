//! What a server that begins says of rules that are stored with its databases: they win over what it was started with, so
//! that whoever starts it must not believe otherwise.

use crate::clock::Moment;
use crate::database::Naming;
use crate::log::Kept;
use hearth_engine::OwnRules;
use hearth_rules::Ruleset;

/// Databases that are named. Where there are more, their number is said.
const NAMED_MAX: usize = 10;

/// A sentence for each database that is served and has rules of its own, without its end; those that need somebody first.
pub(super) fn stored_rules<'a>(kept: impl Iterator<Item = &'a Kept>, naming: &Naming) -> Vec<String> {
    let is_served = |name: &str| match naming {
        Naming::OnUse => true,
        Naming::Listed(names) => names.iter().any(|own| own.as_str() == name),
    };
    let mut said: Vec<_> = kept.filter(|kept| is_served(&kept.name)).filter_map(sentence).collect();
    said.sort();
    let more = said.len().saturating_sub(NAMED_MAX);
    let said = said.into_iter().take(NAMED_MAX).map(|(_, sentence)| sentence);
    said.chain((0 < more).then(|| format!("{more} more databases have stored rules"))).collect()
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
