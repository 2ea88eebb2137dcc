//! The rules file of a server: read at its start, and again when it has changed.
//!
//! Why we look at the file and are not told by the system: editors replace a file by another one, containers and network
//! folders pass no events on, and one look at one file five times a second costs nothing that could be measured. A change
//! is taken up when two looks find the same, so that half a file is not taken for a whole one.

use super::run::RunError;
use crate::database::{Databases, Stopped};
use crate::say::say;
use hearth_engine::Door;
use hearth_rules::Ruleset;
use hearth_rules_cli::{Trouble, show_risks};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// A rules file that was read.
#[derive(Debug)]
pub(super) struct RulesFile {
    path: PathBuf,
    /// What it was when it was read last.
    seen: Option<Stamp>,
    /// What opens the data further than is likely meant, as it was read first.
    risks: String,
}

/// What changes whenever a file does: it may be another one by the same name, or the same one with other contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    /// Nothing, if the file is not there.
    fn of(path: &Path) -> Option<Self> {
        let found = fs::metadata(path).ok()?;
        Some(Self {
            file: (found.dev(), found.ino()),
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

impl RulesFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Every problem of the rules, or why there are none.
    pub(super) fn open(path: PathBuf) -> Result<(Self, Arc<Ruleset>), RunError> {
        let seen = Stamp::of(&path);
        let rules = hearth_rules_cli::read_rules(&path).map_err(|trouble| match trouble {
            Trouble::Rejected { .. } => RunError::Rejected(trouble),
            Trouble::Unreadable { .. }
            | Trouble::Unwritable { .. }
            | Trouble::Suite { .. }
            | Trouble::Argument(_)
            | Trouble::Output(_) => RunError::Rules(trouble),
        })?;
        let risks = show_risks(&path, &rules);
        Ok((Self { path, seen, risks }, Arc::new(rules)))
    }

    /// Lines for whoever starts the server, behind what it says of itself; none, if there is nothing to say.
    pub(super) fn risks(&self) -> &str {
        &self.risks
    }

    /// Returns when the file has changed and is whole again.
    pub(super) async fn changed(&mut self) {
        let mut last = self.seen;
        loop {
            sleep(LOOK).await;
            let found = Stamp::of(&self.path);
            if found == last && found != self.seen {
                self.seen = found;
                return;
            }
            last = found;
        }
    }

    /// Reads the file again, and lets it decide in all databases that have no rules of their own. Rules that cannot be
    /// used change nothing.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server.
    pub(super) async fn reload(&self, databases: &Databases) -> Result<(), Stopped> {
        let path = self.path.clone();
        let read = move || {
            hearth_rules_cli::read_rules(&path).map(|rules| {
                let risks = show_risks(&path, &rules);
                (rules, risks)
            })
        };
        let file = self.path.display();
        match tokio::task::spawn_blocking(read).await.map_err(|_| Stopped)? {
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
