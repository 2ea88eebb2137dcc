//! What nobody is shown any more.
//!
//! Why it is handed out: to let go of a tree takes as long as it holds nodes that nobody else has. Whoever publishes makes
//! everybody wait meanwhile, so that somebody else must do it.

use crate::indexes::Indexes;
use crate::published::Published;
use hearth_tree::Index;
use std::sync::Arc;

/// Something large that was replaced: to be dropped where nobody waits.
#[derive(Debug)]
#[expect(dead_code, reason = "it is held to be dropped")]
pub struct Outdated {
    published: Option<Arc<Published>>,
    indexes: Indexes,
    index: Option<Index>,
}

impl Outdated {
    pub(crate) const fn new(published: Arc<Published>, indexes: Indexes) -> Self {
        Self { published: Some(published), indexes, index: None }
    }

    pub(crate) fn of_index(index: Index) -> Self {
        Self { published: None, indexes: Indexes::default(), index: Some(index) }
    }
}
