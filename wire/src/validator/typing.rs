//! The types of the fields of a message, whoever it goes to (wire reference 2.4, 3.2, 3.3, 15).

use super::document::Json;
use super::value::{fault, path_fault, priority_fault, split_priority};
use crate::handshake::{HANDSHAKE_TIME_MS_MIN, PROTOCOL_VERSION};
use crate::session::SessionId;
use crate::status::Status;
use hearth_tree::Excerpt;

/// What is wrong with the types of a message. The first fault of each part.
pub(super) fn faults(message: &Json) -> Vec<String> {
    let repeated =
        message.repeated_key().map(|key| format!("key `{}` stands twice in one object", Excerpt(key)));
    repeated.into_iter().chain(layers(message).err()).collect()
}

type Checked = Result<(), String>;

fn layers(message: &Json) -> Checked {
    only(message, &["t", "d"], "a message")?;
    let payload = required(message, "d", "a message")?;
    match required(message, "t", "a message")?.text() {
        Some("c") => control(payload),
        Some("d") => data(payload),
        Some(_) | None => Err("`t` must be \"c\" or \"d\"".into()),
    }
}

fn control(payload: &Json) -> Checked {
    let value = required(payload, "d", "a control message")?;
    let kind = required_text(payload, "t", "a control message")?;
    match kind {
        "h" => handshake(value),
        "r" if value.text().is_none_or(str::is_empty) => Err("the host of a reset must be a text".into()),
        "s" | "e" if value.text().is_none() => {
            Err(format!("the `d` of control message `{kind}` must be a text"))
        }
        "r" | "s" | "e" | "o" | "a" | "n" => Ok(()),
        _ => Err(format!("there is no control message `{}`", Excerpt(kind))),
    }
}

fn handshake(value: &Json) -> Checked {
    let what = "the handshake";
    match required(value, "ts", what)?.integer() {
        Some(ts) if i128::from(HANDSHAKE_TIME_MS_MIN) < ts => {}
        Some(_) => {
            return Err(
                "`ts` of the handshake is too low for milliseconds: Android connects again for ever".into()
            );
        }
        None => {
            return Err("`ts` of the handshake must be an integer: Android connects again for ever".into());
        }
    }
    if required_text(value, "v", what)? != PROTOCOL_VERSION {
        return Err(format!("`v` of the handshake must be \"{PROTOCOL_VERSION}\""));
    }
    match required_text(value, "h", what)? {
        "" => return Err("`h` of the handshake must name a host".into()),
        host if host.starts_with("0.0.0.0") || host.starts_with("[::]") => {
            return Err("`h` of the handshake is an address to listen at; no client reaches it".into());
        }
        _ => {}
    }
    match required_text(value, "s", what)? {
        "" => Ok(()),
        session => {
            SessionId::parse(session).map(drop).map_err(|error| format!("`s` of the handshake: {error}"))
        }
    }
}

fn data(payload: &Json) -> Checked {
    if payload.member("error").is_some() {
        return Err("a data message with `error` makes JavaScript throw and Apple crash".into());
    }
    match (payload.member("r"), payload.member("a")) {
        (Some(number), None) => {
            only(payload, &["r", "b"], "a response")?;
            if number.integer().is_none_or(|number| number < 0) {
                return Err(format!("`r` must be an integer, not {}", number.kind()));
            }
            response(required(payload, "b", "a response")?)
        }
        (None, Some(name)) => {
            only(payload, &["a", "b"], "a push")?;
            let name = name.text().ok_or("`a` must be a text")?;
            push(name, required(payload, "b", "a push")?)
        }
        (Some(_), Some(_)) => Err("a message is a response (`r`) or a push (`a`), not both".into()),
        (None, None) => Err("a data message must have `r` or `a`".into()),
    }
}

fn response(body: &Json) -> Checked {
    only(body, &["s", "d"], "the body of a response")?;
    let status = required_text(body, "s", "a response")?;
    let data = required(body, "d", "a response")?;
    match (status, data) {
        ("ok", _) => Ok(()),
        (_, Json::Text(_) | Json::Null) if Status::parse(status).is_some() => Ok(()),
        (_, Json::Text(_) | Json::Null) => Err(format!("there is no status `{}`", Excerpt(status))),
        (_, Json::Bool(_) | Json::Integer(_) | Json::Double(_) | Json::Array(_) | Json::Object(_)) => {
            Err(format!(
                "the `d` of an error must be a text or null, not {}: Android drops the connection",
                data.kind()
            ))
        }
    }
}

