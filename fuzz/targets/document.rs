//! Any text as a rules document: problems with places inside of it, or rules that everything can be said about.

#![no_main]

use clap::Parser;
use hearth_rules::Ruleset;
use hearth_rules_cli::{Command, Exit, run};
use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

fuzz_target!(|source: &str| {
    let shown = Shown::get();
    match Ruleset::compile(source) {
        Ok(rules) => {
            let json = rules.to_json();
            let again = Ruleset::compile(&json).expect("plain JSON of rules in order is in order");
            assert_eq!(again.to_json(), json);
            assert_eq!(again.rules().count(), rules.rules().count());
            for ((one, rule), (other, same)) in rules.rules().zip(again.rules()) {
                assert_eq!(rules.rule_path(one), again.rule_path(other));
                assert_eq!(rule.kind(), same.kind());
            }
            shown.show(source, true);
        }
        Err(rejected) => {
            assert!(!rejected.diagnostics().is_empty());
            for found in rejected.diagnostics() {
                assert!(source.get(found.span.range()).is_some(), "{found}: {:?}", found.span);
                assert!(!found.to_string().is_empty() && found.advice().is_none_or(|advice| !advice.is_empty()));
            }
            shown.show(source, false);
        }
    }
});

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

/// The commands, on a file that is written anew for each input.
struct Shown {
    file: PathBuf,
    for_all: Vec<Command>,
    for_rules: Vec<Command>,
}

impl Shown {
    fn get() -> &'static Self {
        static SHOWN: OnceLock<Shown> = OnceLock::new();
        SHOWN.get_or_init(|| {
            let folder = std::env::temp_dir().join(format!("hearth-fuzz-{}", std::process::id()));
            fs::create_dir_all(&folder).expect("a folder of its own");
            let suite = folder.join("suite.yaml");
            fs::write(&suite, "tests: [{steps: [{nobody can read: /a}, {nobody can write: /a/b, value: {c: 1}}]}]")
                .expect("a suite");
            let file = folder.join("rules.json");
            let command = |line: &str| {
                let words = line.split(' ').map(|word| match word {
                    "RULES" => file.clone().into_os_string(),
                    "SUITE" => suite.clone().into_os_string(),
                    _ => word.into(),
                });
                Arguments::parse_from(words).command
            };
            Self {
                for_all: ["x check RULES", "x check --format sarif RULES"].map(command).into(),
                for_rules: ["x coverage --format html RULES SUITE", "x coverage --format lcov RULES SUITE"]
                    .map(command)
                    .into(),
                file: file.clone(),
            }
        })
    }

    fn show(&self, source: &str, is_in_order: bool) {
        fs::write(&self.file, source).expect("a file to write");
        // All formats for some of the documents: they take ten times as long as everything else together.
        let formats = if source.len().is_multiple_of(8) { self.for_all.len() } else { 1 };
        let mut commands: Vec<&Command> = self.for_all.iter().take(formats).collect();
        if is_in_order && formats != 1 {
            commands.extend(&self.for_rules);
        }
        for command in commands {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let exit = run("hearth-rules", command, &mut out, &mut err);
            assert_ne!(exit, Exit::Trouble, "{}", String::from_utf8_lossy(&err));
            let out = String::from_utf8(out).expect("reports are text");
            assert!(!out.is_empty() && !out.contains('\u{1b}'), "a terminal would obey: {out}");
        }
    }
}
