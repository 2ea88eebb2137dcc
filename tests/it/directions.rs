//! Who may depend on whom: the directions of ARCHITECTURE.md, asked of cargo itself.
//!
//! Why a test: a direction that only a document states ends with the first hurried `cargo add`, and a new crate in the
//! workspace must force a decision. What a crate needs only for its own tests or its build is not looked at: neither is
//! part of what others get.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What one crate of the workspace may know.
struct Room {
    name: &'static str,
    /// The crates of the workspace that it may depend on, directly or through others.
    sees: &'static [&'static str],
    /// What must not be among its dependencies, however far below. A name stands for its family too: `tokio` also for
    /// `tokio-util`.
    never: &'static [&'static [&'static str]],
}

const ASYNC: &[&str] = &["async", "futures", "smol", "tokio"];
const CLOCKS: &[&str] = &["chrono", "instant", "jiff", "quanta", "time", "web-time"];
const FILES: &[&str] = &["memmap2", "notify", "rustix", "tempfile", "walkdir"];
const HTTP: &[&str] = &["actix", "axum", "h2", "hyper", "reqwest", "tower"];
const RANDOMNESS: &[&str] = &["fastrand", "getrandom", "rand", "rand_core", "uuid"];
const SOCKETS: &[&str] = &["mio", "native-tls", "polling", "rustls", "socket2", "tungstenite"];
const STORES: &[&str] = &["fjall", "heed", "redb", "rocksdb", "rusqlite", "sled"];
const THREADS: &[&str] = &["crossbeam", "dashmap", "flume", "parking_lot", "rayon"];
const TOKENS: &[&str] = &["jsonwebtoken", "ring"];

/// The core is told the time, is handed bytes, and is called: it knows nothing of the outside.
const OUTSIDE: &[&[&str]] = &[ASYNC, CLOCKS, FILES, HTTP, RANDOMNESS, SOCKETS, STORES, THREADS, TOKENS];

const HOUSE: &[Room] = &[
    Room { name: "hearth-tree", sees: &[], never: OUTSIDE },
    Room { name: "hearth-rules", sees: &["hearth-tree"], never: OUTSIDE },
    Room {
        name: "hearth-rules-cli",
        sees: &["hearth-tree", "hearth-rules"],
        never: &[ASYNC, CLOCKS, HTTP, RANDOMNESS, SOCKETS, STORES, TOKENS],
    },
    Room { name: "hearth-wire", sees: &["hearth-tree"], never: OUTSIDE },
    Room { name: "hearth-engine", sees: &["hearth-tree", "hearth-rules"], never: OUTSIDE },
    Room {
        name: "hearth",
        sees: &["hearth-tree", "hearth-rules", "hearth-rules-cli", "hearth-wire", "hearth-engine"],
        never: &[],
    },
    Room { name: "hearth-client", sees: &["hearth-tree", "hearth-wire"], never: &[HTTP, STORES, TOKENS] },
    Room { name: "hearth-tests", sees: EVERYTHING, never: &[] },
    Room { name: "hearth-bench", sees: EVERYTHING, never: &[] },
];

/// All but the tests and the benchmarks, which nobody sees.
const EVERYTHING: &[&str] = &[
    "hearth-tree",
    "hearth-rules",
    "hearth-rules-cli",
    "hearth-wire",
    "hearth-engine",
    "hearth",
    "hearth-client",
];

#[test]
fn no_crate_of_the_workspace_depends_on_what_it_must_not_know() {
    // Somebody else in the workspace may have switched on what a crate alone does without.
    let mut alone = BTreeMap::new();
    let is_needed = |name: &str, found: &str| {
        alone.entry(name.to_owned()).or_insert_with(|| needed_alone(name)).contains(found)
    };
    let faults = faults(&Graph::read(&metadata()), is_needed);
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for (name, folder) in members(&metadata()) {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        assert!(
            manifest.contains("[lints]\nworkspace = true"),
            "the manifest of `{name}` lacks `[lints] workspace = true`: no lint of the workspace holds there"
        );
    }
}