fn push(name: &str, body: &Json) -> Checked {
    match name {
        "d" | "m" | "rm" => {
            only(body, &["p", "d", "t"], "the body of a push")?;
            if let Some(tag) = body.member("t").filter(|tag| tag.integer().is_none_or(|tag| tag < 0)) {
                return Err(format!(
                    "`t` must be an integer, not {}: Android takes the push for an untagged one",
                    tag.kind()
                ));
            }
            let path = path(body)?;
            let data = required(body, "d", "a push")?;
            match name {
                "d" => set(path, data),
                "m" => merge(path, data),
                _ => ranges(data),
            }
        }
        "c" => cancel(body),
        "ac" | "apc" => {
            only(body, &["s", "d"], "a revocation")?;
            required_text(body, "s", "a revocation")?;
            required_text(body, "d", "a revocation").map(drop)
        }
        "sd" => required_text(body, "msg", "a debug text").map(drop),
        _ => Err(format!("there is no push `{}`", Excerpt(name))),
    }
}

fn path(body: &Json) -> Result<&str, String> {
    let path = required_text(body, "p", "a push")?;
    path_fault(path).map_or(Ok(path), Err)
}

fn depth(path: &str) -> usize {
    split_priority(path).0.split('/').filter(|key| !key.is_empty()).count()
}

fn set(path: &str, data: &Json) -> Checked {
    let (_, is_priority) = split_priority(path);
    let fault = if is_priority { priority_fault(data) } else { fault(data, depth(path)) };
    fault.map_or(Ok(()), Err)
}

fn merge(path: &str, data: &Json) -> Checked {
    let Json::Object(members) = data else {
        return Err(format!("the `d` of a merge must be an object, not {}", data.kind()));
    };
    if members.is_empty() {
        return Err("a merge says nothing".into());
    }
    for (key, value) in members {
        if key.is_empty() || key == "/" {
            return Err("a merge sets its own place; that is a `d`".into());
        }
        path_fault(key).map_or(Ok(()), Err)?;
        let (_, is_priority) = split_priority(key);
        let fault = if is_priority { priority_fault(value) } else { fault(value, depth(path) + depth(key)) };
        fault.map_or(Ok(()), Err)?;
    }
    let mut keys: Vec<Vec<&str>> =
        members.iter().map(|(key, _)| key.split('/').filter(|key| !key.is_empty()).collect()).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[1].starts_with(&pair[0])) {
        None => Ok(()),
        Some(pair) => {
            Err(format!("in a merge `{}` is at or above `{}`", pair[0].join("/"), pair[1].join("/")))
        }
    }
}

fn ranges(data: &Json) -> Checked {
    let Json::Array(ranges) = data else {
        return Err(format!("the `d` of a range merge must be an array, not {}", data.kind()));
    };
    for range in ranges {
        only(range, &["s", "e", "m"], "a range")?;
        for end in ["s", "e"] {
            match range.member(end).map(Json::text) {
                None => {}
                Some(None) => return Err(format!("`{end}` of a range must be a text")),
                Some(Some(path)) => path_fault(path).map_or(Ok(()), Err)?,
            }
        }
        fault(required(range, "m", "a range")?, 0).map_or(Ok(()), Err)?;
    }
    Ok(())
}

fn cancel(body: &Json) -> Checked {
    only(body, &["p", "q"], "a revoked listen")?;
    path(body)?;
    match body.member("q") {
        None => Ok(()),
        Some(Json::Array(queries)) if matches!(queries[..], [Json::Object(_)]) => Ok(()),
        Some(_) => Err("`q` of a revoked listen must be an array of one query: JavaScript throws".into()),
    }
}

fn required<'j>(object: &'j Json, name: &str, what: &str) -> Result<&'j Json, String> {
    object.member(name).ok_or_else(|| format!("{what} must have `{name}`"))
}

fn required_text<'j>(object: &'j Json, name: &str, what: &str) -> Result<&'j str, String> {
    let value = required(object, name, what)?;
    value.text().ok_or_else(|| format!("`{name}` of {what} must be a text, not {}", value.kind()))
}

/// No other members.
fn only(object: &Json, names: &[&str], what: &str) -> Checked {
    if !object.is_object() {
        return Err(format!("{what} must be an object, not {}", object.kind()));
    }
    match object.members().iter().find(|(key, _)| !names.contains(&key.as_str())) {
        None => Ok(()),
        Some((key, _)) => Err(format!("{what} has `{}`, which nobody reads", Excerpt(key))),
    }
}
