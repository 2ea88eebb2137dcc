//! Where an issuer's keys come from, and the thread that fetches them again.
//!
//! Why a thread: nobody who shows a token should wait for a network, and mostly nobody does. Only who shows a token with a
//! key that is not known waits, and that makes us ask at most once a minute, or strangers could make us ask all the time.

use super::fetch::Fetcher;
use super::set::{KeySet, KeySetError};
use arc_swap::ArcSwapOption;
use serde::de::{Deserialize, Deserializer, Error};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a token with an unknown key waits for news of its issuer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two times of asking because of an unknown key.
const PAUSE: Duration = Duration::from_secs(60);
/// Between two times of asking when nothing was learned: twice as long each time.
const RETRY_MIN: Duration = Duration::from_secs(2);
const RETRY_MAX: Duration = Duration::from_secs(5 * 60);

/// Where keys are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyPlace {
    /// An https URL.
    Url(String),
    File(PathBuf),
}

/// Keys of one issuer, as they are at the moment.
pub(crate) struct KeySource {
    place: KeyPlace,
    current: ArcSwapOption<KeySet>,
    /// Asks the thread to fetch now; there is none for a file.
    wishes: Option<SyncSender<()>>,
    /// Counts the answers to wishes, and the times of fetching, those that failed among them.
    fetched: watch::Sender<u64>,
}

/// What was read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reread<'s> {
    /// Nothing: keys that are fetched come again by themselves.
    Nothing,
    File(&'s Path),
}

/// Why there are no keys in a file.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file is not there, or not ours to read.
    #[error("cannot read the keys in `{}`: {error}", .file.display())]
    Unreadable {
        /// Its name.
        file: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// A file of another kind.
    #[error("the keys in `{}` cannot be used: {error}", .file.display())]
    Unusable {
        /// Its name.
        file: PathBuf,
        /// What is wrong.
        error: KeySetError,
    },
    /// The system gives none.
    #[error("there is no thread to fetch keys: {0}")]
    Thread(#[from] io::Error),
}

impl FromStr for KeyPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once("://") {
            None => Ok(Self::File(text.into())),
            Some(("https", rest)) if is_plain(rest) => Ok(Self::Url(text.into())),
            // Not quoted: it may have a secret in it.
            Some(("https", _)) => {
                Err("the URL of the keys cannot be used: a host is needed, and no name of a user".into())
            }
            Some(_) => Err(format!("`{text}` cannot be used: keys are at an https URL or in a file")),
        }
    }
}

/// Whether what stands behind `https://` has a host, and no name and password, which would get into logs.
fn is_plain(rest: &str) -> bool {
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    !authority.is_empty() && !authority.starts_with(':') && !authority.contains('@')
}

impl<'de> Deserialize<'de> for KeyPlace {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url(url) => f.write_str(url),
            Self::File(file) => write!(f, "{}", file.display()),
        }
    }
}

impl KeySource {
    /// Reads a file, or begins to fetch.
    ///
    /// # Errors
    /// [`KeyError`] if a file cannot be used. That a URL cannot be reached is no error: it may be later.
    pub(crate) fn open(place: KeyPlace) -> Result<Arc<Self>, KeyError> {
        let is_remote = matches!(place, KeyPlace::Url(_));
        let (wishes, wished) = sync_channel(1);
        let source = Arc::new(Self {
            place,
            current: ArcSwapOption::empty(),
            wishes: is_remote.then_some(wishes),
            fetched: watch::Sender::new(0),
        });
        match &source.place {
            KeyPlace::File(_) => drop(source.reload()?),
            KeyPlace::Url(url) => {
                let (url, source) = (url.clone(), Arc::downgrade(&source));
                let begin = move || follow(&url, &source, &wished);
                thread::Builder::new().name("keys".into()).spawn(begin)?;
            }
        }
        Ok(source)
    }

    /// The keys; nothing, if they have not been fetched yet.
    pub(crate) fn current(&self) -> Option<Arc<KeySet>> {
        self.current.load_full()
    }

    /// Whether these are those that it has.
    pub(crate) fn has(&self, keys: &Arc<KeySet>) -> bool {
        self.current.load().as_ref().is_some_and(|current| Arc::ptr_eq(current, keys))
    }

    /// Reads a file again. If it cannot be used, the keys stay as they were.
    ///
    /// # Errors
    /// [`KeyError`] says why.
    pub(crate) fn reload(&self) -> Result<Reread<'_>, KeyError> {
        let KeyPlace::File(file) = &self.place else { return Ok(Reread::Nothing) };
        let text =
            fs::read_to_string(file).map_err(|error| KeyError::Unreadable { file: file.clone(), error })?;
        let keys = KeySet::parse(&text).map_err(|error| KeyError::Unusable { file: file.clone(), error })?;
        self.current.store(Some(Arc::new(keys)));
        Ok(Reread::File(file))
    }

    /// Waits until the issuer was asked again, if that may be done now.
    pub(crate) async fn look_again(&self) {
        let Some(wishes) = &self.wishes else { return };
        let mut fetched = self.fetched.subscribe();
        // Where there is no room, one waits already, which is as good; where nobody listens, the server ends.
        if let Err(TrySendError::Disconnected(())) = wishes.try_send(()) {
            return;
        }
        // Whether it is in time or not: the keys are then what they are.
        drop(tokio::time::timeout(PATIENCE, fetched.changed()).await);
    }
}

