//! A value at any depth: what most of a text consists of, so this is where the time goes.

use super::error::Problem;
use super::expected::{Expected, Read};
use super::leaf::{LeafValue, PriorityValue, Refuse};
use super::name::{Name, NameSeed, PRIORITY, VALUE};
use super::read::Reader;
use super::server_value::Operation;
use crate::draft::{Draft, Pending};
use crate::key::Key;
use crate::node::Node;
use crate::scalar::{Priority, Scalar};
use crate::server_value::ServerValue;
use serde::de::{self, MapAccess, SeqAccess};

/// A value in any of its forms, with at most `levels` levels of keys below it.
pub(super) struct Content<'r> {
    pub(super) reader: &'r mut Reader,
    pub(super) levels: usize,
}

/// What was read. The rare case is boxed, for this is moved at every level.
pub(super) enum Found {
    Nothing,
    Node(Node),
    Draft(Box<Draft>),
}

impl From<Draft> for Found {
    fn from(draft: Draft) -> Self {
        match draft.into_node() {
            Ok(node) => Self::Node(node),
            Err(draft) => Self::Draft(Box::new(draft)),
        }
    }
}

impl From<Option<Draft>> for Found {
    fn from(draft: Option<Draft>) -> Self {
        draft.map_or(Self::Nothing, Self::from)
    }
}

impl From<Found> for Option<Draft> {
    fn from(found: Found) -> Self {
        match found {
            Found::Nothing => None,
            Found::Node(node) => Some(node.into()),
            Found::Draft(draft) => Some(*draft),
        }
    }
}

impl Expected for Content<'_> {
    type Read = Found;

    fn reader(&mut self) -> &mut Reader {
        self.reader
    }

    fn null<E: de::Error>(self) -> Result<Found, E> {
        Ok(Found::Nothing)
    }

    fn scalar<E: de::Error>(self, value: Scalar) -> Result<Found, E> {
        Ok(Found::Node(value.into()))
    }

    fn object<'de, A: MapAccess<'de>>(self, mut members: A) -> Result<Found, A::Error> {
        let Content { reader, levels } = self;
        let mut open = Open::new(reader, levels);
        let mut object = Object::resume(reader, &mut open);
        while let Some(name) = members.next_key_seed(NameSeed(&mut *object.reader))? {
            object.read_member(name, &mut members)?;
        }
        object.end()
    }

    fn array<'de, A: SeqAccess<'de>>(self, mut elements: A) -> Result<Found, A::Error> {
        let Content { reader, levels } = self;
        let mut open = Open::new(reader, levels);
        let mut object = Object::resume(reader, &mut open);
        let mut position = 0;
        while object.read_element(position, &mut elements)? {
            position += 1;
        }
        object.end()
    }
}

/// An object that is being read. Its children are what stands on the reader's stacks from `start` on.
pub(super) struct Object<'r> {
    pub(super) reader: &'r mut Reader,
    open: &'r mut Open,
}

/// What is known of an object by now, beside its children.
pub(super) struct Open {
    levels: usize,
    start: Start,
    /// The inner option is the member's value, null or not.
    value: Option<Option<Pending<Scalar>>>,
    priority: Option<Option<Pending<Priority>>>,
    server_value: Option<ServerValue>,
}

/// Where an object's children begin on the reader's stacks.
#[derive(Clone, Copy)]
struct Start {
    nodes: usize,
    drafts: usize,
    absent: usize,
}

impl Open {
    /// Nothing is read of it yet.
    pub(super) const fn new(reader: &Reader, levels: usize) -> Self {
        let start =
            Start { nodes: reader.nodes.len(), drafts: reader.drafts.len(), absent: reader.absent.len() };
        Self { levels, start, value: None, priority: None, server_value: None }
    }
}

impl<'r> Object<'r> {
    /// Goes on where it was left.
    pub(super) const fn resume(reader: &'r mut Reader, open: &'r mut Open) -> Self {
        Self { reader, open }
    }

