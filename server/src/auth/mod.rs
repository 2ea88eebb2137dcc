//! Who somebody is.

mod unsigned;

pub(crate) use unsigned::{CredentialError, acting_as, of_development};
