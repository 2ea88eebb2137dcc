//! What a client is told, as a script.
//!
//! Why messages stand in it as literals: a reader that knows JSON can read them as such. Three things mean something else
//! in a script than in JSON, and are escaped here: `<`, which may end a script that stands in a page; two characters that
//! older engines take for line ends; and a key `__proto__`, which is no child there but says what an object inherits.

use super::visit::Ticket;
use std::fmt::Write as _;

/// Most digits of a callback's number.
const CALLBACK_DIGITS_MAX: usize = 16;

/// The number that the page's callback functions end with: 1 to 16 digits, so that it can stand in a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Callback(String);

impl Callback {
    /// Checks the digits; nothing if it is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let is_number =
            (1..=CALLBACK_DIGITS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self(text.into()))
    }
}

/// The text of one answer. What it says is done in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script(String);

impl Script {
    /// The first answer of a session: defines what all later ones call, and hands out the ticket (wire reference 14.2).
    pub fn start(callback: &Callback, ticket: &Ticket) -> Self {
        let (Callback(number), Ticket { id, password }) = (callback, ticket);
        let (id, password) = (id.as_str(), password.as_str());
        Self(format!(
            "function pLPCommand(c,a,b,d,e){{var f=parent.window[\"pLPCommand{number}\"];if(f)f(c,a,b,d,e);}}\n\
             function pRTLPCB(n,d){{var f=parent.window[\"pRTLPCB{number}\"];if(f)f(n,d);}}\n\
             pLPCommand(\"start\",\"{id}\",\"{password}\");\n"
        ))
    }

    /// The client has no session, or none any more: it begins a new one.
    pub fn close() -> Self {
        Self("pLPCommand(\"close\");\n".into())
    }

    /// Messages under the next number; their numbers are consecutive over a session, from 0, and none is left out. There
    /// may be none: then it only ends the request that waits. O(length).
    pub fn tell<'m>(&mut self, number: u64, messages: impl IntoIterator<Item = &'m str>) {
        self.begin(number);
        for (index, message) in messages.into_iter().enumerate() {
            if 0 < index {
                self.next_message();
            }
            self.message(message);
        }
        self.end();
    }

    /// Begins messages under the next number, as [`Script::tell`] tells them in one go.
    pub fn begin(&mut self, number: u64) {
        write!(self.0, "pRTLPCB({number},[").expect("a string takes every text");
    }

    /// A message, or a piece of one that is cut between two tokens of its JSON, and not between a key and its colon. O(length).
    pub fn message(&mut self, json: &str) {
        push_literal(&mut self.0, json);
    }

    /// Stands between two messages.
    pub fn next_message(&mut self) {
        self.0.push(',');
    }

    /// Ends the messages of a number.
    pub fn end(&mut self) {
        self.0.push_str("]);\n");
    }

    /// The client shall ask no more, and leave when it has seen the messages under `number`. That must be above 0.
    pub fn close_after(&mut self, number: u64) {
        writeln!(self.0, "pLPCommand(\"close\",{number});").expect("a string takes every text");
    }

    /// Whether it says nothing.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How long it is, in bytes.
    pub const fn bytes(&self) -> usize {
        self.0.len()
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.0
    }
}

/// The key that is no key in a script, unless it is computed.
const PROTOTYPE: &str = "\"__proto__\"";

