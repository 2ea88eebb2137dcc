//! Every bench runs against the real server with small numbers, and what it counts adds up. No time is looked at.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]

use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Output};

/// The server of the same build: whoever tests the workspace has it.
fn server() -> PathBuf {
    let server = PathBuf::from(env!("CARGO_BIN_EXE_hearth-bench")).with_file_name("hearth");
    assert!(server.is_file(), "the server is not built: `cargo build --package hearth` comes first");
    server
}

fn bench(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hearth-bench")).args(arguments).output().unwrap()
}

/// The rows that a bench prints.
fn rows(arguments: &[&str]) -> Vec<Value> {
    let server = server();
    rows_of_the_bare([arguments, &["--server", server.to_str().unwrap()]].concat())
}

/// As [`rows`], of a bench that needs no server.
fn rows_of_the_bare(arguments: Vec<&str>) -> Vec<Value> {
    let arguments = [arguments, vec!["--format", "json"]].concat();
    let output = bench(&arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    let mut printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    serde_json::from_value(printed["rows"].take()).unwrap()
}

/// One column of all rows.
fn column(rows: &[Value], name: &str) -> Vec<Value> {
    rows.iter().map(|row| row[name].clone()).collect()
}

#[test]
fn every_write_reaches_every_listener() {
    let rows = rows(&["fanout", "--listeners", "5", "--writes", "7", "--rounds", "2"]);
    let rivals = ["hearth", "tungstenite", "write(2)"];
    assert_eq!(column(&rows, "who"), [rivals, rivals].concat());
    assert_eq!(column(&rows, "in_flight"), ["1", "1", "1", "8", "8", "8"]);
    assert_eq!(column(&rows, "deliveries"), [5 * 7; 6]);
    assert!(
        rows.iter().all(|row| row["last_listener_p50_us"].as_f64() <= row["last_listener_p99_us"].as_f64())
    );
}

#[test]
fn writes_are_acknowledged() {
    let rows = rows(&["set", "--clients", "3", "--duration-ms", "50", "--rounds", "1"]);
    assert_eq!(column(&rows, "clients"), ["1", "1", "3", "3", "3 x 8", "3 x 8"]);
    assert!(rows.iter().all(|row| 0 < row["acknowledged"].as_u64().unwrap()), "{rows:?}");
}

#[test]
fn rules_are_judged_without_a_server() {
    let top = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let rows = rows_of_the_bare(vec!["verdicts", "--duration-ms", "5", "--repository", top]);
    assert_eq!(column(&rows, "rules"), ["chat", "owner-only profile", "role through root"]);
    assert!(rows.iter().all(|row| 0.0 < row["hearth_per_s"].as_f64().unwrap()), "{rows:?}");

    let rows = rows_of_the_bare(vec!["membership", "--listeners", "9", "--changes", "3"]);
    assert_eq!(column(&rows, "judged"), [0, 1]);

    let program = server().with_file_name("hearth-rules");
    let rules = format!("{top}/examples/chat/rules.json");
    let rows = rows_of_the_bare(vec![
        "suite",
        "--steps",
        "25",
        "--times",
        "1",
        "--rules",
        &rules,
        "--program",
        program.to_str().unwrap(),
    ]);
    assert_eq!(column(&rows, "steps"), [25]);
}

#[test]
fn connections_take_memory() {
    let rows = rows(&["idle", "--connections", "20"]);
    assert_eq!(column(&rows, "connections"), [0, 20, 20]);
    assert!(rows.iter().all(|row| 0 < row["resident_bytes"].as_u64().unwrap()), "{rows:?}");
}

#[test]
fn the_server_starts() {
    let rows = rows(&["start", "--times", "3"]);
    assert_eq!(column(&rows, "starts"), [3]);
    assert!(0.0 < rows[0]["p50_ms"].as_f64().unwrap());
}

#[test]
fn windows_move() {
    let rows = rows(&["query", "--children", "10,300", "--writes", "5"]);
    assert_eq!(column(&rows, "children"), [10, 10, 10, 10, 10, 300, 300, 300, 300, 300]);
    assert_eq!(column(&rows, "moves"), [5; 10]);
    let answered: Vec<_> = rows.iter().map(|row| row["first_answer_ms"].is_number()).collect();
    assert_eq!(answered, [false, true, true, true, true, false, true, true, true, true]);
}

#[test]
fn all_come_back() {
    let data = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("reconnects");
    let data = data.to_str().unwrap();
    let rows = rows(&["reconnects", "--data", data, "--connections", "20", "--messages", "2"]);
    assert_eq!(
        (column(&rows, "connections"), column(&rows, "not_served")),
        (vec![json!(20); 2], vec![json!(0); 2])
    );
    assert!(rows.iter().all(|row| row["others_p99_ms"].is_number()), "{rows:?}");
}

#[test]
fn others_are_watched_while_somebody_does_its_worst() {
    let rows = rows(&["hostile", "--clients", "2", "--duration-ms", "100"]);
    assert_eq!(rows.len(), 8);
    for row in rows {
        assert!(0 < row["sent"].as_u64().unwrap(), "{row}");
        for when in ["alone", "elsewhere", "beside"] {
            assert!(
                row[format!("{when}_p50_ms")].as_f64() <= row[format!("{when}_p99_ms")].as_f64(),
                "{row}"
            );
        }
        assert!(row["beside_p99_ms"].is_number() && 0 < row["peak_bytes"].as_u64().unwrap(), "{row}");
    }
}

#[test]
fn http_is_answered() {
    let small = ["--connections", "2", "--streams", "2", "--duration-ms", "50", "--rounds", "1"];
    let rows = rows(&[&["rest"], &small[..]].concat());
    assert_eq!(column(&rows, "request"), ["PUT", "PUT", "GET", "GET", "stream", "stream"]);
    assert_eq!(column(&rows, "who"), ["hearth", "axum"].repeat(3));
    assert!(rows.iter().all(|row| 0 < row["answered"].as_u64().unwrap()), "{rows:?}");
}

#[test]
fn what_cannot_be_done_is_said_in_one_sentence() {
    for (arguments, expected) in [
        (&["start", "--server", "/nowhere/hearth"][..], "`/nowhere/hearth` is not there: build it with"),
        (&["start", "--url", "http://127.0.0.1:1"], "leave `--url` out"),
        (&["idle", "--url", "http://127.0.0.1:1", "--connections", "1"], "cannot connect to 127.0.0.1:1"),
        (&["set", "--url", "127.0.0.1"], "`http://HOST:PORT` is expected"),
        (&["idle", "--connections", "0"], "0 is not in 1.."),
        (&["idle", "--connections", "4000000000"], "file descriptors may be open"),
        (&["fanout", "--lisen", "3"], "unexpected argument '--lisen'"),
        (&["fanout", "--value-bytes", "9"], "9 is not in 10..=16000"),
        (&["fan"], "unrecognized subcommand 'fan'"),
    ] {
        let output = bench(arguments);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("hearth-bench: ") && said.contains(expected), "{arguments:?}: {said}");
        assert_eq!(said.lines().count(), 1, "{arguments:?}: {said}");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
}

/// A folder for one test.
fn data(name: &str) -> String {
    let data = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    data.to_str().unwrap().into()
}

#[test]
fn others_are_watched_while_something_large_happens() {
    let data = data("pauses");
    let sizes = ["--body-mb", "2", "--leaves-k", "20", "--clients", "3", "--duration-ms", "100"];
    let rows = rows(&[&["pauses", "--data", &data], &sizes[..]].concat());
    let happened = column(&rows, "while");
    for expected in ["nothing else", "as many bytes", "PUT of the body", "DELETE of new leaves"] {
        assert!(happened.contains(&json!(expected)), "{expected}: {happened:?}");
    }
    assert!(rows.iter().all(|row| row["p50_ms"].as_f64() <= row["longest_ms"].as_f64()), "{rows:?}");
    std::fs::remove_dir_all(data).unwrap();
}

#[test]
fn a_killed_server_serves_again() {
    let data = data("restart");
    let rows = rows(&["restart", "--data", &data, "--leaves-k", "40"]);
    assert_eq!(rows.len(), 6);
    assert!(rows.iter().all(|row| 0 < row["folder_bytes"].as_u64().unwrap()), "{rows:?}");
    std::fs::remove_dir_all(data).unwrap();
}

#[test]
fn what_is_written_comes_to_more_on_the_disk() {
    let data = data("churn");
    let few = ["--minutes", "0.01", "--clients", "3", "--places", "5"];
    let rows = rows(&[&["churn", "--data", &data], &few[..]].concat());
    assert_eq!(column(&rows, "who"), ["hearth", "write + fdatasync"]);
    assert!(rows.iter().all(|row| 0 < row["writes"].as_u64().unwrap()), "{rows:?}");
    std::fs::remove_dir_all(data).unwrap();
}

#[test]
fn writes_are_on_the_disk() {
    let data = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("durable");
    let rows = rows(&["durable", "--duration-ms", "100", "--data", data.to_str().unwrap()]);
    assert_eq!(column(&rows, "in_flight"), [1, 1, 64, 64, 1_000, 1_000]);
    assert!(rows.iter().all(|row| 0 < row["writes"].as_u64().unwrap()), "{rows:?}");
    std::fs::remove_dir_all(data).unwrap();
}
