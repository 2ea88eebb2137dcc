//! How long a suite of the rules takes, from starting the program to its exit.

use crate::latency::Latencies;
use crate::table::{Cell, Column, Table};
use crate::trouble::Trouble;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// How many steps the suite has.
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    steps: u32,
    /// How often it is run.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    times: u16,
    /// The program; if nothing is said, the `hearth-rules` beside this one.
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The rules; the suite is made for those of the chat.
    #[arg(long, value_name = "FILE", default_value = "examples/chat/rules.json")]
    rules: PathBuf,
}

const COLUMNS: [Column; 4] = [
    Column("steps", "steps"),
    Column("runs", "runs"),
    Column("p50_ms", "median ms"),
    Column("max_ms", "longest ms"),
];

pub(crate) fn run(arguments: &Arguments) -> Result<Table, Trouble> {
    let program = match &arguments.program {
        Some(file) => file.clone(),
        None => std::env::current_exe()?.with_file_name("hearth-rules"),
    };
    let suite = std::env::temp_dir().join(format!("hearth-bench-suite-{}.json", std::process::id()));
    fs::write(&suite, suite_of(arguments.steps).to_string())?;
    let mut times = Vec::new();
    for _ in 0..arguments.times {
        let began = Instant::now();
        let output = Command::new(&program).arg("test").arg(&arguments.rules).arg(&suite).output();
        let output = output.map_err(|error| Trouble::Start { file: program.clone(), error })?;
        times.push(began.elapsed());
        let expected = format!("{} passed, 0 failed\n", arguments.steps);
        if output.stdout != expected.as_bytes() {
            return Err(Trouble::Suite { said: String::from_utf8_lossy(&output.stdout).into() });
        }
    }
    fs::remove_file(&suite)?;
    let times = Latencies::of(times);
    Ok(Table {
        title: "suite: `hearth-rules test` from start to exit".into(),
        columns: COLUMNS.into(),
        rows: vec![vec![
            Cell::Count(arguments.steps.into()),
            Cell::Count(arguments.times.into()),
            Cell::Millis(times.percentile(50)),
            Cell::Millis(times.percentile(100)),
        ]],
        notes: Vec::new(),
    })
}

/// Tests of ten steps in the room of the chat: reads and messages, allowed and denied.
fn suite_of(steps: u32) -> Value {
    let room = "tea-and-biscuit-room";
    let step = |number: u32| match number % 3 {
        0 => json!({"ann can read": format!("/messages/{room}")}),
        1 => json!({"ben cannot read": format!("/messages/{room}"), "because": "he is not in it"}),
        _ => json!({
            "ann can write": format!("/messages/{room}/message-{number:012}"),
            "value": {"from": "ann", "name": "Ann", "text": "Hello", "at": {".sv": "timestamp"}},
        }),
    };
    let all: Vec<Value> = (0..steps).map(step).collect();
    let tests: Vec<Value> = all.chunks(10).map(|steps| json!({ "steps": steps })).collect();
    json!({
        "identities": {"ann": "ann", "ben": "ben"},
        "data": {
            "chats": {room: {"title": "Tea", "lastAt": 1}},
            "members": {room: {"ann": {"name": "Ann", "joinedAt": 1}}},
        },
        "tests": tests,
    })
}
