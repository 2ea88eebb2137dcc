//! Who somebody is.

mod expiry;
mod gate;
mod host;
mod keys;
mod origin;
mod proof;
mod secret;
mod token;
mod unsigned;

pub(crate) use expiry::Expiry;
pub(crate) use gate::{Gate, keep};
pub(crate) use keys::{KeyError, KeyPlace, KeySource, Reread, trust};
pub(crate) use origin::Origin;
pub(crate) use proof::{CredentialError, Proof, acting_as};
pub(crate) use secret::{Secret, SecretError};
pub(crate) use token::{
    FIREBASE_ISSUER, Issuer, LegacySecret, LegacySecretError, Minted, Tokens, UID_CHARS_MAX,
};
