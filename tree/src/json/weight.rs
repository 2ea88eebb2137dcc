//! How much memory a text takes when it is read.
//!
//! Why from the text: who makes room for a value does so before it is made. Why not the length: `1,` is a node in two
//! bytes, and a text of 10 MB is one node.

/// What a node takes: the 48 bytes that it and its key have among its siblings, and some of the room in which these are
/// collected. As much again is what an object has of its own.
pub const NODE_BYTES: usize = 64;

/// The bytes that the nodes of a JSON text take while it is read, its strings apart, if no more than so many are read: not
/// less than they do, and more where strings have commas and brackets in them. O(length).
pub fn weight_of_nodes(text: &[u8], nodes_max: usize) -> usize {
    // Before each value but the first of an object stands a comma, and before that one a bracket.
    let weight = |byte: &u8| match byte {
        b',' => 1,
        b'[' | b'{' => 2,
        _ => 0,
    };
    let most = nodes_max.saturating_mul(2);
    text.iter().map(weight).sum::<usize>().min(most).saturating_mul(NODE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_and_each_object_has_its_weight() {
        for (text, expected) in [
            ("1", 0),
            ("\"text\"", 0),
            ("[1,1,1]", 4),
            ("{\"a\":1,\"b\":{\"c\":2}}", 5),
            ("[[[[0]]]],", 9),
            ("\",[\"", 3),
            ("[[[[[[[[[[", 10),
        ] {
            assert_eq!(weight_of_nodes(text.as_bytes(), 5), expected * NODE_BYTES, "{text}");
        }
    }
}
