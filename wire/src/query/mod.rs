//! Queries as clients spell them (wire reference 5.1).
//!
//! Why what is written must be what JavaScript writes: when a listen is revoked, its SDK finds the listen by comparing
//! every key and value of the query with its own.

mod read;
mod write;

pub use read::QueryError;
pub(crate) use read::{QueryFields, query_of};
pub(crate) use write::QueryObject;

#[cfg(test)]
mod tests;