#[test]
fn the_standard_library_is_fenced_alike_for_every_crate_of_the_core() {
    let members = members(&metadata());
    let fence = |folder: &PathBuf| fs::read_to_string(folder.join("clippy.toml")).ok();
    let of_tree = fence(&members["hearth-tree"]).expect("the tree has the `clippy.toml` to compare with");
    for (name, folder) in
        members.iter().filter(|(name, _)| room(name).is_some_and(|room| room.never == OUTSIDE))
    {
        assert!(
            fence(folder).as_ref() == Some(&of_tree),
            "`{name}` is of the core, so its `clippy.toml` is that of `hearth-tree`; it is another, or missing"
        );
    }
}

#[test]
fn a_broken_direction_is_found_and_its_way_is_named() {
    for (edges, expected) in [
        (&[("hearth-tree", "serde", None)][..], &[][..]),
        (
            &[("hearth-tree", "tokio", None)],
            &["`hearth-tree` must not depend on `tokio`: hearth-tree > tokio"],
        ),
        (&[("hearth-tree", "tokio", Some("dev")), ("hearth-tree", "rand", Some("build"))], &[]),
        (
            &[("hearth-tree", "serde", None), ("serde", "tokio-util", None)],
            &["`hearth-tree` must not depend on `tokio-util`: hearth-tree > serde > tokio-util"],
        ),
        (&[("hearth-tree", "smol_str", None), ("hearth-tree", "timely", None)], &[]),
        (&[("serde", "tokio", Some("dev")), ("hearth-tree", "serde", None)], &[]),
        (&[("hearth-rules", "hearth-tree", None)], &[]),
        (
            &[("hearth-tree", "hearth-rules", None)],
            &["`hearth-tree` must not depend on `hearth-rules`: hearth-tree > hearth-rules"],
        ),
        (
            &[("hearth-client", "hearth-wire", None), ("hearth-wire", "hearth-engine", None)],
            &[
                "`hearth-client` must not depend on `hearth-engine`: hearth-client > hearth-wire > hearth-engine",
                "`hearth-wire` must not depend on `hearth-engine`: hearth-wire > hearth-engine",
            ],
        ),
        (&[("hearth", "tokio", None), ("hearth-client", "tokio", None)], &[]),
        (
            &[("hearth-client", "sled", None)],
            &["`hearth-client` must not depend on `sled`: hearth-client > sled"],
        ),
        (
            &[("hearth", "hearth-tests", None)],
            &["`hearth` must not depend on `hearth-tests`: hearth > hearth-tests"],
        ),
        (
            &[("hearth-attic", "serde", None)],
            &[
                "`hearth-attic` is not in the table of this test: decide what it may depend on, and write it there",
            ],
        ),
    ] {
        assert_eq!(faults(&Graph::read(&made_up_metadata(edges)), |_, _| true), expected, "{edges:?}");
    }
}

/// Who depends on whom, of which kind (`None` is an ordinary dependency).
type Edge = (&'static str, &'static str, Option<&'static str>);

/// What cargo would say of these dependencies. Whatever is called `hearth` is in the workspace.
fn made_up_metadata(edges: &[Edge]) -> Value {
    let mut names: Vec<_> = edges.iter().flat_map(|&(from, to, _)| [from, to]).collect();
    names.sort_unstable();
    names.dedup();
    let deps = |of: &str| -> Vec<_> {
        let own = edges.iter().filter(|(from, ..)| *from == of);
        own.map(|(_, to, kind)| json!({"pkg": to, "dep_kinds": [{"kind": kind}]})).collect()
    };
    json!({
        "workspace_members": names.iter().filter(|name| name.starts_with("hearth")).collect::<Vec<_>>(),
        "packages": names.iter().map(|name| json!({"id": name, "name": name})).collect::<Vec<_>>(),
        "resolve": {
            "nodes": names.iter().map(|name| json!({"id": name, "deps": deps(name)})).collect::<Vec<_>>(),
        },
    })
}

/// One line per forbidden dependency that a crate of the workspace needs, with the shortest way to it.
fn faults(graph: &Graph<'_>, mut is_needed: impl FnMut(&str, &str) -> bool) -> Vec<String> {
    graph.members.iter().flat_map(|member| faults_of(graph, member, &mut is_needed)).collect()
}

fn faults_of(graph: &Graph<'_>, member: &str, mut is_needed: impl FnMut(&str, &str) -> bool) -> Vec<String> {
    let name = graph.names[member];
    let Some(room) = room(name) else {
        return vec![format!(
            "`{name}` is not in the table of this test: decide what it may depend on, and write it there"
        )];
    };
    let broken = |way: &&Vec<&str>| {
        let found = way[way.len() - 1];
        let is_ours = graph.members.iter().any(|member| graph.names[member] == found);
        if is_ours { !room.sees.contains(&found) } else { room.forbids(found) }
    };
    let ways = graph.ways_from(member);
    let line = |way: &Vec<&str>| {
        format!("`{name}` must not depend on `{}`: {}", way[way.len() - 1], way.join(" > "))
    };
    ways.iter().filter(broken).filter(|way| is_needed(name, way[way.len() - 1])).map(line).collect()
}

fn room(name: &str) -> Option<&'static Room> {
    HOUSE.iter().find(|room| room.name == name)
}

