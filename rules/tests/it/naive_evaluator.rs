//! Random expressions against an evaluator that is slow, obvious and shares no code with the real one: it walks the
//! tree that the text was printed from.

use crate::case::{Case, Step};
use proptest::prelude::*;
use serde_json::{Value, json};

/// An expression as it was made up; printed for the real evaluator, walked by the naive one.
#[derive(Clone, Debug)]
enum Expr {
    Literal(Value),
    /// `data.child(…).val()`
    Stored(&'static str),
    /// `auth.…`
    Claim(&'static str),
    Exists(&'static str),
    Has(&'static str, Box<Self>),
    Not(Box<Self>),
    Negate(Box<Self>),
    Binary(&'static str, Box<Self>, Box<Self>),
    Conditional(Box<Self>, Box<Self>, Box<Self>),
    Text(&'static str, Box<Self>, Box<Self>),
}

fn data() -> Value {
    json!({"n": 2, "t": "ab", "b": true, "o": {"n": 1}, "z": 0, "e": ""})
}

fn auth() -> Value {
    json!({"uid": "ab", "level": 2, "vip": false})
}

impl Expr {
    fn print(&self) -> String {
        match self {
            Self::Literal(Value::String(text)) => format!("'{text}'"),
            Self::Literal(value) => value.to_string(),
            Self::Stored(key) => format!("data.child('{key}').val()"),
            Self::Claim(name) => format!("auth.{name}"),
            Self::Exists(key) => format!("root.child('{key}').exists()"),
            Self::Has(key, name) => format!("data.child('{key}').hasChild({})", name.print()),
            Self::Not(inner) => format!("!({})", inner.print()),
            Self::Negate(inner) => format!("-({})", inner.print()),
            Self::Binary(operator, left, right) => {
                format!("({}) {operator} ({})", left.print(), right.print())
            }
            Self::Conditional(condition, then, otherwise) => {
                format!("({}) ? ({}) : ({})", condition.print(), then.print(), otherwise.print())
            }
            Self::Text(method, on, argument) => format!("({}).{method}({})", on.print(), argument.print()),
        }
    }

    /// Nothing: an error. An inner node is an object that equals nothing.
    fn value(&self) -> Option<Value> {
        Some(match self {
            Self::Literal(value) => value.clone(),
            Self::Stored(key) => data()[key].clone(),
            Self::Claim(name) => auth()[name].clone(),
            Self::Exists(key) => json!(!data()[key].is_null()),
            Self::Has(key, name) => json!(!data()[key][name.value()?.as_str()?].is_null()),
            Self::Not(inner) => json!(!inner.value()?.as_bool()?),
            Self::Negate(inner) => json!(-inner.value()?.as_f64()?),
            Self::Binary("&&", left, right) => {
                if left.value()? == json!(true) {
                    right.value()?
                } else {
                    json!(false)
                }
            }
            Self::Binary("||", left, right) => {
                if left.value()? == json!(true) {
                    json!(true)
                } else {
                    right.value()?
                }
            }
            Self::Binary(operator, left, right) => binary(operator, &left.value()?, &right.value()?)?,
            Self::Conditional(condition, then, otherwise) => {
                if condition.value()? == json!(true) {
                    then.value()?
                } else {
                    otherwise.value()?
                }
            }
            Self::Text(method, on, argument) => {
                // The argument is evaluated before the receiver is looked at, but an error is an error.
                let (on, argument) = (on.value()?, argument.value()?);
                let (on, argument) = (on.as_str()?, argument.as_str()?);
                match *method {
                    "contains" => json!(on.contains(argument)),
                    "beginsWith" => json!(on.starts_with(argument)),
                    _ => json!(on.ends_with(argument)),
                }
            }
        })
    }
}

fn binary(operator: &str, left: &Value, right: &Value) -> Option<Value> {
    let numbers = left.as_f64().zip(right.as_f64());
    let texts = left.as_str().zip(right.as_str());
    let same = match (numbers, left.is_object() || right.is_object()) {
        (_, true) => false,
        (Some((a, b)), false) => a == b,
        (None, false) => left == right,
    };
    let order = match (numbers, texts) {
        (Some((a, b)), _) => a.partial_cmp(&b),
        (_, Some((a, b))) => Some(a.cmp(b)),
        (None, None) => None,
    };
    Some(match operator {
        "==" | "===" => json!(same),
        "!=" | "!==" => json!(!same),
        "<" => json!(order?.is_lt()),
        "<=" => json!(order?.is_le()),
        ">" => json!(order?.is_gt()),
        ">=" => json!(order?.is_ge()),
        "+" => match (numbers, left, right) {
            (Some((a, b)), ..) => json!(a + b),
            (_, Value::String(a), Value::String(b)) => json!(format!("{a}{b}")),
            (_, Value::String(a), Value::Number(b)) => json!(format!("{a}{}", b.as_f64()?)),
            (_, Value::Number(a), Value::String(b)) => json!(format!("{}{b}", a.as_f64()?)),
            _ => return None,
        },
        "-" => numbers.map(|(a, b)| json!(a - b))?,
        _ => numbers.map(|(a, b)| json!(a * b))?,
    })
}

fn arb_key() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["n", "t", "b", "o", "z", "e", "missing"])
}

fn arb_claim() -> impl Strategy<Value = Expr> {
    prop::sample::select(vec!["uid", "level", "vip", "none"]).prop_map(Expr::Claim)
}

fn boxed<T>(value: T) -> Box<T> {
    Box::new(value)
}

/// Something that arithmetic accepts before it runs.
fn arb_number() -> BoxedStrategy<Expr> {
    let leaf = prop_oneof![
        prop::sample::select(vec![json!(1), json!(2)]).prop_map(Expr::Literal),
        arb_key().prop_map(Expr::Stored),
        arb_claim(),
    ];
    leaf.prop_recursive(2, 8, 2, |inner| {
        (prop::sample::select(vec!["-", "*"]), inner.clone(), inner)
            .prop_map(|(operator, left, right)| Expr::Binary(operator, boxed(left), boxed(right)))
    })
    .boxed()
}

/// Something that `+` and the orders accept before it runs.
fn arb_value() -> BoxedStrategy<Expr> {
    let text = prop::sample::select(vec![json!("a"), json!("ab"), json!("")]).prop_map(Expr::Literal);
    prop_oneof![text, arb_number()]
        .prop_recursive(3, 12, 2, |inner| {
            (inner.clone(), inner).prop_map(|(left, right)| Expr::Binary("+", boxed(left), boxed(right)))
        })
        .boxed()
}

fn arb_boolean() -> BoxedStrategy<Expr> {
    const COMPARE: [&str; 8] = ["==", "===", "!=", "!==", "<", "<=", ">", ">="];
    let textual = prop_oneof![arb_key().prop_map(Expr::Stored), arb_claim()];
    let leaf = prop_oneof![
        any::<bool>().prop_map(|value| Expr::Literal(json!(value))),
        arb_key().prop_map(Expr::Exists),
        (arb_key(), arb_claim()).prop_map(|(key, name)| Expr::Has(key, boxed(name))),
        (prop::sample::select(COMPARE.to_vec()), arb_value(), arb_value())
            .prop_map(|(operator, left, right)| Expr::Binary(operator, boxed(left), boxed(right))),
        (arb_key(), prop::sample::select(vec![json!(null), json!(true)])).prop_map(|(key, value)| {
            Expr::Binary("==", boxed(Expr::Stored(key)), boxed(Expr::Literal(value)))
        }),
        (prop::sample::select(vec!["contains", "beginsWith", "endsWith"]), textual.clone(), textual)
            .prop_map(|(method, on, argument)| Expr::Text(method, boxed(on), boxed(argument))),
        arb_number().prop_map(|value| Expr::Binary(
            "<",
            boxed(Expr::Negate(boxed(value))),
            boxed(Expr::Literal(json!(0)))
        )),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|inner| Expr::Not(boxed(inner))),
            (prop::sample::select(vec!["&&", "||"]), inner.clone(), inner.clone())
                .prop_map(|(operator, left, right)| Expr::Binary(operator, boxed(left), boxed(right))),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| Expr::Conditional(
                boxed(a),
                boxed(b),
                boxed(c)
            )),
        ]
    })
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn both_evaluators_agree_on_every_expression_that_compiles(expr in arb_boolean()) {
        let rules = json!({"rules": {".read": expr.print()}});
        let row = json!({
            "rules": rules, "auth": auth(), "now": 1, "data": data(), "op": {"kind": "read", "path": "/"},
        });
        prop_assert_eq!(Case::of(&row).is_allowed(), expr.value() == Some(json!(true)), "{}", expr.print());
    }
}

