//! The methods of texts (rules reference 4.2), each paid for before it works.

use crate::budget::Budget;
use crate::fault::Fault;
use crate::types::Method;
use crate::value::Value;
use std::borrow::Cow;

/// Calls a method other than `matches` on a text.
pub(crate) fn text_method<'a>(
    method: Method,
    text: &str,
    arguments: &[Cow<'_, str>],
    budget: &mut Budget,
) -> Result<Value<'a>, Fault> {
    if !budget.scan(text) {
        return Err(Fault::OverBudget);
    }
    Ok(match (method, arguments) {
        (Method::Contains, [part]) => Value::Bool(text.contains(&**part)),
        (Method::BeginsWith, [part]) => Value::Bool(text.starts_with(&**part)),
        (Method::EndsWith, [part]) => Value::Bool(text.ends_with(&**part)),
        (Method::Replace, [old, new]) => replace(text, old, new, budget)?,
        (Method::ToLowerCase, []) => made(text.len(), budget, || text.to_lowercase())?,
        (Method::ToUpperCase, []) => made(text.len(), budget, || text.to_uppercase())?,
        _ => return Err(Fault::Unsound { what: method.name(), found: "other arguments" }),
    })
}

/// Every occurrence; nothing occurs everywhere, so it is left alone (rules reference 4.2).
fn replace<'a>(text: &str, old: &str, new: &str, budget: &mut Budget) -> Result<Value<'a>, Fault> {
    if old.is_empty() {
        return made(text.len(), budget, || text.to_owned());
    }
    let occurrences = text.matches(old).count();
    let added = occurrences.saturating_mul(new.len());
    let len = (text.len() - occurrences * old.len()).saturating_add(added);
    made(len, budget, || text.replace(old, new))
}

/// `bytes` is about how long the text will be; changing the case can at most triple it.
fn made<'a>(bytes: usize, budget: &mut Budget, make: impl FnOnce() -> String) -> Result<Value<'a>, Fault> {
    if !budget.make(bytes) {
        return Err(Fault::OverBudget);
    }
    Ok(Value::Text(Cow::Owned(make())))
}
