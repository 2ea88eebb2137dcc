//! The file of limits of a server: read at its start, and again when it has changed.

use super::run::RunError;
use super::watched_file::WatchedFile;
use crate::database::{Databases, Stopped};
use crate::limits::{Limits, Mistake, parse};
use crate::say::say;
use hearth_rules_cli::{excerpt, plain};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file of limits that was read.
#[derive(Debug)]
pub(super) struct LimitsFile {
    watched: WatchedFile,
}

/// Why there are no limits to be had of a file.
#[derive(Debug)]
enum Unusable {
    Unreadable(io::Error),
    /// Every mistake, in lines.
    Mistakes(String),
}

impl LimitsFile {
    /// Reads the file.
    ///
    /// # Errors
    /// Every mistake in it, or why it cannot be read.
    pub(super) fn open(path: PathBuf) -> Result<(Self, Limits), RunError> {
        let watched = WatchedFile::new(path);
        let limits = read(watched.path()).map_err(|unusable| match unusable {
            Unusable::Unreadable(error) => RunError::Unreadable { file: watched.path().into(), error },
            Unusable::Mistakes(shown) => RunError::Limits { shown },
        })?;
        Ok((Self { watched }, limits))
    }

    /// Its name.
    pub(super) fn path(&self) -> &Path {
        self.watched.path()
    }

    /// Returns when the file has changed and is whole again.
    pub(super) async fn changed(&mut self) {
        self.watched.changed().await;
    }

    /// Reads the file again, and lets it hold. A file that cannot be used changes nothing.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server.
    pub(super) async fn reload(&self, databases: &Databases) -> Result<(), Stopped> {
        let path = self.watched.path().to_owned();
        let file = self.watched.path().display();
        match tokio::task::spawn_blocking(move || read(&path)).await.map_err(|_| Stopped)? {
            Ok(limits) => {
                databases.limiter().replace(limits);
                say(&format!("hearth: the limits in `{file}` were read again and hold from now on\n"));
            }
            Err(Unusable::Unreadable(error)) => {
                say(&format!(
                    "hearth: the limits stay as they were, since `{file}` cannot be read: {error}\n"
                ));
            }
            Err(Unusable::Mistakes(shown)) => {
                say(&format!(
                    "hearth: the limits stay as they were, since `{file}` cannot be used\n{shown}\n"
                ));
            }
        }
        Ok(())
    }
}

fn read(path: &Path) -> Result<Limits, Unusable> {
    let source = fs::read_to_string(path).map_err(Unusable::Unreadable)?;
    parse(&source).map_err(|mistakes| Unusable::Mistakes(show(path, &source, &mistakes)))
}

/// As problems of rules are shown.
fn show(path: &Path, source: &str, mistakes: &[Mistake]) -> String {
    let shown = |Mistake { span, position, text }: &Mistake| {
        let place = format!("{}:{}:{}", path.display(), position.line, position.column);
        format!("error: {place}: {text}\n{}", excerpt(source, *span))
    };
    plain(mistakes.iter().map(shown).collect::<String>().trim_end())
}
