//! Keys, and the forms in which issuers publish them: a JWK set (RFC 7517), a JSON map of certificates as Google has it,
//! PEM.
//!
//! Why a key has one algorithm: a token that could choose another one could have a public key taken for a secret.

use crate::auth::CredentialError;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::{
    AlgorithmParameters, EllipticCurve, Jwk, KeyOperations, PublicKeyUse, RSAKeyParameters,
};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// What issuers may sign with.
pub(crate) const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];
/// Shortest modulus of an RSA key, in bytes: 2,048 bits (RFC 7518, 3.3).
const MODULUS_BYTES_MIN: usize = 256;
/// Most keys of one issuer; mostly they have two to four.
const KEYS_MAX: usize = 100;
const BEGIN: &str = "-----BEGIN ";

/// What an issuer signs with at a time.
pub(crate) struct KeySet(Vec<Key>);

pub(crate) struct Key {
    /// A key without a name is tried for every token.
    id: Option<String>,
    pub(crate) algorithm: Algorithm,
    pub(crate) key: DecodingKey,
}

/// Why a text is no key set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeySetError {
    /// Some other text.
    #[error("it is neither a JWK set, nor a JSON object of certificates, nor PEM")]
    Form,
    /// No keys, or of other kinds.
    #[error(
        "none of its keys can be used: RSA keys of 2048 bits or more, EC P-256 and Ed25519 keys for signatures can"
    )]
    Empty,
    /// More than anybody needs.
    #[error("it has more than {KEYS_MAX} keys")]
    TooMany,
    /// A certificate that is none.
    #[error(
        "the certificate `{id}` cannot be read: it should be PEM with an RSA key of 2048 bits or more, an EC P-256 or an Ed25519 key"
    )]
    Certificate {
        /// Its name.
        id: String,
    },
    /// A key that is none.
    #[error(
        "its key number {number} is private, weak, or cannot be read: public RSA keys of 2048 bits or more, EC P-256 and Ed25519 keys, and certificates with them, can be used"
    )]
    Pem {
        /// Counted from 1.
        number: usize,
    },
}

#[derive(Deserialize)]
struct JwkSet {
    keys: Vec<Value>,
}

impl KeySet {
    /// Reads one of the forms. Keys of a JWK set that are for something else, or of a kind that we do not know, are passed
    /// over (RFC 7517, 5).
    ///
    /// # Errors
    /// [`KeySetError`] says what is wrong.
    pub(crate) fn parse(text: &str) -> Result<Self, KeySetError> {
        let keys = if text.trim_start().starts_with(BEGIN) {
            of_pem_file(text)?
        } else if let Ok(JwkSet { keys }) = serde_json::from_str(text) {
            keys.into_iter().filter_map(of_jwk).collect()
        } else if let Ok(certificates) = serde_json::from_str::<BTreeMap<String, String>>(text) {
            of_certificates(certificates)?
        } else {
            return Err(KeySetError::Form);
        };
        match keys.len() {
            0 => Err(KeySetError::Empty),
            many if KEYS_MAX < many => Err(KeySetError::TooMany),
            _ => Ok(Self(keys)),
        }
    }

    /// The keys that may have signed a token.
    ///
    /// # Errors
    /// [`CredentialError`] if there is none, in the service's words (REST reference 2.4).
    pub(crate) fn find(&self, algorithm: Algorithm, id: Option<&str>) -> Result<Vec<&Key>, CredentialError> {
        let fits = |key: &&Key| key.algorithm == algorithm;
        let nameless = self.0.iter().filter(|key| key.id.is_none()).filter(fits);
        let Some(id) = id else {
            let found: Vec<_> = nameless.collect();
            return if found.is_empty() { Err(CredentialError::NoKeyId) } else { Ok(found) };
        };
        let named = self.0.iter().filter(|key| key.id.as_deref() == Some(id)).filter(fits);
        let found: Vec<_> = named.chain(nameless).collect();
        if found.is_empty() { Err(CredentialError::UnknownKeyId) } else { Ok(found) }
    }
}

