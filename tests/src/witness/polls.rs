//! Sessions of long polling, whatever connections their answers come over (wire reference 14).
//!
//! Only the server's side is judged: its messages are put in their order, while what a client says may overtake itself.

use super::web::Answer;
use hearth_wire::Validator;
use serde_json::Value;
use std::collections::BTreeMap;

/// The sessions, by the ids of their tickets.
#[derive(Default)]
pub(super) struct Polls(BTreeMap<String, Session>);

struct Session {
    validator: Validator,
    /// The number of the next messages.
    number: u64,
    /// Messages whose turn has not come.
    early: BTreeMap<u64, Vec<String>>,
}

/// What a script says.
enum Call<'s> {
    Start(&'s str),
    Messages(u64, Vec<String>),
    Close,
}

impl Polls {
    /// Takes an answer. What is wrong with it.
    pub(super) fn told(&mut self, answer: &Answer) -> Option<String> {
        let Answer { target, status, body } = answer;
        let query = target.strip_prefix("/.lp?")?;
        let is_script =
            *status == 200 && param(query, "dframe").is_none() && param(query, "disconn").is_none();
        if !is_script {
            return None;
        }
        let Ok(script) = std::str::from_utf8(body) else { return Some("a script is not UTF-8".into()) };
        let mut id = param(query, "id").unwrap_or_default().to_owned();
        for line in script.lines().filter(|line| !line.starts_with("function ")) {
            match call(line) {
                None => return Some(format!("clients do not know what `{line:.100}` says")),
                Some(Call::Start(own)) => {
                    own.clone_into(&mut id);
                    let validator = Validator::without_requests();
                    self.0.insert(id.clone(), Session { validator, number: 0, early: BTreeMap::new() });
                }
                Some(Call::Messages(number, messages)) => {
                    let Some(session) = self.0.get_mut(&id) else {
                        return Some(format!("messages {number} come to a session that has not begun"));
                    };
                    if let Some(fault) = session.told(number, messages) {
                        return Some(format!("messages {number} of long polling: {fault}"));
                    }
                }
                Some(Call::Close) => {}
            }
        }
        None
    }
}

impl Session {
    fn told(&mut self, number: u64, messages: Vec<String>) -> Option<String> {
        if number < self.number || self.early.insert(number, messages).is_some() {
            return Some("that number came before".into());
        }
        while let Some(messages) = self.early.remove(&self.number) {
            self.number += 1;
            messages.iter().for_each(|message| self.validator.sent_message(message.as_bytes()));
        }
        self.validator.findings().first().cloned()
    }
}

fn param<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
}

fn call(line: &str) -> Option<Call<'_>> {
    if let Some(rest) = line.strip_prefix("pRTLPCB(") {
        let (number, messages) = rest.strip_suffix("]);")?.split_once(",[")?;
        return Some(Call::Messages(number.parse().ok()?, literals(messages)?));
    }
    let arguments = line.strip_prefix("pLPCommand(")?.strip_suffix(");")?;
    match *arguments.split(',').collect::<Vec<_>>() {
        [r#""start""#, id, _] => Some(Call::Start(id.strip_prefix('"')?.strip_suffix('"')?)),
        [r#""close""#] => Some(Call::Close),
        [r#""close""#, number] => number.parse::<u64>().ok().map(|_| Call::Close),
        _ => None,
    }
}

/// The members of an array, as JSON; `__proto__` is computed in a script.
fn literals(array: &str) -> Option<Vec<String>> {
    let array = array.replace(r#"["__proto__"]:"#, r#""__proto__":"#);
    let mut rest = array.as_str();
    let mut texts = Vec::new();
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let is_nothing = values.next()?.ok()?.is_null();
        let (text, after) = rest.split_at(values.byte_offset());
        if !is_nothing {
            texts.push(text.to_owned());
        }
        rest = after.strip_prefix(',').unwrap_or(after);
    }
    Some(texts)
}
