//! Push ids (wire reference 11.1).

const ALPHABET: &str = "-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

/// What a push id says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushId {
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// The twelve digits after the time, each 0-63; the next id of the same millisecond is one more.
    pub random: Vec<u64>,
}

/// Reads a push id; nothing, if the text is none.
pub fn decode(id: &str) -> Option<PushId> {
    let digits: Option<Vec<u64>> =
        id.chars().map(|ch| ALPHABET.find(ch).map(|position| position as u64)).collect();
    let digits = digits.filter(|digits| digits.len() == 20)?;
    let (time, random) = digits.split_at(8);
    let at_ms = time.iter().fold(0, |sum, digit| sum * 64 + digit);
    Some(PushId { at_ms, random: random.to_vec() })
}

#[cfg(test)]
mod tests {
    use super::decode;

    #[test]
    fn ids_tell_their_time() {
        for (id, expected) in [
            ("-OfJOJo-------------", Some(1_764_500_000_000)),
            ("-OfJOJtHRpRMarWw0KQi", Some(1_764_500_000_338)),
            ("--------------------", Some(0)),
            ("zzzzzzzzzzzzzzzzzzzz", Some(281_474_976_710_655)),
            ("-OfJOJo------------", None),
            ("-OfJOJo--------------", None),
            ("-OfJOJo------------~", None),
            ("-OfJOJo------------é", None),
        ] {
            assert_eq!(decode(id).map(|id| id.at_ms), expected, "{id}");
        }
        assert_eq!(
            decode("---------01z--------").map(|id| id.random[..5].to_vec()),
            Some(vec![0, 1, 2, 63, 0])
        );
    }
}
