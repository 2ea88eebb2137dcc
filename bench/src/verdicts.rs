//! How many reads and writes are judged in a second, beside targaryen, which judges the same in JavaScript.
//!
//! Why whole operations: for a write both make the tree that would be there, and then judge it.

use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use hearth_rules::{Budget, Claim, QueryValues, Ruleset, Situation};
use hearth_tree::{
    Assignment, Path, ReadOptions, Snapshot, Target, Write, read_node, read_update, read_value,
};
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How long each round of each rule set lasts.
    #[arg(long, value_name = "MS", default_value_t = 1_000, value_parser = clap::value_parser!(u16).range(1..))]
    duration_ms: u16,
    /// The repository, where the rule sets and the peer are.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    repository: PathBuf,
}

const ROUNDS: u32 = 3;
/// What `now` is in the cases.
const NOW_MS: i64 = 5_000;

const COLUMNS: [Column; 5] = [
    Column("rules", "rules"),
    Column("cases", "cases"),
    Column("hearth_per_s", "Hearth per second"),
    Column("targaryen_per_s", "targaryen per second"),
    Column("times", "times"),
];

pub(crate) fn run(arguments: &Arguments) -> Result<Table, Trouble> {
    let sets = rule_sets(arguments)?;
    let mut rates = Vec::new();
    for set in &sets {
        rates.push(RuleSet::read(set)?.rate(Duration::from_millis(arguments.duration_ms.into()))?);
    }
    let (peer, note) = match targaryen(arguments, &sets) {
        Ok(rates) => (rates, "A case is a read or a write, denied or allowed; the best of 3 rounds.".into()),
        Err(why) => {
            (Value::Null, format!("targaryen was not measured ({why}): `npm ci --prefix bench/peer`"))
        }
    };
    let row = |(set, rate): (&Value, f64)| {
        let name = set["name"].as_str().unwrap_or_default();
        let peer = peer[name].as_f64();
        vec![
            Cell::Text(name.into()),
            Cell::Count(set["cases"].as_array().map_or(0, |cases| cases.len() as u64)),
            Cell::Rate(rate),
            peer.map_or(Cell::Unknown, Cell::Rate),
            peer.map_or(Cell::Unknown, |peer| Cell::Rate(rate / peer)),
        ]
    };
    Ok(Table {
        title: "verdicts: cases judged on one core".into(),
        columns: COLUMNS.into(),
        rows: sets.iter().zip(rates).map(row).collect(),
        notes: vec![note],
    })
}

/// The rule sets with their rules in them: those of the example stand in its own file, with comments.
fn rule_sets(arguments: &Arguments) -> Result<Vec<Value>, Trouble> {
    let text = fs::read_to_string(arguments.repository.join("bench/peer/rule_sets.json"))?;
    let unreadable = |error: &dyn std::fmt::Display| Trouble::RuleSets { why: error.to_string() };
    let mut sets: Vec<Value> = serde_json::from_str(&text).map_err(|error| unreadable(&error))?;
    for set in &mut sets {
        if let Some(file) = set["rules"].as_str() {
            let source = fs::read_to_string(arguments.repository.join(file))?;
            let rules = Ruleset::compile(&source).map_err(|error| unreadable(&error))?;
            set["rules"] = serde_json::from_str(&rules.to_json()).map_err(|error| unreadable(&error))?;
        }
    }
    Ok(sets)
}

struct RuleSet {
    rules: Ruleset,
    before: Snapshot,
    cases: Vec<Case>,
}

struct Case {
    auth: Claim,
    operation: Operation,
    allowed: bool,
}

enum Operation {
    Read(Path),
    Write(Write, Vec<Target>),
}

