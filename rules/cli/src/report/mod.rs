//! How results are written, for machines and for people.

pub(crate) mod expressions;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod junit;
pub(crate) mod lcov;
pub(crate) mod sarif;

use hearth_rules::Point;

/// How many of the sides were exercised. Rules without any are covered.
pub(crate) fn percent(points: &[Point]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "no document has 2^53 sides")]
    let [hit, all] =
        [points.iter().filter(|point| point.hits != 0).count(), points.len()].map(|count| count as f64);
    if points.is_empty() { 100.0 } else { 100.0 * hit / all }
}
