//! Queries without the `.indexOn` that they need.
//!
//! Why they are told: a listener is served all the same, so that nobody notices what it costs, and what is to be added to the
//! rules stands nowhere else than in the console of an app that somebody may be looking at.

use crate::audit::shown;
use crate::database::Database;
use crate::seldom::Seldom;
use hearth_rules::{IndexToAdd, MissingIndex};
use std::time::Instant;

/// Which were told lately.
#[derive(Debug, Default)]
pub(crate) struct Unindexed(Seldom);

impl Unindexed {
    /// Counts one, and says what to add where in the rules. Of one place there, one is told. Where the rules know nothing of
    /// a place, those of the same depth below what they know are one, and where they know nothing at all, those that begin
    /// with the same key. `request` is what the request is called, if it is one.
    pub(crate) fn asked(&self, database: &Database, missing: &MissingIndex, request: Option<&str>) {
        database.meters().index_misses.add(1);
        let MissingIndex { on, at } = missing;
        let IndexToAdd { place, known, line } = database.published().door().index_to_add(missing);
        let first = (known == "/").then(|| at.keys().first());
        let name = (database.name(), on, known, first, at.keys().len());
        if let Some(untold) = self.0.is_due(name, Instant::now()) {
            let others = if untold == 0 { String::new() } else { format!(" ({untold} such queries before)") };
            let request = request.map(|id| format!(", id `{id}`")).unwrap_or_default();
            tracing::warn!(
                "a query in database `{}` needs an index that its rules do not define: add {} at `{}`{request}{others}",
                database.name(),
                shown(&line),
                shown(&place),
            );
        }
    }
}