impl RuleSet {
    fn read(set: &Value) -> Result<Self, Trouble> {
        let wrong = |error: &dyn std::fmt::Display| Trouble::RuleSets { why: error.to_string() };
        let cases = set["cases"].as_array().map(Vec::as_slice).unwrap_or_default();
        let data = set["data"].to_string();
        Ok(Self {
            rules: Ruleset::compile(&set["rules"].to_string()).map_err(|error| wrong(&error))?,
            before: Snapshot::new(
                read_node(data.as_bytes(), &ReadOptions::default()).map_err(|error| wrong(&error))?,
            ),
            cases: cases
                .iter()
                .map(|case| Case::read(case).map_err(|why| wrong(&why)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Cases per second.
    fn rate(&self, duration: Duration) -> Result<f64, Trouble> {
        if let Some(case) = self.cases.iter().find(|case| self.judge(case) != case.allowed) {
            let place = case.place();
            return Err(Trouble::RuleSets { why: format!("a case at {place} is not judged as it says") });
        }
        let mut best: f64 = 0.0;
        for _ in 0..ROUNDS {
            let (began, mut judged) = (Instant::now(), 0_u32);
            while began.elapsed() < duration {
                for case in &self.cases {
                    std::hint::black_box(self.judge(std::hint::black_box(case)));
                    judged += 1;
                }
            }
            best = best.max(f64::from(judged) / began.elapsed().as_secs_f64());
        }
        Ok(best)
    }

    fn judge(&self, case: &Case) -> bool {
        let Self { rules, before, .. } = self;
        let situation = Situation { auth: &case.auth, now_ms: NOW_MS, before, budget: Budget::DEFAULT };
        match &case.operation {
            Operation::Read(at) => rules.read(&situation, at, &QueryValues::default()).outcome.is_ok(),
            Operation::Write(write, targets) => write
                .resolve(NOW_MS, before)
                .is_ok_and(|change| rules.write(&situation, &before.apply(&change), targets).is_ok()),
        }
    }
}

impl Case {
    fn read(case: &Value) -> Result<Self, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let at = Path::parse(case["path"].as_str().unwrap_or_default()).map_err(|error| text(&error))?;
        let (value, options) = (case["value"].to_string(), ReadOptions::default());
        let operation = match case["kind"].as_str() {
            Some("read") => Operation::Read(at),
            Some("update") => {
                let update = read_update(value.as_bytes(), &at, &options).map_err(|error| text(&error))?;
                Operation::write(Write::Update(update))
            }
            _ => {
                let value = read_value(value.as_bytes(), &options).map_err(|error| text(&error))?;
                Operation::write(Write::Set(Assignment::value(at, value).map_err(|error| text(&error))?))
            }
        };
        Ok(Self {
            auth: serde_json::from_value(case["auth"].clone()).map_err(|error| text(&error))?,
            operation,
            allowed: case["allow"] == true,
        })
    }

    fn place(&self) -> Path {
        match &self.operation {
            Operation::Read(at) => at.clone(),
            Operation::Write(_, targets) => {
                targets.first().map_or_else(Path::root, |target| target.path.clone())
            }
        }
    }
}

impl Operation {
    fn write(write: Write) -> Self {
        let assignments = match &write {
            Write::Set(assignment) => std::slice::from_ref(assignment),
            Write::Update(update) => update.assignments(),
        };
        let targets =
            assignments.iter().map(|each| Target { path: each.at().clone(), part: each.part() }).collect();
        Self::Write(write, targets)
    }
}

/// Rates by name, or why there are none.
fn targaryen(arguments: &Arguments, sets: &[Value]) -> Result<Value, String> {
    let folder = arguments.repository.join("bench/peer");
    let file = std::env::temp_dir().join(format!("hearth-bench-{}.json", std::process::id()));
    fs::write(&file, Value::from(sets).to_string()).map_err(|error| error.to_string())?;
    let output = Command::new("node")
        .arg(folder.join("targaryen.mjs"))
        .arg(&file)
        .arg(arguments.duration_ms.to_string())
        .stderr(Stdio::null())
        .output();
    // What is left behind is in the folder for what may be left behind.
    fs::remove_file(&file).unwrap_or_default();
    let output = output.map_err(|error| format!("node: {error}"))?;
    serde_json::from_slice(&output.stdout).map_err(|_| "it is not installed, or failed".into())
}
