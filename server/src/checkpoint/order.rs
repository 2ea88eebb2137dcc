//! Whether items come in the order of a tree, without the tree.

use super::growth::Read;
use super::load::Damage;
use hearth_tree::Key;

/// What was seen so far of items that are given in depth-first key order. [`super::growth::Growth`] notices the same, and
/// holds all of them for that.
#[derive(Default)]
pub(crate) struct Order {
    /// Nothing before the first item.
    last: Option<(Vec<Key>, bool)>,
    items: u64,
}

impl Order {
    /// The next item.
    ///
    /// # Errors
    /// If it cannot come now.
    pub(crate) fn see(&mut self, keys: &[Key], item: &Read) -> Result<(), Damage> {
        if let Some((last, is_leaf)) = &self.last {
            let shared = last.iter().zip(keys).take_while(|(a, b)| a == b).count();
            match (last.get(shared), keys.get(shared)) {
                // The last one is an inner node, which is nothing without what is below.
                (Some(_), _) if !is_leaf => return Err(Damage::Childless),
                (Some(last), Some(next)) if last < next => {}
                (None, Some(_)) if !is_leaf => {}
                (Some(_) | None, Some(_) | None) => return Err(Damage::Unordered),
            }
        }
        let is_leaf = match item {
            Read::Leaf(_) => true,
            Read::Priority(_) => false,
        };
        self.last = Some((keys.to_vec(), is_leaf));
        self.items += 1;
        Ok(())
    }

    /// Whether nothing was seen yet.
    pub(crate) const fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    /// How many there were.
    ///
    /// # Errors
    /// If something must follow.
    pub(crate) fn end(self) -> Result<u64, Damage> {
        match self.last {
            Some((_, false)) => Err(Damage::Childless),
            Some((_, true)) | None => Ok(self.items),
        }
    }
}
