//! Keys for new children of a list, in the order in which they are made (wire reference 11.1).

use crate::key::Key;

/// The alphabet, in ASCII order, so that ids sort as they were made.
const ALPHABET: &[u8; 64] = b"-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz";

const TIME_DIGITS: usize = 8;
const RANDOM_DIGITS: usize = 12;

/// Most milliseconds since 1970 that an id can carry: 48 bits, the year 10889.
const TIME_MS_MAX: u64 = (1 << 48) - 1;
/// 72 bits.
const RANDOM_MAX: u128 = (1 << 72) - 1;

/// Makes push ids: 20 characters, first the time, then 72 random bits, which count on within one millisecond.
#[derive(Clone, Debug, Default)]
pub struct PushIds {
    last: Option<Last>,
}

#[derive(Clone, Copy, Debug)]
struct Last {
    /// When it was made.
    now_ms: u64,
    /// The time that it carries: a millisecond more, once the numbers of its own had run out.
    time_ms: u64,
    number: u128,
}

impl PushIds {
    /// The next id. `now_ms` is the time in milliseconds since 1970; `random`, of which the lowest 72 bits are used, is
    /// drawn only when the millisecond is another one than that of the last id. So no one can guess an id, and the ids
    /// of one millisecond still keep their order.
    pub fn next(&mut self, now_ms: u64, random: impl FnOnce() -> u128) -> Key {
        let now_ms = now_ms.min(TIME_MS_MAX);
        // Once a millisecond has borrowed the next one, that one counts on as well: drawn anew, an id could come twice.
        let counts_on = |last: &Last| last.now_ms == now_ms || last.time_ms == now_ms;
        let next = match self.last.filter(counts_on) {
            Some(last) if last.number < RANDOM_MAX => Last { now_ms, number: last.number + 1, ..last },
            Some(last) => Last { time_ms: last.time_ms + 1, number: 0, now_ms },
            None => Last { now_ms, time_ms: now_ms, number: random() & RANDOM_MAX },
        };
        self.last = Some(next);
        spell(next.time_ms, next.number)
    }
}

fn spell(time_ms: u64, number: u128) -> Key {
    let digits = digits(time_ms.into(), TIME_DIGITS).chain(digits(number, RANDOM_DIGITS));
    let text: String = digits.map(char::from).collect();
    Key::parse(&text).expect("the alphabet has only characters that keys may have")
}

/// Base 64, most significant digit first.
fn digits(value: u128, count: usize) -> impl Iterator<Item = u8> {
    (0..count)
        .rev()
        .map(move |place| ALPHABET[usize::try_from(value >> (6 * place) & 63).unwrap_or_default()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_the_time_and_then_a_number_that_counts_on_within_a_millisecond() {
        let mut ids = PushIds::default();
        for (now_ms, random, expected) in [
            (1_764_500_000_000, 0, "-OfJOJo-------------"),
            (1_764_500_000_000, 99, "-OfJOJo------------0"),
            (1_764_500_000_001, 63, "-OfJOJo0-----------z"),
            (1_764_500_000_001, 99, "-OfJOJo0----------0-"),
            (1_764_500_000_000, 64 * 64, "-OfJOJo----------0--"),
            (1_764_500_000_002, RANDOM_MAX, "-OfJOJo1zzzzzzzzzzzz"),
            (1_764_500_000_002, 99, "-OfJOJo2------------"),
            (1_764_500_000_002, 99, "-OfJOJo2-----------0"),
            (1_764_500_000_003, 0, "-OfJOJo2-----------1"),
            (1_764_500_000_003, 0, "-OfJOJo2-----------2"),
            (1_764_500_000_004, 0, "-OfJOJo3------------"),
            (0, u128::MAX, "--------zzzzzzzzzzzz"),
            (u64::MAX, 1, "zzzzzzzz-----------0"),
        ] {
            assert_eq!(ids.next(now_ms, || random).as_str(), expected, "at {now_ms} with {random}");
        }
    }

    #[test]
    fn ids_sort_as_they_were_made() {
        let mut ids = PushIds::default();
        let made: Vec<Key> =
            (0..5_000).map(|n| ids.next(1_700_000_000_000 + n / 700, || RANDOM_MAX - 350)).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
    }
}
