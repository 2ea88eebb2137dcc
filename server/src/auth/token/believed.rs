//! Tokens that were found signed lately, for whoever shows the same one with each request.
//!
//! Why: over REST a token comes with everything that is asked, and to check its signature takes several times as long as a
//! small read. What is remembered is no more than that this token, byte by byte, was signed with keys that its issuer still
//! has; whether it holds at the moment is looked at each time.

use super::AHEAD_S_MAX;
use crate::auth::Proof;
use crate::auth::keys::{KeySet, KeySource};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most tokens that come to be remembered before others are forgotten, and most bytes of them; twice as many are remembered
/// at the most. What a token says takes some five times as much as its text.
const TOKENS_MAX: usize = 2_048;
const BYTES_MAX: usize = 2 * 1024 * 1024;

/// What is remembered.
#[derive(Default)]
pub(super) struct Believed {
    /// Nobody outside can find two tokens of one name.
    names: RandomState,
    kept: Mutex<Kept>,
}

/// Why two: when the newer is full it becomes the older, and what was not shown since the last time is forgotten.
#[derive(Default)]
struct Kept {
    newer: HashMap<u64, Token>,
    newer_bytes: usize,
    older: HashMap<u64, Token>,
}

struct Token {
    text: Box<str>,
    signed: Signed,
}

/// What a token that is signed proves.
#[derive(Clone)]
pub(super) struct Signed {
    pub(super) proof: Proof,
    /// The latest of the times at which it says to begin, in milliseconds.
    pub(super) begins_ms: i64,
    /// Whose keys, and which he had.
    pub(super) source: Arc<KeySource>,
    pub(super) keys: Arc<KeySet>,
}

impl Believed {
    /// What a token proves, if that is remembered and still so.
    pub(super) fn find(&self, token: &str, now_ms: i64) -> Option<Proof> {
        let name = self.names.hash_one(token);
        let mut kept = self.kept();
        let found = kept.find(name, token)?;
        if found.holds(now_ms) {
            return Some(found.proof.clone());
        }
        kept.forget(name);
        None
    }

    /// Remembers what a token proves.
    pub(super) fn keep(&self, token: &str, signed: Signed) {
        self.kept().keep(self.names.hash_one(token), Token { text: token.into(), signed });
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Signed {
    fn holds(&self, now_ms: i64) -> bool {
        let is_over = self.proof.expires_ms.is_some_and(|expires_ms| expires_ms <= now_ms);
        let is_begun = self.begins_ms <= now_ms.saturating_add(AHEAD_S_MAX * 1000);
        is_begun && !is_over && self.source.has(&self.keys)
    }
}

impl Kept {
    fn find(&mut self, name: u64, text: &str) -> Option<&Signed> {
        let is_it = |token: &Token| *token.text == *text;
        if !self.newer.get(&name).is_some_and(is_it) {
            let shown_again = self.older.remove(&name).filter(is_it)?;
            self.keep(name, shown_again);
        }
        self.newer.get(&name).map(|token| &token.signed)
    }

    fn keep(&mut self, name: u64, token: Token) {
        if TOKENS_MAX <= self.newer.len() || BYTES_MAX < self.newer_bytes + token.text.len() {
            self.older = mem::take(&mut self.newer);
            self.newer_bytes = 0;
        }
        self.newer_bytes += token.text.len();
        if let Some(before) = self.newer.insert(name, token) {
            self.newer_bytes -= before.text.len();
        }
    }

    fn forget(&mut self, name: u64) {
        if let Some(token) = self.newer.remove(&name) {
            self.newer_bytes -= token.text.len();
        }
    }
}

/// Nothing of the tokens.
impl fmt::Debug for Believed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Believed(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source() -> Arc<KeySource> {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tokens/keys/issuer.public.pem");
        KeySource::open(file.parse().unwrap()).unwrap()
    }

    fn signed(source: &Arc<KeySource>, begins_ms: i64, expires_ms: i64) -> Signed {
        let proof = Proof { expires_ms: Some(expires_ms), ..Proof::admin() };
        Signed { proof, begins_ms, source: source.clone(), keys: source.current().unwrap() }
    }

    #[test]
    fn a_token_is_believed_while_it_holds_and_its_key_is_there() {
        let source = source();
        for (what, now_ms, text, reloads, expected) in [
            ("the same", 1_000, "a.b.c", false, true),
            ("another", 1_000, "a.b.d", false, false),
            ("the last moment", 1_999, "a.b.c", false, true),
            ("over", 2_000, "a.b.c", false, false),
            ("a clock that was set back", -59_000, "a.b.c", false, true),
            ("and more", -59_001, "a.b.c", false, false),
            ("keys that were read again", 1_000, "a.b.c", true, false),
        ] {
            let believed = Believed::default();
            believed.keep("a.b.c", signed(&source, 1_000, 2_000));
            if reloads {
                source.reload().unwrap();
            }
            assert_eq!(believed.find(text, now_ms).is_some(), expected, "{what}");
            // What does not hold is not remembered any longer.
            assert_eq!(believed.kept().newer.len(), usize::from(expected || text != "a.b.c"), "{what}");
        }
    }

    #[test]
    fn what_was_shown_lately_is_remembered_and_no_more_than_there_is_room_for() {
        let source = source();
        let believed = Believed::default();
        let keep = |number: usize| believed.keep(&number.to_string(), signed(&source, 0, 1));
        let is_known = |number: usize| believed.find(&number.to_string(), 0).is_some();
        (0..TOKENS_MAX).for_each(keep);
        assert!(is_known(0));
        (TOKENS_MAX..2 * TOKENS_MAX - 1).for_each(|number| {
            keep(number);
            assert!(is_known(7));
        });
        keep(2 * TOKENS_MAX);
        assert_eq!([7, 8, 2 * TOKENS_MAX - 2, 2 * TOKENS_MAX].map(is_known), [true, false, true, true]);
        let kept = || {
            let kept = believed.kept();
            (kept.newer.len() + kept.older.len(), kept.newer_bytes)
        };
        assert!(kept().0 <= 2 * TOKENS_MAX);
        let long = |number: usize| format!("{number}{}", "x".repeat(BYTES_MAX / 4));
        for number in 0..20 {
            believed.keep(&long(number), signed(&source, 0, 1));
            believed.keep(&long(number), signed(&source, 0, 1));
            assert!(kept().1 <= BYTES_MAX);
        }
        assert!(kept().0 <= 8, "{}", kept().0);
    }

    #[test]
    fn of_two_tokens_of_one_name_each_is_itself() {
        let source = source();
        let mut kept = Kept::default();
        let token = |text: &str| Token { text: text.into(), signed: signed(&source, 0, 1) };
        kept.keep(1, token("a"));
        assert!(kept.find(1, "a").is_some());
        assert!(kept.find(1, "b").is_none());
        kept.keep(1, token("b"));
        assert_eq!(kept.newer_bytes, 1);
        assert!(kept.find(1, "a").is_none());
        kept.older = mem::take(&mut kept.newer);
        assert!(kept.find(1, "a").is_none());
    }
}
