//! The order of names (wire reference 7.5).

use super::generate::{KEYS, cases};
use hearth_tests::naive;
use hearth_tree::{Key, ReadOptions, key_order, read_node, text_order};
use proptest::prelude::*;
use proptest::sample::select;
use std::cmp::Ordering;

/// Wire reference 17, with the two kinds of key that are equal in the SDKs left out.
const SORTED: &[&str] = &[
    "-2147483648",
    "-1",
    "-01",
    "0",
    "00",
    "1",
    "01",
    "001",
    "00000000000001",
    "9",
    "10",
    "2147483647",
    " 1",
    "+1",
    "-",
    "-2147483649",
    "-a",
    "1a",
    "1e3",
    "2147483648",
    "B",
    "Z",
    "_",
    "a",
    "zz",
    "~",
    "é",
    "😀",
    "\u{ffee}",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        select(KEYS).prop_map(String::from),
        select(SORTED).prop_map(String::from),
        "-?0{0,3}[0-9]{0,11}",
        "-?0{0,12}21474836(47|48|49)",
        "[a😀\u{ffee}\u{ff}\u{d7ff}\u{e000}-]{0,4}",
        any::<String>(),
    ]
}

#[test]
fn the_sample_of_the_sdk_is_ascending() {
    for (at, a) in SORTED.iter().enumerate() {
        for (other, b) in SORTED.iter().enumerate() {
            assert_eq!(key_order(a, b), at.cmp(&other), "`{a}` and `{b}`");
            assert_eq!(naive::key_order(a, b), at.cmp(&other), "`{a}` and `{b}` in the model");
        }
    }
}

#[test]
fn keys_that_are_equal_in_the_sdks_have_an_order_here() {
    for (a, b, expected) in [
        ("-0", "00", Ordering::Less),
        ("0", "-0", Ordering::Less),
        ("-00", "000", Ordering::Less),
        ("00", "-00", Ordering::Less),
    ] {
        assert_eq!(key_order(a, b), expected, "`{a}` and `{b}`");
        assert_eq!(key_order(b, a), expected.reverse(), "`{b}` and `{a}`");
    }
}

#[test]
fn children_stand_in_the_order_of_the_sample() {
    let backwards = SORTED.iter().rev().map(|&key| (key.into(), 1.into())).collect::<serde_json::Map<_, _>>();
    let text = serde_json::Value::from(backwards).to_string();
    let node = read_node(text.as_bytes(), &ReadOptions::default()).expect("a value").expect("children");
    let found: Vec<_> = node.children().iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(found, SORTED);
}

proptest! {
    #![proptest_config(cases(4096))]

    #[test]
    fn the_order_is_total_and_that_of_the_model(a in text(), b in text(), c in text()) {
        prop_assert_eq!(key_order(&a, &b), naive::key_order(&a, &b));
        prop_assert_eq!(text_order(&a, &b), naive::text_order(&a, &b));
        prop_assert_eq!(key_order(&a, &b), key_order(&b, &a).reverse());
        prop_assert_eq!(key_order(&a, &b) == Ordering::Equal, a == b);
        let (ab, bc) = (key_order(&a, &b), key_order(&b, &c));
        if ab == bc {
            prop_assert_eq!(key_order(&a, &c), ab);
        }
    }

    #[test]
    fn bytes_sort_as_keys_do_whatever_follows(a in text(), b in text(), rest in any::<[u8; 2]>()) {
        let (Ok(x), Ok(y)) = (Key::parse(&a), Key::parse(&b)) else { return Ok(()) };
        let bytes = |key: &Key, rest: u8| {
            let mut bytes = Vec::new();
            key.put_ordered(&mut bytes);
            prop_assert!(!bytes.starts_with(&[0]));
            bytes.push(rest);
            Ok(bytes)
        };
        let expected = naive::key_order(&a, &b).then(rest[0].cmp(&rest[1]));
        prop_assert_eq!(bytes(&x, rest[0])?.cmp(&bytes(&y, rest[1])?), expected);
    }

    #[test]
    fn the_same_texts_are_keys(text in text()) {
        prop_assert_eq!(Key::parse(&text).is_ok(), naive::check_key(&text).is_ok());
        if let (Ok(a), Ok(b)) = (Key::parse(&text), Key::parse("0")) {
            prop_assert_eq!(a.cmp(&b), naive::key_order(&text, "0"));
        }
    }
}
