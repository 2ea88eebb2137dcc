//! The time, where the outside begins: everything below gets it as an argument.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since 1970; 0 on a machine whose clock stands before that.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

const DAY_S: i64 = 86_400;
/// Days of 400 years, after which the calendar repeats itself.
const ERA_DAYS: i64 = 146_097;
/// Days from the first of March of the year 0 to the first of January 1970.
const DAYS_TO_1970: i64 = 719_468;

/// A time in milliseconds since 1970, for people: `2026-11-30 17:55:13 UTC`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment(pub(crate) i64);

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1_000);
        let (days, second) = (seconds.div_euclid(DAY_S) + DAYS_TO_1970, seconds.rem_euclid(DAY_S));
        // Years begin in March here, so that the day that is not in every year is their last.
        let (era, day) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
        let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
        let year = era * 400 + year + next;
        let (hour, minute) = (second / 3_600, second / 60 % 60);
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02} UTC", second % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The right column is that of `date -u -d @SECONDS`.
    #[test]
    fn moments_are_told_by_the_calendar() {
        for (ms, expected) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (-1, "1969-12-31 23:59:59 UTC"),
            (951_782_399_999, "2000-02-28 23:59:59 UTC"),
            (951_868_799_000, "2000-02-29 23:59:59 UTC"),
            (951_868_800_000, "2000-03-01 00:00:00 UTC"),
            (1_772_323_200_000, "2026-03-01 00:00:00 UTC"),
            (1_796_061_313_000, "2026-11-30 17:55:13 UTC"),
            (4_107_542_400_000, "2100-03-01 00:00:00 UTC"),
        ] {
            assert_eq!(Moment(ms).to_string(), expected, "{ms}");
        }
    }
}