fn of_jwk(value: Value) -> Option<Key> {
    let jwk: Jwk = serde_json::from_value(value).ok()?;
    let common = &jwk.common;
    let is_for_others =
        common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature)
            || common.key_operations.as_ref().is_some_and(|acts| !acts.contains(&KeyOperations::Verify));
    if is_for_others {
        return None;
    }
    let algorithm = algorithm_of(&jwk.algorithm)?;
    if common.key_algorithm.is_some_and(|named| named != algorithm.into()) {
        return None;
    }
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    is_sound(&key, algorithm).then_some(Key { id: jwk.common.key_id, algorithm, key })
}

/// The one algorithm of a key; none, if it is of a kind that we do not know, or one that is not public.
fn algorithm_of(key: &AlgorithmParameters) -> Option<Algorithm> {
    match key {
        AlgorithmParameters::RSA(_) => Some(Algorithm::RS256),
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => Some(Algorithm::ES256),
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => {
            Some(Algorithm::EdDSA)
        }
        AlgorithmParameters::EllipticCurve(_)
        | AlgorithmParameters::OctetKeyPair(_)
        | AlgorithmParameters::OctetKey(_)
        | AlgorithmParameters::Other(_)
        | _ => None,
    }
}

/// Whether a key is what it seems to be, and strong. Some that are not would be found out only when a token comes.
fn is_sound(key: &DecodingKey, algorithm: Algorithm) -> bool {
    let Ok(Jwk { algorithm: found, .. }) = Jwk::from_decoding_key(key, None) else { return false };
    let is_short = |rsa: &RSAKeyParameters| {
        let bytes = |modulus: Vec<u8>| modulus.iter().skip_while(|&&byte| byte == 0).count();
        URL_SAFE_NO_PAD.decode(&rsa.n).map_or(0, bytes) < MODULUS_BYTES_MIN
    };
    if let AlgorithmParameters::RSA(rsa) = &found
        && is_short(rsa)
    {
        return false;
    }
    // With an empty signature: whether it can be asked at all.
    algorithm_of(&found) == Some(algorithm) && jsonwebtoken::crypto::verify("", b"", key, algorithm).is_ok()
}

fn of_certificates(certificates: BTreeMap<String, String>) -> Result<Vec<Key>, KeySetError> {
    let read = |(id, pem): (String, String)| match of_pem(&pem) {
        Some((algorithm, key)) => Ok(Key { id: Some(id), algorithm, key }),
        None => Err(KeySetError::Certificate { id }),
    };
    certificates.into_iter().map(read).collect()
}

fn of_pem_file(text: &str) -> Result<Vec<Key>, KeySetError> {
    let blocks = text.split(BEGIN).skip(1).enumerate();
    let read = |(at, block): (usize, &str)| {
        let block = format!("{BEGIN}{block}");
        let (algorithm, key) = of_pem(&block).ok_or(KeySetError::Pem { number: at + 1 })?;
        Ok(Key { id: None, algorithm, key })
    };
    blocks.map(read).collect()
}

fn of_pem(pem: &str) -> Option<(Algorithm, DecodingKey)> {
    let bytes = pem.as_bytes();
    if pem.contains("PRIVATE KEY") {
        return None;
    }
    let rsa = DecodingKey::from_rsa_pem(bytes).map(|key| (Algorithm::RS256, key));
    let ec = || DecodingKey::from_ec_pem(bytes).map(|key| (Algorithm::ES256, key));
    let ed = |_| DecodingKey::from_ed_pem(bytes).map(|key| (Algorithm::EdDSA, key));
    let found = rsa.or_else(|_| ec()).or_else(ed).ok()?;
    is_sound(&found.1, found.0).then_some(found)
}

