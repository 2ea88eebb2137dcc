//! Places as requests name them.

use super::error::RequestError;
use hearth_tree::{Path, Target};

/// What clients make up for themselves, and never ask a server for (wire reference 8).
const INFO: &str = ".info";

/// Reads the place of a request.
pub(super) fn place(text: &str) -> Result<Path, RequestError> {
    refuse_info(text)?;
    Ok(Path::parse(text)?)
}

/// Reads the place of a request that writes.
pub(super) fn target(text: &str) -> Result<Target, RequestError> {
    refuse_info(text)?;
    Ok(Target::<Path>::parse(text)?)
}

fn refuse_info(text: &str) -> Result<(), RequestError> {
    let first = text.split('/').find(|part| !part.is_empty());
    if first == Some(INFO) { Err(RequestError::Info) } else { Ok(()) }
}