/// Data with the keys that expressions ask for, few distinct values, so that much is the same by chance.
fn arb_data() -> impl Strategy<Value = Value> {
    let value = prop::sample::select(vec![
        json!(null),
        json!(1),
        json!(2),
        json!("ab"),
        json!(true),
        json!({"ab": 1}),
        json!({"n": 1}),
        json!({".value": 1, ".priority": 2}),
    ]);
    let keys = ["n", "t", "b", "o", "z", "e", "missing"];
    prop::collection::vec(value, keys.len())
        .prop_map(move |values| Value::Object(keys.iter().map(|key| (*key).to_owned()).zip(values).collect()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn a_verdict_can_only_change_with_what_it_looked_at(expr in arb_boolean(), one in arb_data(), other in arb_data()) {
        let verdict = |data: &Value| {
            let row = json!({
                "rules": {"rules": {".read": expr.print()}}, "auth": auth(), "now": 1, "data": data,
                "op": {"kind": "read", "path": "/"},
            });
            let case = Case::of(&row);
            let Step::Read(verdict) = case.step() else { panic!("a read") };
            (verdict, case.before)
        };
        let ((one, before), (other, after)) = (verdict(&one), verdict(&other));
        let differs = one.looks.iter().any(|look| look.differs(&before, &after));
        prop_assert!(differs || one == other, "{}", expr.print());
    }
}
