//! The hash by which clients and server compare what they hold (wire reference 6).
//!
//! Why two hashes of some nodes: JavaScript clients compute the bytes of some doubles wrongly (wire reference 6.3).
//! Which of the two a client means cannot be seen, so a comparison accepts either.

use crate::key::Key;
use crate::node::Node;
use crate::order::by_priority;
use crate::scalar::{Number, Priority, Scalar};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};
use std::fmt;
use std::sync::OnceLock;

const BYTES: usize = 20;

/// SHA-1 over the text form of a node (wire reference 6.1). Shown and parsed as Base64 with padding; absence, the empty
/// text on the wire, is `Option<Hash>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hash([u8; BYTES]);

/// A text that is not a hash.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hash is 28 characters of padded Base64 (20 bytes of SHA-1), not {characters} characters")]
pub struct HashError {
    /// How many characters the text has.
    pub characters: usize,
}

impl Hash {
    pub(crate) fn of(text: Sha1) -> Self {
        Self(text.finalize().into())
    }

    /// Reads what [`struct@Hash`] displays.
    ///
    /// # Errors
    /// [`HashError`] if it is not Base64 of 20 bytes.
    pub fn parse(text: &str) -> Result<Self, HashError> {
        let mut bytes = [0; BYTES];
        let error = || HashError { characters: text.chars().count() };
        if text.len() != BYTES.div_ceil(3) * 4 {
            return Err(error());
        }
        match STANDARD.decode_slice(text, &mut bytes) {
            Ok(BYTES) => Ok(Self(bytes)),
            Ok(_) | Err(_) => Err(error()),
        }
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        base64::display::Base64Display::new(&self.0, &STANDARD).fmt(f)
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The hash of an inner node, computed when first asked for. Elsewhere, because most nodes are never asked.
#[derive(Default)]
pub(crate) struct HashCell(OnceLock<Box<Known>>);

#[derive(Clone, Copy)]
struct Known {
    hash: Hash,
    /// JavaScript's, where some number at or below makes it another one.
    js_hash: Option<Hash>,
}

/// Whose bytes of a double go into the text.
#[derive(Clone, Copy)]
pub(crate) enum Doubles {
    True,
    AsJavaScript,
}

impl Node {
    /// The hash of this node. O(1) once computed, O(nodes below that were never hashed) before.
    pub fn hash(&self) -> Hash {
        self.known().hash
    }

    /// The hash that a JavaScript client computes for this node: another one only where a number below is affected.
    /// Costs what [`Self::hash`] does.
    pub fn js_hash(&self) -> Hash {
        let Known { hash, js_hash } = self.known();
        js_hash.unwrap_or(hash)
    }

    /// Whether a client that sent `hash` holds this node, whichever client it is (wire reference 6.3).
    pub fn has_hash(&self, hash: Hash) -> bool {
        self.hash() == hash || self.js_hash() == hash
    }

    /// Whether a comparison with a hash now looks at this many nodes at most, those whose hash is known counted as one each.
    /// O(as many).
    pub fn hash_costs_at_most(&self, nodes: usize) -> bool {
        self.hash_cost_beyond(nodes).is_some()
    }

    /// What is left of so many nodes when the hash is computed; nothing, if they do not suffice.
    fn hash_cost_beyond(&self, nodes: usize) -> Option<usize> {
        let left = nodes.checked_sub(1)?;
        match self.hash_cell() {
            Some(cell) if cell.0.get().is_none() => {
                // However its children are, each of them is looked at.
                let children = self.children();
                left.checked_sub(children.len())?;
                children.iter().try_fold(left, |left, (_, child)| child.hash_cost_beyond(left))
            }
            Some(_) | None => Some(left),
        }
    }

    fn known(&self) -> Known {
        match self.hash_cell() {
            Some(cell) => **cell.0.get_or_init(|| Box::new(self.compute())),
            None => self.compute(),
        }
    }

    fn compute(&self) -> Known {
        let differs = has_number_that_differs_in_js(self)
            || self.children().iter().any(|(_, child)| child.differs_in_js());
        Known {
            hash: hash_text(self, Doubles::True, &Self::hash),
            js_hash: differs.then(|| hash_text(self, Doubles::AsJavaScript, &Self::js_hash)),
        }
    }

    /// Without the hash of a leaf, which is not kept.
    fn differs_in_js(&self) -> bool {
        match self.hash_cell() {
            Some(_) => self.known().js_hash.is_some(),
            None => has_number_that_differs_in_js(self),
        }
    }
}

/// Looks at the numbers that stand in the node itself.
fn has_number_that_differs_in_js(node: &Node) -> bool {
    let value = match node.value() {
        Some(Scalar::Number(number)) => Some(*number),
        Some(Scalar::Bool(_) | Scalar::Text(_)) | None => None,
    };
    let priority = match node.priority() {
        Some(Priority::Number(number)) => Some(*number),
        Some(Priority::Text(_)) | None => None,
    };
    let differs = |number: Number| differs_in_js(number.as_f64());
    value.is_some_and(differs) || priority.is_some_and(differs)
}

fn hash_text(node: &Node, doubles: Doubles, hash_of: &dyn Fn(&Node) -> Hash) -> Hash {
    let mut sha = Sha1::new();
    if let Some(priority) = node.priority() {
        sha.update("priority:");
        add_literal(&mut sha, &priority.clone().into(), doubles);
        sha.update(":");
    }
    if let Some(value) = node.value() {
        add_literal(&mut sha, value, doubles);
    }
    let mut add = |key: &Key, child: &Node| {
        let mut base64 = [0; 28];
        sha.update(":");
        sha.update(key.as_str());
        sha.update(":");
        STANDARD.encode_slice(hash_of(child).0, &mut base64).expect("20 bytes are 28 characters");
        sha.update(base64);
    };
    if node.has_prioritized_children() {
        by_priority(node).into_iter().for_each(|(key, child)| add(key, child));
    } else {
        node.children().iter().for_each(|(key, child)| add(key, child));
    }
    Hash::of(sha)
}

pub(crate) fn add_literal(sha: &mut Sha1, value: &Scalar, doubles: Doubles) {
    match value {
        Scalar::Bool(true) => sha.update("boolean:true"),
        Scalar::Bool(false) => sha.update("boolean:false"),
        Scalar::Text(text) => {
            sha.update("string:");
            sha.update(text.as_str());
        }
        Scalar::Number(number) => {
            let bits = match doubles {
                Doubles::True => number.as_f64().to_bits(),
                Doubles::AsJavaScript => js_bits(number.as_f64()),
            };
            let digit = |place: u32| b"0123456789abcdef"[(bits >> (60 - 4 * place) & 15) as usize];
            sha.update("number:");
            sha.update([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(digit));
        }
    }
}

fn differs_in_js(value: f64) -> bool {
    /// 2^-970.
    const TINY: f64 = f64::from_bits((1023 - 970) << 52);
    // Only what lies just below a power of two, or below 1 at one or just above, or is tiny can differ: look at the
    // bits before computing logarithms.
    let (bits, magnitude) = (value.to_bits(), value.abs());
    let leading_fraction = bits >> 32 & 0xF_FFFF;
    let near_a_power = leading_fraction == 0xF_FFFF || (leading_fraction == 0 && magnitude < 1.0);
    let tiny = magnitude < TINY;
    (near_a_power || tiny) && js_bits(value) != bits
}

/// The bits of a double as the JavaScript SDK computes them, its errors included (wire reference 6.3): it takes the
/// exponent from a logarithm, which rounds up just below some powers of two and down at some powers below 1, and its
/// scaling overflows for tiny values. `libm` and not the platform's functions: V8 takes its logarithm from the same
/// ancestor, and the answer must not depend on a libc.
fn js_bits(value: f64) -> u64 {
    const FRACTION: u64 = (1 << 52) - 1;
    if value == 0.0 {
        return value.to_bits();
    }
    let magnitude = value.abs();
    let (exponent, fraction) = if f64::MIN_POSITIVE <= magnitude {
        let power = (libm::log(magnitude) / std::f64::consts::LN_2).floor().min(1023.0);
        (power + 1023.0, js_round(magnitude * libm::exp2(52.0 - power) - libm::exp2(52.0)))
    } else {
        (0.0, js_round(magnitude / f64::from_bits(1)))
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "finite parts are whole and small; the rest is 0"
    )]
    let (exponent, fraction) =
        (exponent as u64, if fraction.is_finite() { fraction as i64 as u64 } else { 0 });
    u64::from(value.is_sign_negative()) << 63 | exponent << 52 | (fraction & FRACTION)
}

/// `Math.round`: halves go up, also below zero, where Rust's `round` goes down. Exact for multiples of a half.
fn js_round(value: f64) -> f64 {
    (value + 0.5).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_what_it_shows_and_nothing_else() {
        let text = "z6sRbrNLwbHX5fdjpvsTtWgXUFc=";
        assert_eq!(Hash::parse(text).map(|hash| hash.to_string()).as_deref(), Ok(text));
        for text in [
            "",
            "z6sRbrNLwbHX5fdjpvsTtWgXUFc",
            "z6sRbrNLwbHX5fdjpvsTtWgXUFc-",
            "z6sRbrNLwbHX5fdjpvsTtWgXUFd=",
            "====",
            &"A".repeat(28),
        ] {
            assert!(Hash::parse(text).is_err(), "{text}");
        }
        assert_eq!(
            Hash::parse("short").map_err(|error| error.to_string()),
            Err("a hash is 28 characters of padded Base64 (20 bytes of SHA-1), not 5 characters".into())
        );
    }

    #[test]
    fn doubles_that_javascript_gets_wrong_have_its_bits() {
        for (value, bits) in [
            (9_007_199_254_740_991.0, 0x4340_0000_0000_0000_u64),
            (1_125_899_906_842_623.0, 0x431f_ffff_ffff_fffc),
            (3.999_999_999_999_999_6, 0x4010_0000_0000_0000),
            (-3.999_999_999_999_999_6, 0xc010_0000_0000_0000),
            (9_007_199_254_740_992.0, 0x4340_0000_0000_0000),
            (5e-324, 1),
            (0.1, 0x3fb9_9999_9999_999a),
        ] {
            assert_eq!(format!("{:x}", js_bits(value)), format!("{bits:x}"), "{value}");
        }
    }
}
