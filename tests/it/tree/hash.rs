//! The hash of nodes (wire reference 6).

use super::generate::{INTEGERS, cases, node};
use super::twin::tree_node;
use hearth_tests::naive::{self, Doubles, Value};
use hearth_tree::{Hash, Node, Number, Scalar};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

/// A value in export form and its hash; wire reference 6.2 and 17.
#[expect(clippy::approx_constant, reason = "the reference hashes 3.14159")]
fn vectors() -> Vec<(Json, &'static str)> {
    vec![
        (json!(null), ""),
        (json!({}), ""),
        (json!({"a": null}), ""),
        (json!({"a": {"b": null}}), ""),
        (json!(""), "Ki0Xy0V6morg0TO3Sxi/jwugYDQ="),
        (json!("hello"), "z6sRbrNLwbHX5fdjpvsTtWgXUFc="),
        (json!("héllo ☃ 😀"), "L+Mhwgn0TEsl7P+R+faHiJ9x3YA="),
        (json!(true), "E5z61QM0lN/U2WsOnusszCTkR8M="),
        (json!(false), "aSSNoqcS4oQwJ2xxH20rvpp3zP0="),
        (json!(0), "7ysMph9WPitGP7poMnMHMVPtUlI="),
        // -0 is stored as 0.
        (json!(-0.0), "7ysMph9WPitGP7poMnMHMVPtUlI="),
        (json!(1), "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="),
        (json!(1.0), "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="),
        (json!(42), "bQ5XV5L9riGZgerGMb/8Z87RxeI="),
        (json!(-1.5), "M56MQ4H2xiM8kwGXZUDuLOryQxM="),
        (json!(3.14159), "rYZTh5GPpcpS36h2C4adc5r4dZk="),
        (json!(1e21), "rZwDOBGJ9Z0+flzyrCWzeSigSyE="),
        (json!(5e-324), "AVzIJwC869iLHq/DQh6bzLDrVO4="),
        (json!(1.7976931348623157e308), "8R+ekVQmxs6ZWP0fdzFHxVeGnWo="),
        (json!(1_700_000_000_000_i64), "vzg0cpxiAeqQeyjkTe0gblJSTn8="),
        (json!(9_007_199_254_740_992_i64), "m4qsp/5BbIWTdjthNlnOX+WCTB0="),
        (json!(9_007_199_254_740_991_i64), "zP1cy9AKj8mOJfzxsijijNJ8QdY="),
        (json!({".value": "hello", ".priority": 1}), "iV9Ba36CwV/MBtkK5RcZtn5xQXg="),
        (json!({".value": "hello", ".priority": "p"}), "Kf4AKh7wmtCrbk3ICLD3ttaYRZc="),
        (json!({".value": 5, ".priority": 0}), "IOrSr5GNwmzMaLyNgOHuPn5I++4="),
        (json!({"a": 1, "b": "x"}), "jRI9dwRS9sb4SWm8uuoN7+xBk4g="),
        (json!({"a": {"b": {"c": true}}}), "pmWQZosLZcmOAI2E0uzAv0YR+pY="),
        (json!({"10": "ten", "9": "nine", "a": "A"}), "c/rxFh9GP8l72DxkXh8F5+4uKcI="),
        (json!(["x", "y"]), "KtuknfwwJhsB3RrZnwAxD3+/Drs="),
        (json!({"0": "x", "1": "y"}), "KtuknfwwJhsB3RrZnwAxD3+/Drs="),
        (json!(["x", null, "z"]), "NFXibDi9E9Pp612tfCwsz6ly9fo="),
        (json!({"0": "x", "2": "z"}), "NFXibDi9E9Pp612tfCwsz6ly9fo="),
        (
            json!({"a": {".value": 1, ".priority": 2}, "b": {".value": 2, ".priority": 1}}),
            "/3lk7Vfl5OYG6Kw2SkiPXNeExPw=",
        ),
        (json!({"a": 1, "b": 2, ".priority": "pri"}), "tpkxHCtHRE/iuv9YtFQ9zC9/K7A="),
        (
            json!({"1": "a", "01": "b", "001": "c", "-5": "n", "2147483648": "big", "2147483647": "max"}),
            "9Ac558LTQvVCnUyxg+2c+PqbcD8=",
        ),
        (json!({"A": 1, "a": 2, "_": 3, "é": 4, "😀": 5, "\u{ffee}": 6}), "qMQ42I9YQxoYlX4sH/scNEIFdCQ="),
        (
            json!({
                "-OfJOJtHRpRMarWw0KQi": {"at": 1_764_500_000_348_i64, "from": "alice", "text": "hello"},
                "-OfJOLAAAAbbbbccccdd": {"at": 1_764_500_002_000_i64, "from": "bob", "text": "hi Alice!"},
            }),
            "5+UdkPeEXPwRUElrhoK+d/GvXzg=",
        ),
        (
            (0..40)
                .map(|i| (format!("k{i:02}"), json!({"t": 1000 + i, "x": format!("message number {i}")})))
                .collect(),
            "Y7tOxA3Paj8SlGkUEHokmImJul4=",
        ),
    ]
}

fn leaf(number: f64) -> Node {
    Scalar::Number(Number::from_f64(number).expect("the tests store finite numbers")).into()
}

fn model_leaf(number: f64) -> naive::Node {
    naive::Node::leaf(Value::from_f64(number).expect("the tests store finite numbers"))
}