/// Fetches keys as long as somebody needs them.
fn follow(url: &str, known: &Weak<KeySource>, wished: &Receiver<()>) {
    let fetcher = Fetcher::new();
    // What stands behind it may be a secret.
    let place = url.split(['?', '#']).next().unwrap_or_default();
    let mut retry = RETRY_MIN;
    loop {
        let outcome = fetcher.fetch(url);
        let asked = Instant::now();
        let Some(source) = known.upgrade() else { return };
        let holds = match outcome {
            Ok((keys, age)) => {
                tracing::info!(
                    url = place,
                    ?keys,
                    seconds = age.as_secs(),
                    "the keys of an issuer were fetched"
                );
                source.current.store(Some(Arc::new(keys)));
                retry = RETRY_MIN;
                age
            }
            Err(error) => {
                tracing::warn!(
                    url = place,
                    %error,
                    "the keys of an issuer could not be fetched; those that are known stay"
                );
                let pause = retry;
                retry = RETRY_MAX.min(retry * 2);
                pause
            }
        };
        source.fetched.send_modify(|times| *times += 1);
        drop(source);
        if !rest(asked, holds, known, wished) {
            return;
        }
    }
}

/// Waits until keys are to be fetched again: when they do not hold any more, or when somebody wishes it and it was long
/// ago. False, if nobody needs them any more.
fn rest(asked: Instant, holds: Duration, known: &Weak<KeySource>, wished: &Receiver<()>) -> bool {
    loop {
        let left = holds.saturating_sub(asked.elapsed());
        // Even while many wish it.
        if left.is_zero() {
            return true;
        }
        match wished.recv_timeout(left) {
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => return false,
            Ok(()) if PAUSE <= asked.elapsed() => return true,
            // Whoever wished it need not wait.
            Ok(()) => match known.upgrade() {
                None => return false,
                Some(source) => source.fetched.send_modify(|times| *times += 1),
            },
        }
    }
}

impl fmt::Debug for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeySource").field(&self.place).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wishes_for_keys_waits_for_nothing_and_has_them_fetched_once_a_minute() {
        let long = Duration::from_secs(600);
        let short = Duration::from_millis(200);
        for (ago, holds, wishes, is_due_at_once) in [
            // They hold no more.
            (Duration::ZERO, Duration::ZERO, 0, true),
            (Duration::ZERO, Duration::ZERO, 1, true),
            (Duration::from_secs(2), Duration::from_secs(1), 1, true),
            (Duration::ZERO, short, 0, false),
            // They hold, and somebody wishes for others.
            (PAUSE, long, 1, true),
            (Duration::ZERO, short, 1, false),
            (PAUSE / 2, PAUSE / 2 + short, 1, false),
        ] {
            let (wish, wished) = sync_channel(1);
            let source = Arc::new(KeySource {
                place: KeyPlace::Url("https://example.org/".into()),
                current: ArcSwapOption::empty(),
                wishes: Some(wish.clone()),
                fetched: watch::Sender::new(0),
            });
            for _ in 0..wishes {
                wish.send(()).unwrap();
            }
            let begun = Instant::now();
            let asked = begun.checked_sub(ago).unwrap();
            assert!(rest(asked, holds, &Arc::downgrade(&source), &wished));
            assert_eq!(begun.elapsed() < short / 2, is_due_at_once, "{holds:?} {wishes}");
            // Whoever does not get others does not wait for them.
            assert_eq!(*source.fetched.borrow(), if is_due_at_once { 0 } else { wishes });
            drop((wish, source));
            assert!(!rest(begun, long, &Weak::new(), &wished));
        }
    }

    #[test]
    fn keys_are_at_an_https_url_or_in_a_file() {
        let url = |text: &str| Ok(KeyPlace::Url(text.into()));
        let file = |text: &str| Ok(KeyPlace::File(text.into()));
        let nowhere =
            || Err("the URL of the keys cannot be used: a host is needed, and no name of a user".to_owned());
        let other =
            |text: &str| Err(format!("`{text}` cannot be used: keys are at an https URL or in a file"));
        for (text, expected) in [
            ("https://example.org/keys?x=@", url("https://example.org/keys?x=@")),
            ("https://example.org:8443", url("https://example.org:8443")),
            ("https://", nowhere()),
            ("https:///keys", nowhere()),
            ("https://:443/keys", nowhere()),
            ("https://kim@example.org/", nowhere()),
            ("https://kim:secret@example.org/", nowhere()),
            ("http://example.org/", other("http://example.org/")),
            ("HTTPS://example.org/", other("HTTPS://example.org/")),
            ("file:///keys", other("file:///keys")),
            ("keys.json", file("keys.json")),
            ("/etc/keys.pem", file("/etc/keys.pem")),
        ] {
            assert_eq!(text.parse::<KeyPlace>(), expected, "{text}");
        }
    }
}