impl fmt::Debug for KeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| &key.id)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Of the right length; nobody has a key to it.
    fn modulus(bytes: usize) -> String {
        URL_SAFE_NO_PAD.encode(vec![0xff; bytes])
    }

    #[test]
    fn a_key_is_public_strong_and_for_signatures() {
        let rsa = |changes: Value| {
            let mut key = json!({"kty": "RSA", "n": modulus(256), "e": "AQAB", "kid": "k"});
            key.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
            key
        };
        // The base points of the curves.
        let p256 = json!({
            "kty": "EC", "crv": "P-256", "x": "axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY",
            "y": "T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU",
        });
        let ed25519 = |x: &[u8]| json!({"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode(x)});
        let base_point = [vec![0x58], vec![0x66; 31]].concat();
        for (key, expected) in [
            (rsa(json!({})), Some(Algorithm::RS256)),
            (rsa(json!({"use": "sig", "alg": "RS256", "key_ops": ["verify"]})), Some(Algorithm::RS256)),
            (rsa(json!({"use": "enc"})), None),
            (rsa(json!({"key_ops": ["sign"]})), None),
            (rsa(json!({"alg": "RS512"})), None),
            (rsa(json!({"alg": "PS256"})), None),
            (rsa(json!({"alg": "HS256"})), None),
            (rsa(json!({"alg": "unheard of"})), None),
            (rsa(json!({"n": modulus(255)})), None),
            (rsa(json!({"n": URL_SAFE_NO_PAD.encode([vec![0; 256], vec![0xff; 255]].concat())})), None),
            (rsa(json!({"n": "AQAB"})), None),
            (rsa(json!({"n": "="})), None),
            (rsa(json!({"n": ""})), None),
            (p256.clone(), Some(Algorithm::ES256)),
            (json!({"kty": "EC", "crv": "P-256", "x": p256["x"], "y": p256["x"]}), None),
            (json!({"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"}), None),
            (json!({"kty": "EC", "crv": "P-384", "x": p256["x"], "y": p256["y"]}), None),
            (json!({"kty": "EC", "crv": "secp256k1", "x": p256["x"], "y": p256["y"]}), None),
            (ed25519(&base_point), Some(Algorithm::EdDSA)),
            (ed25519(&base_point[..31]), None),
            (ed25519(&[&base_point[..], &[0]].concat()), None),
            (ed25519(&[]), None),
            (json!({"kty": "OKP", "crv": "X25519", "x": URL_SAFE_NO_PAD.encode(&base_point)}), None),
            // A secret of everybody.
            (json!({"kty": "oct", "k": modulus(32)}), None),
            (json!({"kty": "unheard of"}), None),
            (json!({}), None),
            (json!(1), None),
        ] {
            let keys = KeySet::parse(&json!({"keys": [key]}).to_string());
            let found = keys.ok().map(|KeySet(keys)| keys[0].algorithm);
            assert_eq!(found, expected, "{key}");
        }
    }

    #[test]
    fn a_key_is_found_by_its_name_and_its_algorithm() {
        let key = |id: Option<&str>| json!({"kty": "RSA", "n": modulus(256), "e": "AQAB", "kid": id});
        let named = json!({"keys": [key(Some("a")), key(Some("a")), key(Some("b"))]}).to_string();
        let nameless = json!({"keys": [key(Some("a")), key(None)]}).to_string();
        for (keys, algorithm, id, expected) in [
            (&named, Algorithm::RS256, Some("a"), Ok(2)),
            (&named, Algorithm::RS256, Some("c"), Err(CredentialError::UnknownKeyId)),
            (&named, Algorithm::RS256, None, Err(CredentialError::NoKeyId)),
            (&named, Algorithm::ES256, Some("a"), Err(CredentialError::UnknownKeyId)),
            (&named, Algorithm::HS256, Some("a"), Err(CredentialError::UnknownKeyId)),
            (&nameless, Algorithm::RS256, Some("a"), Ok(2)),
            (&nameless, Algorithm::RS256, Some("c"), Ok(1)),
            (&nameless, Algorithm::RS256, None, Ok(1)),
            (&nameless, Algorithm::EdDSA, None, Err(CredentialError::NoKeyId)),
        ] {
            let keys = KeySet::parse(keys).unwrap();
            assert_eq!(keys.find(algorithm, id).map(|found| found.len()), expected, "{algorithm:?} {id:?}");
        }
        let many = json!({"keys": vec![key(None); KEYS_MAX + 1]}).to_string();
        assert_eq!(KeySet::parse(&many).err(), Some(KeySetError::TooMany));
    }
}