fn check(node: &Node, model: &naive::Node) {
    let (tree, js) = (node.hash(), node.js_hash());
    assert_eq!(tree.to_string(), naive::hash(Some(model), Doubles::True), "{model:?}");
    assert_eq!(js.to_string(), naive::hash(Some(model), Doubles::JavaScript), "{model:?} in JavaScript");
    assert!(node.has_hash(tree) && node.has_hash(js));
    assert_eq!(Hash::parse(&tree.to_string()), Ok(tree));
    let other = node.with_priority(Some(super::twin::priority(&Value::Text("another".into()))));
    assert!(!node.has_hash(other.hash()));
}

#[test]
fn the_vectors_of_the_reference_hold() {
    for (json, expected) in vectors() {
        let model = naive::read(&json, None, 0).expect("the vectors are legal");
        assert_eq!(naive::hash(model.as_ref(), Doubles::True), expected, "{json} in the model");
        let tree = model.as_ref().map(|model| tree_node(model).hash().to_string());
        assert_eq!(tree.unwrap_or_default(), expected, "{json}");
    }
}

#[test]
fn numbers_have_the_bytes_that_javascript_makes_of_them() {
    // The true bytes of a number, and those that the procedure of the JavaScript SDK yields in V8.
    for (true_bits, js_bits) in [
        (0x3ff0_0000_0000_0000, 0x3ff0_0000_0000_0000),
        (0x3fe0_0000_0000_0000, 0x3fe0_0000_0000_0000),
        (0x3fb9_9999_9999_999a, 0x3fb9_9999_9999_999a),
        (0x7fef_ffff_ffff_ffff, 0x7fef_ffff_ffff_ffff),
        // Just below a power of two: 2^53 - 1, 2^50 - 1, the number before 4, the one before 2^64.
        (0x433f_ffff_ffff_ffff, 0x4340_0000_0000_0000),
        (0x430f_ffff_ffff_fff8, 0x431f_ffff_ffff_fffc),
        (0x400f_ffff_ffff_ffff, 0x4010_0000_0000_0000),
        (0x43ef_ffff_ffff_ffff, 0x43f0_0000_0000_0000),
        // At a power below 1 and just above: 2^-29 and its successor, 2^-39, 2^-971.
        (0x3e20_0000_0000_0000, 0x3e10_0000_0000_0000),
        (0x3e20_0000_0000_0001, 0x3e10_0000_0000_0002),
        (0x3d80_0000_0000_0000, 0x3d70_0000_0000_0000),
        (0x0340_0000_0000_0000, 0x0330_0000_0000_0000),
        // Tiny: 1e-300, 2^-980, 2^-1022, the least of all.
        (0x01a5_6e1f_c2f8_f359, 0x01a0_0000_0000_0000),
        (0x02b0_0000_0000_0000, 0x02b0_0000_0000_0000),
        (0x0010_0000_0000_0000, 0x0010_0000_0000_0000),
        (0x0000_0000_0000_0001, 0x0000_0000_0000_0001),
    ] {
        let number = f64::from_bits(true_bits);
        assert_eq!(naive::true_bits(number), true_bits, "{number}");
        assert_eq!(naive::js_bits(number), js_bits, "{number} in JavaScript");
        check(&leaf(number), &model_leaf(number));
        check(&leaf(-number), &model_leaf(-number));
        assert_eq!(leaf(number).js_hash() != leaf(number).hash(), true_bits != js_bits, "{number}");
    }
}

#[test]
fn javascript_is_wrong_about_exactly_the_integers_that_the_reference_lists() {
    let listed = |below: i64, power: u32| (1_i64 << power) - below;
    for (power, wrong) in [(47, 0), (48, 1), (49, 2), (50, 3), (51, 1), (52, 27), (53, 38)] {
        for below in 0..=300 {
            let integer = listed(below, power);
            let node = Node::from(Scalar::Number(integer.into()));
            let expected = 1 <= below && below <= wrong;
            assert_eq!(node.js_hash() != node.hash(), expected, "2^{power} - {below}");
            check(&node, &naive::Node::leaf(Value::Int(integer)));
        }
    }
}

proptest! {
    #![proptest_config(cases(1024))]

    #[test]
    fn hashes_are_those_of_the_model(model in node()) {
        check(&tree_node(&model), &model);
    }

    #[test]
    fn hashes_of_any_double_are_those_of_the_model(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        if number.is_finite() {
            check(&leaf(number), &model_leaf(number));
        }
    }

    #[test]
    fn hashes_near_powers_of_two_are_those_of_the_model(exponent in 0_u64..2047, steps in -900_i64..900) {
        let bits = (exponent << 52).saturating_add_signed(steps);
        let number = f64::from_bits(bits);
        if number.is_finite() {
            check(&leaf(number), &model_leaf(number));
        }
    }

    #[test]
    fn javascript_is_right_about_every_integer_below_2_to_the_48(integer in 1_i64 - (1 << 48)..(1 << 48) - 1) {
        let node = Node::from(Scalar::Number(integer.into()));
        prop_assert_eq!(node.js_hash(), node.hash());
    }

    #[test]
    fn javascript_is_wrong_about_every_tiny_number(fraction in 1_u64..1 << 52, exponent in 1_u64..52) {
        // 2^-1022 to 2^-971: normal, and not a power of two.
        let number = f64::from_bits(exponent << 52 | fraction);
        prop_assert_ne!(leaf(number).js_hash(), leaf(number).hash());
    }
}

#[test]
fn a_number_deep_below_makes_the_javascript_hash_another_one() {
    for &integer in INTEGERS {
        let json = json!({"a": {"b": {"c": integer, "d": "x"}, ".priority": integer}, "e": 1});
        let model = naive::read(&json, None, 0).expect("legal").expect("not empty");
        let node = tree_node(&model);
        check(&node, &model);
        let number = Node::from(Scalar::Number(integer.into()));
        assert_eq!(node.js_hash() != node.hash(), number.js_hash() != number.hash(), "{integer}");
    }
}
