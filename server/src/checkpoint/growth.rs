//! A tree that grows from its items, given in depth-first key order.

use super::load::Damage;
use hearth_tree::{Key, Node, Priority};

/// What stands at one place, read back.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Read {
    Leaf(Node),
    Priority(Priority),
}

#[derive(Default)]
pub(super) struct Growth {
    /// The place of the last item.
    last: Vec<Key>,
    /// The inner nodes that can still get children, from the root down.
    open: Vec<Open>,
    /// A tree that is one leaf.
    leaf: Option<Node>,
    pub(super) items: u64,
}

#[derive(Default)]
struct Open {
    priority: Option<Priority>,
    children: Vec<(Key, Node)>,
}

impl Growth {
    /// The next item. O(depth), and O(n) once for a node of n children.
    pub(super) fn add(&mut self, keys: &[Key], item: Read) -> Result<(), Damage> {
        let shared = self.last.iter().zip(keys).take_while(|(a, b)| a == b).count();
        if self.items != 0 {
            self.check_next(keys, shared)?;
        }
        self.items += 1;
        self.close(shared + 1)?;
        self.last.truncate(shared);
        self.last.extend_from_slice(&keys[shared..]);
        match (item, keys.split_last()) {
            (Read::Leaf(node), None) => self.leaf = Some(node),
            (Read::Leaf(node), Some((key, above))) => {
                self.open.resize_with(above.len() + 1, Open::default);
                self.open[above.len()].children.push((key.clone(), node));
            }
            (Read::Priority(priority), _) => {
                self.open.resize_with(keys.len() + 1, Open::default);
                self.open[keys.len()].priority = Some(priority);
            }
        }
        Ok(())
    }

    /// Whether an item can follow the last one: behind it, and not below a leaf.
    fn check_next(&self, keys: &[Key], shared: usize) -> Result<(), Damage> {
        let is_behind = match (self.last.get(shared), keys.get(shared)) {
            (Some(last), Some(next)) => last < next,
            // Below the last one, which then must be open.
            (None, Some(_)) => self.open.len() == self.last.len() + 1,
            (Some(_) | None, None) => false,
        };
        if is_behind { Ok(()) } else { Err(Damage::Unordered) }
    }

    /// Ends all open nodes but the first ones.
    fn close(&mut self, open: usize) -> Result<(), Damage> {
        while open < self.open.len() {
            let node = self.open.pop().map(Open::close).ok_or(Damage::Unordered)??;
            let above = self.open.len() - 1;
            self.open[above].children.push((self.last[above].clone(), node));
        }
        Ok(())
    }

    /// The tree; nothing, if there were no items.
    pub(super) fn finish(mut self) -> Result<Option<Node>, Damage> {
        self.close(1)?;
        match self.open.pop() {
            None => Ok(self.leaf),
            Some(root) => root.close().map(Some),
        }
    }
}

impl Open {
    fn close(self) -> Result<Node, Damage> {
        let node = Node::inner(self.children).ok_or(Damage::Childless)?;
        Ok(if self.priority.is_some() { node.with_priority(self.priority) } else { node })
    }
}
