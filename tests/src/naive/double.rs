//! The bytes of a double: the true ones, and those that the JavaScript SDK computes (wire reference 6.3).

/// IEEE 754.
pub const fn true_bits(value: f64) -> u64 {
    value.to_bits()
}

/// The procedure of 6.3, step by step.
///
/// `ln` is the platform's. Where a double lies so close to a power of two that the last bit of the logarithm decides,
/// a platform whose logarithm is not the nearest double may answer differently from V8, whose is: for the 4.8 million
/// doubles up to 2400 steps beside each power of two that was checked.
pub fn js_bits(value: f64) -> u64 {
    if value == 0.0 {
        return value.to_bits();
    }
    let a = value.abs();
    let (e, f) = if a >= f64::MIN_POSITIVE {
        let k = (a.ln() / std::f64::consts::LN_2).floor().min(1023.0);
        #[expect(clippy::cast_possible_truncation, reason = "an exponent of a double")]
        let k = k as i32;
        (k + 1023, js_round(a * power_of_two(52 - k) - power_of_two(52)))
    } else {
        (0, js_round(a / f64::from_bits(1)))
    };
    let fraction = if f.is_infinite() {
        0
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "whole and at most 2^53 in magnitude")]
        let f = f as i64;
        f.cast_unsigned() & ((1 << 52) - 1)
    };
    let sign = u64::from(value.is_sign_negative());
    let e = u64::try_from(e).expect("the exponent of a normal double is at least -1023");
    sign << 63 | e << 52 | fraction
}

/// `Math.round`: to the nearest whole number, and upwards from the middle, also below zero.
fn js_round(value: f64) -> f64 {
    let down = value.floor();
    if value - down < 0.5 { down } else { down + 1.0 }
}

/// `Math.pow(2, k)`: infinite above the range of doubles.
fn power_of_two(k: i32) -> f64 {
    (0..k.abs()).fold(1.0, |power, _| if 0 < k { power * 2.0 } else { power / 2.0 })
}
