//! `hearth backup` and `hearth restore` with the running binary.

use crate::folder::Folder;
use crate::running::{Running, hearth, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

const RULES: &str = r#"{"rules": {".read": true, /* a comment */ ".write": "auth != null"}}"#;
const DATA: &str =
    r#"{"list":["a",null,"c"],"name":{".value":"é\u0001",".priority":1},"big":9007199254740993}"#;

fn backup(server: &Running) -> Command {
    let mut command = hearth(&["backup"]);
    command.arg(format!("http://{}", server.address()));
    command
}

fn restore(file: &Path, data: &Path) -> Command {
    let mut command = hearth(&["restore"]);
    command.arg(file).arg("--data").arg(data);
    command
}

fn on(data: &Path) -> Running {
    Running::of(hearth(&["dev", "--port", "0"]).arg("--data").arg(data))
}

/// What it says when it has gone well, behind what it says every ten seconds.
fn done(command: &mut Command) -> String {
    let (code, out, err) = run(command);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    let (progress, last) = err.trim_end().rsplit_once('\n').unwrap_or(("", err.trim_end()));
    assert!(progress.lines().all(|line| line.contains(" MB/s")), "{err}");
    last.to_owned()
}

/// The sentence that it says when it has not.
fn refusal(command: &mut Command) -> String {
    let (code, out, err) = run(command);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    assert!(err.starts_with("hearth: ") && err.matches('\n').count() == 1, "{err}");
    err
}

fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

#[test]
fn what_is_backed_up_is_restored_as_it_was() {
    let folder = Folder::new("backup");
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let server = on(&at("old"));
    assert_eq!(server.ask("PUT", "/.json?print=silent", DATA).0, 204);
    assert_eq!(server.ask("PUT", "/m.json?print=silent&ns=other", "{\"x\":1}").0, 204);
    assert_eq!(server.ask("PUT", "/.settings/rules.json?ns=other&access_token=owner", RULES).0, 200);
    let said = done(backup(&server).arg(at("b")));
    assert!(said.starts_with("backed up ") && said.contains(": 2 databases with 5 values of "), "{said}");
    assert!(refusal(backup(&server).arg(at("b"))).contains("is there; `--force` replaces it"));
    done(backup(&server).arg("--force").arg(at("b")));
    done(hearth(&["backup", "--verify"]).arg(at("b")));
    let shown = |server: &Running| {
        [
            "/.json?format=export",
            "/.json?format=export&ns=other",
            "/.settings/rules.json?ns=other&access_token=owner",
        ]
        .map(|path| server.ask("GET", path, ""))
    };
    let before = shown(&server);
    assert_eq!(before[2].1, RULES);
    // What is written afterwards is not in it.
    assert_eq!(server.ask("PUT", "/late.json?print=silent", "1").0, 204);
    fs::create_dir(at("empty")).unwrap();
    for (name, store) in [("new", "fjall"), ("empty", "sled")] {
        done(restore(&at("b"), &at(name)).args(["--store", store]));
        let restored = on(&at(name));
        assert_eq!(shown(&restored), before, "{name}");
        assert_eq!(restored.ask("PUT", "/more.json?print=silent", "1").0, 204);
        restored.kill();
        let again = on(&at(name));
        assert_eq!(again.ask("GET", "/more.json", ""), (200, "1".into()), "{name}");
        assert_eq!(again.stop(), Some(0));
    }
    // In use, and there.
    assert!(refusal(&mut restore(&at("b"), &at("old"))).contains("there are data in "));
    assert!(refusal(restore(&at("b"), &at("old")).arg("--force")).contains("are in use by another hearth"));
    assert_eq!(server.stop(), Some(0));
    let said = done(restore(&at("b"), &at("old")).arg("--force"));
    assert!(said.contains("old.replaced"), "{said}");
    let restored = on(&at("old"));
    assert_eq!(shown(&restored), before);
    let replaced = on(&at("old.replaced"));
    assert_eq!(replaced.ask("GET", "/late.json", ""), (200, "1".into()));
    restored.kill();
    replaced.kill();
    assert!(refusal(restore(&at("b"), &at("old")).arg("--force")).contains("old.replaced` is there"));
    // The log of restored data is nothing without their checkpoint.
    fs::remove_dir_all(at("new").join("checkpoints")).unwrap();
    let (code, said) =
        Running::try_of(hearth(&["dev", "--port", "0", "--data"]).arg(at("new"))).err().unwrap();
    assert_eq!(code, Some(2));
    assert!(said.contains("no checkpoint stands for all before that"), "{said}");
    assert_eq!(names(folder.path()), ["b", "empty", "new", "old", "old.replaced"], "nothing is left");
}

#[test]
fn damage_and_death_leave_what_was_there() {
    let folder = Folder::new("backup-broken");
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let server = on(&at("data"));
    let members: Vec<_> = (0..60_000).map(|at| format!("\"k{at}\":\"{at} {}\"", at * 7_919)).collect();
    assert_eq!(server.ask("PUT", "/.json?print=silent", &format!("{{{}}}", members.join(","))).0, 204);
    done(backup(&server).arg(at("b")));
    assert_eq!(server.ask("PUT", "/.json?print=silent", "{\"kept\":true}").0, 204);
    assert_eq!(server.stop(), Some(0));
    let whole = fs::read(at("b")).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 4;
    for (bytes, expected) in [
        (&flipped[..], "it is damaged: part "),
        (&whole[..whole.len() - 1], "it is cut: part "),
        (&whole[..whole.len() / 3], "it is cut: part "),
        (b"{}", "it is no backup of hearth"),
    ] {
        fs::write(at("broken"), bytes).unwrap();
        for command in [
            hearth(&["backup", "--verify"]).arg(at("broken")),
            restore(&at("broken"), &at("data")).arg("--force"),
            &mut restore(&at("broken"), &at("new")),
        ] {
            let said = refusal(command);
            assert!(said.contains("broken` cannot be used: ") && said.contains(expected), "{said}");
        }
        assert_eq!(names(folder.path()), ["b", "broken", "data"]);
    }
    // Killed when part of it has come: nothing has changed, and the next one is not in its way.
    let mut child =
        restore(Path::new("-"), &at("data")).arg("--force").stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), &whole[..whole.len() / 2]).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let kept = on(&at("data"));
    assert_eq!(kept.ask("GET", "/.json", ""), (200, "{\"kept\":true}".into()));
    kept.kill();
    done(restore(&at("b"), &at("data")).arg("--force"));
    let restored = on(&at("data"));
    assert_eq!(restored.ask("GET", "/k59999.json", ""), (200, format!("\"59999 {}\"", 59_999 * 7_919)));
    restored.kill();
}

