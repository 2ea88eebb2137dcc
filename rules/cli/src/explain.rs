//! `explain`: one operation, node by node.

use crate::Exit;
use crate::files::{Trouble, read, read_rules};
use crate::run::retell;
use crate::suite::operation::{self, Verb, snapshot};
use crate::suite::{NOW_MS, identity};
use hearth_rules::{Budget, Situation};
use hearth_tree::{Excerpt, Printable, Snapshot};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub struct Explain {
    /// The rules
    rules: PathBuf,
    /// Who: a uid, `nobody`, or the value of `auth` as JSON
    #[arg(long = "as", value_name = "WHO")]
    who: String,
    /// What they try
    #[arg(value_enum)]
    verb: Verb,
    /// Where
    path: String,
    /// What is written there, as JSON
    value: Option<String>,
    /// The data before, as JSON
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// The query of a read, as JSON: {"orderByChild": "owner", "equalTo": "ada"}
    #[arg(long, value_name = "JSON")]
    query: Option<String>,
    /// The time, in milliseconds since 1970
    #[arg(long, value_name = "MS", default_value_t = NOW_MS)]
    now: i64,
}

impl Explain {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<Exit, Trouble> {
        let rules = read_rules(&self.rules)?;
        let before = match &self.data {
            None => Snapshot::default(),
            Some(file) => {
                snapshot(&json(&read(file)?, "the data")?, "the data").map_err(Trouble::Argument)?
            }
        };
        let auth = match self.who.as_str() {
            "nobody" => Value::Null,
            who if who.starts_with('{') || who == "null" => json(who, "`--as`")?,
            uid => Value::String(uid.into()),
        };
        let auth = identity(&auth, "`--as`").map_err(Trouble::Argument)?;
        let operation = self.operation()?;
        let situation = Situation { auth: &auth, now_ms: self.now, before: &before, budget: Budget::DEFAULT };
        let (log, explanation) = retell(&rules, &situation, &operation);
        let verdict = log.lines().last().unwrap_or("The increment cannot be stored.");
        writeln!(out, "{}\n{verdict}", Printable(explanation))?;
        Ok(if verdict.ends_with("allowed.") { Exit::Fine } else { Exit::Found })
    }

    fn operation(&self) -> Result<crate::suite::Operation, Trouble> {
        let value = self.value.as_deref().map(written).transpose()?;
        let query = self.query.as_ref().map(|query| json(query, "`--query`")).transpose()?;
        let operation = match (self.verb, value, query) {
            (Verb::Read, None, query) => operation::read(&self.path, query.as_ref()),
            (Verb::Write, Some(value), None) => operation::write(&self.path, &value),
            (Verb::Update, Some(value), None) => operation::update(&self.path, &value),
            (Verb::Read, Some(_), _) => Err("a read has no value".into()),
            (Verb::Write | Verb::Update, None, _) => {
                Err("what is written stands behind the path, as JSON".into())
            }
            (Verb::Write | Verb::Update, _, Some(_)) => Err("only a read has a query".into()),
        };
        operation.map_err(Trouble::Argument)
    }
}

/// A value on the command line. The quotes of a text are what people forget and shells take away.
fn written(text: &str) -> Result<Value, Trouble> {
    serde_json::from_str(text).map_err(|error| {
        let hint = if text.trim_start().starts_with(['{', '[', '"']) {
            String::new()
        } else {
            let quoted = Value::String(Excerpt(text).to_string());
            format!("; a text stands in quotes, and those in quotes for the shell: '{quoted}'")
        };
        Trouble::Argument(format!("the value is not JSON: {error}{hint}"))
    })
}

fn json(text: &str, what: &str) -> Result<Value, Trouble> {
    serde_json::from_str(text).map_err(|error| Trouble::Argument(format!("{what} is not JSON: {error}")))
}
