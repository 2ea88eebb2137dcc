//! The rules file of a server: read at its start, and again when it has changed.

use super::run::RunError;
use super::watched_file::WatchedFile;
use crate::database::{Databases, Stopped};
use crate::say::say;
use hearth_engine::Door;
use hearth_rules::Ruleset;
use hearth_rules_cli::{Trouble, show_risks};
use std::path::PathBuf;
use std::sync::Arc;

/// A rules file that was read.
#[derive(Debug)]
pub(super) struct RulesFile {
    watched: WatchedFile,
    /// What opens the data further than is likely meant, as it was read first.
    risks: String,
    /// Whether rules are refused that have any of that.
    refuses_risks: bool,
}

impl RulesFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Every problem of the rules, or why there are none.
    pub(super) fn open(path: PathBuf) -> Result<(Self, Arc<Ruleset>), RunError> {
        let watched = WatchedFile::new(path);
        let path = watched.path();
        let rules = hearth_rules_cli::read_rules(path).map_err(|trouble| match trouble {
            Trouble::Rejected { .. } => RunError::Rejected(trouble),
            Trouble::Unreadable { .. }
            | Trouble::Unwritable { .. }
            | Trouble::Suite { .. }
            | Trouble::Argument(_)
            | Trouble::Output(_) => RunError::Rules(trouble),
        })?;
        let risks = show_risks(path, &rules);
        Ok((Self { watched, risks, refuses_risks: false }, Arc::new(rules)))
    }

    /// From now on, refuses what it would warn about.
    ///
    /// # Errors
    /// What there is to warn about already.
    pub(super) fn refusing_risks(self) -> Result<Self, RunError> {
        if self.risks.is_empty() {
            Ok(Self { refuses_risks: true, ..self })
        } else {
            Err(RunError::OpenRules { shown: self.risks.trim_end().into() })
        }
    }

    /// Lines for whoever starts the server, behind what it says of itself; none, if there is nothing to say.
    pub(super) fn risks(&self) -> &str {
        &self.risks
    }

    /// Returns when the file has changed and is whole again.
    pub(super) async fn changed(&mut self) {
        self.watched.changed().await;
    }

    /// Reads the file again, and lets it decide in all databases that have no rules of their own. Rules that cannot be
    /// used change nothing.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server.
    pub(super) async fn reload(&self, databases: &Databases) -> Result<(), Stopped> {
        let path = self.watched.path().to_owned();
        let read = move || {
            hearth_rules_cli::read_rules(&path).map(|rules| {
                let risks = show_risks(&path, &rules);
                (rules, risks)
            })
        };
        let file = self.watched.path().display();
        match tokio::task::spawn_blocking(read).await.map_err(|_| Stopped)? {
            Ok((_, risks)) if self.refuses_risks && !risks.is_empty() => {
                say(&format!(
                    "{risks}hearth: the rules stay as they were, since `--refuse-open-rules` refuses those in `{file}`\n"
                ));
            }
            Ok((rules, risks)) => {
                databases.govern(Door::Rules(Arc::new(rules))).await?;
                let own = databases.with_own_rules();
                let but = if own.is_empty() {
                    String::new()
                } else {
                    format!(", but not in databases with stored rules: {}", own.join(", "))
                };
                say(&format!(
                    "{risks}hearth: the rules in `{file}` were read again and hold from now on{but}\n"
                ));
            }
            Err(trouble) => {
                say(&format!(
                    "hearth: the rules stay as they were, since `{file}` cannot be used\n{trouble}\n"
                ));
            }
        }
        Ok(())
    }
}