#[test]
fn a_backup_is_one_moment_and_for_admins() {
    let folder = Folder::new("backup-moment");
    let at = |name: &str| -> PathBuf { folder.path().join(name) };
    let server = on(&at("data"));
    assert_eq!(server.ask("GET", "/.backup", "").0, 401);
    // Whoever writes keeps two counters alike, and writes the first database before the second.
    let (mut files, mut number) = (Vec::new(), 0);
    let put = |number: u64, ns: &str| {
        let body = format!("{{\"a\":{number},\"z\":{}}}", -i64::try_from(number).unwrap());
        assert_eq!(server.ask("PATCH", &format!("/.json?print=silent&ns={ns}"), &body).0, 204);
    };
    let filler: Vec<_> = (0..20_000).map(|at| format!("\"m{at}\":\"{at}\"")).collect();
    let filler = format!("{{\"m\":{{{}}}}}", filler.join(","));
    assert_eq!(server.ask("PUT", "/.json?print=silent&ns=first", &filler).0, 204);
    for name in ["b0", "b1", "b2"] {
        thread::scope(|scope| {
            let mut command = backup(&server);
            command.arg(at(name));
            let backing = scope.spawn(move || done(&mut command));
            while !backing.is_finished() {
                number += 1;
                put(number, "first");
                put(number, "second");
            }
            backing.join().unwrap();
        });
        files.push(at(name));
    }
    server.kill();
    for (index, file) in files.iter().enumerate() {
        let data = at(&format!("data{index}"));
        done(&mut restore(file, &data));
        let restored = on(&data);
        let number = |place: &str, ns: &str| -> i64 {
            restored.ask("GET", &format!("/{place}.json?ns={ns}"), "").1.parse().unwrap_or_default()
        };
        let (first, second) = (number("a", "first"), number("a", "second"));
        assert_eq!((first + number("z", "first"), second + number("z", "second")), (0, 0));
        assert!(first == second || first == second + 1, "{first} {second}: two databases of two moments");
        restored.kill();
    }
}
