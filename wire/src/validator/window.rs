//! What a query shows, as a client sees it (wire reference 5.2, 5.5).

use hearth_tree::{Change, Edit, Index, Node, Path, Query, Snapshot, To, View};

/// What is wrong with the whole result of a query.
pub(super) fn result_fault(query: &Query, node: Option<&Node>) -> Option<String> {
    let node = node.filter(|_| !query.is_everything())?;
    if node.value().is_some() {
        return Some("the result of a query is a leaf; a query shows children or nothing".into());
    }
    if node.priority().is_some() {
        return Some("the result of a query shows the priority of its root".into());
    }
    let (children, inside) = (node.children().len(), within(query, Some(node)).1);
    let outside = children - inside;
    (0 < outside).then(|| format!("the result of a query shows {outside} children that are outside of it"))
}

/// The part of a node that a query shows, and how many children that are.
fn within(query: &Query, node: Option<&Node>) -> (Option<Node>, usize) {
    let index = query.index_for(node).map(|by| Index::build(by, node));
    let view = View::new(query, node, index.as_ref()).expect("the index that it asks for is given");
    (view.to_node(), view.len())
}

/// What a client was shown through a query.
#[derive(Debug)]
pub(super) struct ShownWindow {
    at: Path,
    query: Query,
    /// Nothing, as long as that is not known.
    shown: Option<Snapshot>,
}

impl ShownWindow {
    pub(super) const fn new(at: Path, query: Query) -> Self {
        Self { at, query, shown: None }
    }

    /// The client holds nothing.
    pub(super) fn clear(&mut self) {
        self.shown = Some(Snapshot::default());
    }

    /// What the client holds is not known.
    pub(super) fn forget(&mut self) {
        self.shown = None;
    }

    /// Takes what is pushed.
    pub(super) fn push(&mut self, edits: &[Edit]) -> Result<(), String> {
        if let [Edit { at, to: To::Node(node) }] = edits
            && *at == self.at
        {
            self.clear();
            self.apply(edits);
            return result_fault(&self.query, node.as_ref()).map_or(Ok(()), Err);
        }
        let in_part = edits.iter().find_map(|edit| self.entering_in_part(edit));
        self.apply(edits);
        match in_part {
            None => Ok(()),
            Some(child) => Err(format!("`{child}` enters the window in part: the client ignores it")),
        }
    }

    /// The child that this edit is inside of, if the client does not hold it.
    fn entering_in_part(&self, edit: &Edit) -> Option<Path> {
        let shown = self.shown.as_ref()?;
        let depth = self.at.keys().len() + 1;
        let child = edit.at.up_to(depth)?;
        let is_inside = depth < edit.at.keys().len() || matches!(edit.to, To::Priority(_));
        (is_inside && shown.get(&child).is_none()).then_some(child)
    }

    /// As the client does, which drops what no longer fits.
    fn apply(&mut self, edits: &[Edit]) {
        let (Some(shown), Ok(change)) = (&self.shown, Change::new(edits.to_vec())) else { return };
        let shown = shown.apply(&change);
        let (node, _) = within(&self.query, shown.get(&self.at));
        let trimmed = Change::new(vec![Edit { at: self.at.clone(), to: To::Node(node) }]);
        self.shown = trimmed.ok().map(|change| Snapshot::default().apply(&change));
    }
}