    pub(super) fn read_member<'de, A: MapAccess<'de>>(
        &mut self,
        name: Name,
        members: &mut A,
    ) -> Result<(), A::Error> {
        if self.open.server_value.is_some() {
            return Err(self.reader.refuse(Problem::ServerValueBeside { key: name.as_str().into() }));
        }
        match name {
            Name::Child(key) => self.read_child(key, members),
            Name::Value if self.open.value.is_some() => Err(self.duplicate(VALUE)),
            Name::Value => {
                self.open.value = Some(members.next_value_seed(Read(LeafValue(&mut *self.reader)))?);
                Ok(())
            }
            Name::Priority if self.open.priority.is_some() => Err(self.duplicate(PRIORITY)),
            Name::Priority => {
                self.open.priority = Some(members.next_value_seed(Read(PriorityValue(&mut *self.reader)))?);
                Ok(())
            }
            Name::ServerValue => {
                if let Some(key) = self.any_key() {
                    return Err(self.reader.refuse(Problem::ServerValueBeside { key }));
                }
                self.open.server_value = Some(members.next_value_seed(Read(Operation(&mut *self.reader)))?);
                Ok(())
            }
        }
    }

    fn read_child<'de, A: MapAccess<'de>>(&mut self, key: Key, members: &mut A) -> Result<(), A::Error> {
        let levels = self.begin_child(&key)?;
        match members.next_value_seed(Read(Content { reader: &mut *self.reader, levels })) {
            Ok(found) => self.reader.keep(key, found),
            Err(error) => {
                self.reader.leave(key);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Makes room for a child: how many levels it may have below it.
    pub(super) fn begin_child<E: de::Error>(&mut self, key: &Key) -> Result<usize, E> {
        if self.open.server_value.is_some() {
            return Err(self.reader.refuse(Problem::ServerValueBeside { key: key.as_str().into() }));
        }
        let Some(levels) = self.open.levels.checked_sub(1) else {
            self.reader.leave(key.clone());
            return Err(self.too_deep());
        };
        self.reader.count()?;
        Ok(levels)
    }

    /// Makes room for an element that is an object or array.
    pub(super) fn begin_element<E: de::Error>(&mut self, position: usize) -> Result<usize, E> {
        let Some(levels) = self.open.levels.checked_sub(1) else {
            self.reader.leave(Key::from_position(position));
            return Err(self.too_deep());
        };
        self.reader.count()?;
        Ok(levels)
    }

    /// Whether there was one more.
    pub(super) fn read_element<'de, A: SeqAccess<'de>>(
        &mut self,
        position: usize,
        elements: &mut A,
    ) -> Result<bool, A::Error> {
        let Some(levels) = self.open.levels.checked_sub(1) else {
            let problem = Problem::TooDeep { levels_max: self.reader.depth_max() };
            return match elements.next_element_seed(Refuse(&mut *self.reader, problem)) {
                Ok(element) => Ok(element.is_some()),
                Err(error) => Err(self.leave_element(position, error)),
            };
        };
        match elements.next_element_seed(Read(Content { reader: &mut *self.reader, levels })) {
            Ok(None) => return Ok(false),
            Ok(Some(Found::Nothing)) => {}
            Ok(Some(Found::Node(node))) => {
                self.reader.count()?;
                self.reader.nodes.push((Key::from_position(position), node));
            }
            Ok(Some(Found::Draft(draft))) => {
                self.reader.count()?;
                self.reader.drafts.push((Key::from_position(position), *draft));
            }
            Err(error) => return Err(self.leave_element(position, error)),
        }
        Ok(true)
    }

    fn leave_element<E>(&mut self, position: usize, error: E) -> E {
        self.reader.leave(Key::from_position(position));
        error
    }

    pub(super) fn end<E: de::Error>(mut self) -> Result<Found, E> {
        if let Some(value) = self.open.server_value {
            return Ok(Draft::leaf(Pending::Server(value), None).into());
        }
        if let Some(key) = self.sort() {
            return Err(self.duplicate(key.as_str()));
        }
        self.reader.absent.truncate(self.open.start.absent);
        let priority = self.open.priority.take().flatten();
        match (self.open.value.take().flatten(), self.any_child()) {
            (Some(_), Some(child)) => {
                let problem = Problem::ValueAndChildren { key: child.clone() };
                Err(self.reader.refuse(problem))
            }
            (Some(value), None) => Ok(Draft::leaf(value, priority).into()),
            (None, _) => Ok(self.inner(priority)),
        }
    }

    /// The inner node of the children that were read, which are sorted.
    fn inner(self, priority: Option<Pending<Priority>>) -> Found {
        let Start { nodes, drafts, .. } = self.open.start;
        let nodes = self.reader.nodes.drain(nodes..);
        if self.reader.drafts.len() == drafts {
            match priority {
                None => return Node::from_sorted(nodes, None).map_or(Found::Nothing, Found::Node),
                Some(Pending::Known(priority)) => {
                    let node = Node::from_sorted(nodes, Some(triomphe::Arc::new(priority)));
                    return node.map_or(Found::Nothing, Found::Node);
                }
                Some(Pending::Server(_)) => {}
            }
        }
        let nodes = nodes.map(|(key, node)| (key, Draft::from(node)));
        let mut children: Vec<_> = self.reader.drafts.drain(drafts..).chain(nodes).collect();
        children.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        Draft::inner(children, priority).into()
    }

    /// Brings the children into key order; a key that stands there twice, if any.
    fn sort(&mut self) -> Option<Key> {
        let nodes = &mut self.reader.nodes[self.open.start.nodes..];
        let drafts = &mut self.reader.drafts[self.open.start.drafts..];
        let absent = &mut self.reader.absent[self.open.start.absent..];
        let within = sorted(nodes, |(key, _)| key);
        if drafts.is_empty() && absent.is_empty() {
            return within;
        }
        let within = within.or_else(|| sorted(drafts, |(key, _)| key)).or_else(|| sorted(absent, |key| key));
        let is_node = |key: &Key| nodes.binary_search_by(|(node, _)| node.cmp(key)).is_ok();
        let is_draft = |key: &Key| drafts.binary_search_by(|(draft, _)| draft.cmp(key)).is_ok();
        let across = || {
            let draft = drafts.iter().map(|(key, _)| key).find(|key| is_node(key));
            draft.or_else(|| absent.iter().find(|key| is_node(key) || is_draft(key))).cloned()
        };
        within.or_else(across)
    }

    /// The name of anything in the object.
    fn any_key(&self) -> Option<String> {
        let child = || self.any_child().or_else(|| self.reader.absent[self.open.start.absent..].first());
        let member = || match (&self.open.value, &self.open.priority) {
            (Some(_), _) => Some(VALUE.into()),
            (None, Some(_)) => Some(PRIORITY.into()),
            (None, None) => None,
        };
        child().map(|key| key.as_str().into()).or_else(member)
    }

    fn any_child(&self) -> Option<&Key> {
        let node = self.reader.nodes[self.open.start.nodes..].first().map(|(key, _)| key);
        node.or_else(|| self.reader.drafts[self.open.start.drafts..].first().map(|(key, _)| key))
    }

    fn duplicate<E: de::Error>(&mut self, key: &str) -> E {
        self.reader.refuse(Problem::Duplicate { key: key.into() })
    }

    fn too_deep<E: de::Error>(&mut self) -> E {
        self.reader.refuse(Problem::TooDeep { levels_max: self.reader.depth_max() })
    }
}

/// Sorts, and gives a key that stands there twice.
fn sorted<T>(entries: &mut [T], key: impl Fn(&T) -> &Key) -> Option<Key> {
    if entries.is_sorted_by(|a, b| key(a) < key(b)) {
        return None;
    }
    entries.sort_unstable_by(|a, b| key(a).cmp(key(b)));
    let twins = entries.windows(2).find(|pair| key(&pair[0]) == key(&pair[1]))?;
    Some(key(&twins[0]).clone())
}
