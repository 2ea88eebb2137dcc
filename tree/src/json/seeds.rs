//! The seeds by which other crates read values inside messages of their own.

use super::expected::Read;
use super::leaf::PriorityValue;
use super::object::{Content, Found};
use super::read::Reader;
use super::update::{Parts, UpdateParts};
use crate::draft::{Draft, Pending};
use crate::node::Node;
use crate::scalar::Priority;
use serde::Deserializer;
use serde::de::DeserializeSeed;

/// Reads a value that a client writes, see [`Reader::value`].
#[derive(Debug)]
pub struct ValueSeed<'r>(pub(super) &'r mut Reader);

/// Reads a stored value, see [`Reader::node`].
#[derive(Debug)]
pub struct NodeSeed<'r>(pub(super) &'r mut Reader);

/// Reads a priority, see [`Reader::priority`].
#[derive(Debug)]
pub struct PrioritySeed<'r>(pub(super) &'r mut Reader);

/// Reads an update, see [`Reader::update`].
#[derive(Debug)]
pub struct UpdateSeed<'r>(pub(super) &'r mut Reader);

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Option<Draft>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let levels = self.0.depth_max();
        Read(Content { reader: self.0, levels }).deserialize(deserializer).map(Into::into)
    }
}

impl<'de> DeserializeSeed<'de> for NodeSeed<'_> {
    type Value = Option<Node>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        let levels = self.0.depth_max();
        match Read(Content { reader: self.0, levels }).deserialize(deserializer)? {
            Found::Nothing => Ok(None),
            Found::Node(node) => Ok(Some(node)),
            Found::Draft(_) => unreachable!("a reader of nodes refuses every server value"),
        }
    }
}

impl<'de> DeserializeSeed<'de> for PrioritySeed<'_> {
    type Value = Option<Pending<Priority>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        Read(PriorityValue(self.0)).deserialize(deserializer)
    }
}

impl<'de> DeserializeSeed<'de> for UpdateSeed<'_> {
    type Value = UpdateParts;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<UpdateParts, D::Error> {
        Read(Parts(self.0)).deserialize(deserializer)
    }
}