/// Writes JSON as a literal of the same value.
fn push_literal(script: &mut String, json: &str) {
    let mut rest = json;
    while let Some(at) = rest.find(['<', '\u{2028}', '\u{2029}', '_']) {
        let (before, from) = rest.split_at(at);
        let is_prototype = from.starts_with(&PROTOTYPE[1..])
            && before.ends_with('"')
            && !before.ends_with("\\\"")
            && from[PROTOTYPE.len() - 1..].trim_ascii_start().starts_with(':');
        let escaped = match from.chars().next() {
            Some('<') => "\\u003c",
            Some('\u{2028}') => "\\u2028",
            Some('\u{2029}') => "\\u2029",
            Some(_) | None => "_",
        };
        if is_prototype {
            script.push_str(&before[..before.len() - 1]);
            script.push('[');
            script.push_str(PROTOTYPE);
            script.push(']');
            rest = &from[PROTOTYPE.len() - 1..];
        } else {
            script.push_str(before);
            script.push_str(escaped);
            rest = &from[from.chars().next().map_or(0, char::len_utf8)..];
        }
    }
    script.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callbacks_are_numbers() {
        for (text, expected) in [
            ("7", true),
            ("0", true),
            ("1234567890123456", true),
            ("12345678901234567", false),
            ("", false),
            ("-1", false),
            ("7a", false),
            ("7\"];alert(1);[\"", false),
            ("٧", false),
        ] {
            assert_eq!(Callback::parse(text).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn a_session_starts_with_its_functions_and_its_ticket() {
        let ticket = Ticket::parse("41", "pW3f9Zk2Lq").unwrap();
        let mut script = Script::start(&Callback::parse("7").unwrap(), &ticket);
        script.tell(0, [r#"{"t":"c"}"#]);
        assert_eq!(
            script.into_text(),
            "function pLPCommand(c,a,b,d,e){var f=parent.window[\"pLPCommand7\"];if(f)f(c,a,b,d,e);}\n\
             function pRTLPCB(n,d){var f=parent.window[\"pRTLPCB7\"];if(f)f(n,d);}\n\
             pLPCommand(\"start\",\"41\",\"pW3f9Zk2Lq\");\n\
             pRTLPCB(0,[{\"t\":\"c\"}]);\n"
        );
    }

    #[test]
    fn messages_are_literals() {
        for (messages, expected) in [
            (&[][..], "pRTLPCB(3,[]);\n"),
            (&["{}", "{\"a\":1}"], "pRTLPCB(3,[{},{\"a\":1}]);\n"),
            (&[r#"{"d":"</script><!--"}"#], "pRTLPCB(3,[{\"d\":\"\\u003c/script>\\u003c!--\"}]);\n"),
            (&["\"a\u{2028}b\u{2029}é😀\""], "pRTLPCB(3,[\"a\\u2028b\\u2029é😀\"]);\n"),
            // A key, and what only looks like it.
            (&[r#"{"__proto__":{"x":1}}"#], "pRTLPCB(3,[{[\"__proto__\"]:{\"x\":1}}]);\n"),
            (
                &[r#"{"a_":1,"__proto__" :{"__proto__":2}}"#],
                "pRTLPCB(3,[{\"a_\":1,[\"__proto__\"] :{[\"__proto__\"]:2}}]);\n",
            ),
            (&[r#"["__proto__"]"#], "pRTLPCB(3,[[\"__proto__\"]]);\n"),
            (&[r#"{"a":"__proto__","b":1}"#], "pRTLPCB(3,[{\"a\":\"__proto__\",\"b\":1}]);\n"),
            (&[r#"{"x\"__proto__":1}"#], "pRTLPCB(3,[{\"x\\\"__proto__\":1}]);\n"),
            (&[r#"{"__proto__x":1,"_":"_"}"#], "pRTLPCB(3,[{\"__proto__x\":1,\"_\":\"_\"}]);\n"),
        ] {
            let mut script = Script::default();
            script.tell(3, messages.iter().copied());
            assert_eq!(script.into_text(), expected, "{messages:?}");
        }
    }

    #[test]
    fn a_session_ends_at_once_or_after_a_message() {
        assert_eq!(Script::close().into_text(), "pLPCommand(\"close\");\n");
        let mut script = Script::default();
        assert!(script.is_empty());
        script.tell(5, []);
        script.close_after(5);
        assert_eq!(script.into_text(), "pRTLPCB(5,[]);\npLPCommand(\"close\",5);\n");
    }
}
