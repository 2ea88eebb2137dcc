//! Who somebody is.

mod gate;
mod host;
mod origin;
mod secret;
mod unsigned;

pub(crate) use gate::{Gate, keep};
pub(crate) use origin::Origin;
pub(crate) use secret::{Secret, SecretError};
pub(crate) use unsigned::{CredentialError, acting_as};
