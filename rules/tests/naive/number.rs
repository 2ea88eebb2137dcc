//! Numbers as JavaScript writes them, from their shortest digits.

pub(crate) fn text(number: f64) -> String {
    if number.is_nan() {
        return "NaN".into();
    }
    if number == 0.0 {
        return "0".into();
    }
    if number < 0.0 {
        return format!("-{}", text(-number));
    }
    if number.is_infinite() {
        return "Infinity".into();
    }
    let shortest = format!("{number:e}");
    let (mantissa, exponent) = shortest.split_once('e').expect("it has an exponent");
    let digits: String = mantissa.chars().filter(|ch| *ch != '.').collect();
    // How many digits stand before the point.
    let before = exponent.parse::<i32>().expect("a small number") + 1;
    let count = i32::try_from(digits.len()).expect("17 at most");
    let zeros = |count: i32| "0".repeat(usize::try_from(count).expect("it is positive"));
    match before {
        22.. | ..=-6 => {
            let (first, rest) = digits.split_at(1);
            let point = if rest.is_empty() { "" } else { "." };
            let sign = if before > 0 { '+' } else { '-' };
            format!("{first}{point}{rest}e{sign}{}", (before - 1).abs())
        }
        1..=21 if count <= before => digits + &zeros(before - count),
        1..=21 => {
            let (whole, rest) = digits.split_at(usize::try_from(before).expect("it is positive"));
            format!("{whole}.{rest}")
        }
        _ => format!("0.{}{digits}", zeros(-before)),
    }
}