impl Room {
    fn forbids(&self, found: &str) -> bool {
        let in_family = |name: &&str| {
            found.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        self.never.iter().copied().flatten().any(in_family)
    }
}

/// The ordinary dependencies between packages, by their ids.
struct Graph<'a> {
    members: Vec<&'a str>,
    names: BTreeMap<&'a str, &'a str>,
    needs: BTreeMap<&'a str, Vec<&'a str>>,
}

impl<'a> Graph<'a> {
    fn read(metadata: &'a Value) -> Self {
        let is_ordinary = |dep: &&Value| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
        let needs =
            |node: &'a Value| list(&node["deps"]).iter().filter(is_ordinary).map(|dep| text(&dep["pkg"]));
        Self {
            members: list(&metadata["workspace_members"]).iter().map(text).collect(),
            names: list(&metadata["packages"])
                .iter()
                .map(|each| (text(&each["id"]), text(&each["name"])))
                .collect(),
            needs: list(&metadata["resolve"]["nodes"])
                .iter()
                .map(|node| (text(&node["id"]), needs(node).collect()))
                .collect(),
        }
    }

    /// For everything that `start` depends on, the names on a shortest way there, both ends included.
    fn ways_from(&self, start: &'a str) -> Vec<Vec<&'a str>> {
        let mut seen = vec![start];
        let mut found = Vec::new();
        let mut waiting = VecDeque::from([(start, vec![self.names[start]])]);
        while let Some((from, way)) = waiting.pop_front() {
            for &to in &self.needs[from] {
                if seen.contains(&to) {
                    continue;
                }
                seen.push(to);
                let way: Vec<_> = way.iter().copied().chain([self.names[to]]).collect();
                waiting.push_back((to, way.clone()));
                found.push(way);
            }
        }
        found
    }
}

/// Cargo's word on the workspace, as it is built here: the packages of other platforms may not be on this machine.
fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", "host-tuple"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the cargo that built this test runs");
    assert!(output.status.success(), "`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("cargo writes JSON")
}

/// The names of what a crate of the workspace depends on when it is built alone.
fn needed_alone(name: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--package",
            name,
            "--edges",
            "normal",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the cargo that built this test runs");
    assert!(output.status.success(), "`cargo tree` failed: {}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    lines.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

/// The names of the workspace's crates, and where they are.
fn members(metadata: &Value) -> BTreeMap<String, PathBuf> {
    let is_member = |package: &&Value| list(&metadata["workspace_members"]).contains(&package["id"]);
    let folder = |package: &Value| PathBuf::from(text(&package["manifest_path"])).with_file_name("");
    let packages = list(&metadata["packages"]).iter().filter(is_member);
    packages.map(|package| (text(&package["name"]).to_owned(), folder(package))).collect()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().expect("cargo has a list here")
}

fn text(value: &Value) -> &str {
    value.as_str().expect("cargo has a text here")
}
