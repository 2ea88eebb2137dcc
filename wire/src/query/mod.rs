//! Queries as clients spell them (wire reference 5.1).
//!
//! Why a query is kept as text beside its meaning: see [`QueryText`].

mod read;
mod spelling;
mod write;

pub use read::QueryError;
pub(crate) use read::{QueryFields, query_of};
pub use spelling::QueryText;
pub(crate) use write::QueryObject;

#[cfg(test)]
mod tests;
