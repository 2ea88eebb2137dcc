//! Data on a real disk, through the binary: what is kept, what is said when it cannot be, and what goes on then.

#![expect(clippy::unwrap_used, reason = "what helps tests may end them")]

mod backup;
mod checkpoints;
mod chunked;
mod damage;
mod failing;
mod faults;
mod folder;
mod full_disk;
mod kills;
mod outage;
mod rules;
mod running;
mod socket;
mod starting;
mod transfer;

use folder::Folder;
use running::{Running, hearth, run};
use std::fs;
use std::os::unix::fs::FileExt;

#[test]
fn what_was_confirmed_is_there_after_a_kill() {
    let folder = Folder::new("kill");
    let mut server = Running::on(&folder);
    server.says(": new\n");
    let long = format!("\"{}\"", "long ".repeat(300_000));
    for (path, body) in [
        ("/a/b.json?ns=one", "{\"c\":1.5,\"d\":[true,\"x\"]}"),
        ("/e.json?ns=two", "9007199254740993"),
        ("/f.json?ns=one", &long),
    ] {
        assert_eq!(server.ask("PUT", path, body), (200, body.into()));
    }
    assert_eq!(server.ask("DELETE", "/a/b/c.json?ns=one", "").0, 200);
    server.kill();

    let mut server = Running::on(&folder);
    server.says("4 writes in 2 databases recovered from 1501 kB of log");
    server.says("the last server was cut off");
    for (path, body) in [
        ("/a.json?ns=one", "{\"b\":{\"d\":[true,\"x\"]}}"),
        ("/e.json?ns=two", "9007199254740993"),
        ("/f.json?ns=one", &long),
    ] {
        assert_eq!(server.ask("GET", path, ""), (200, body.into()));
    }
    // It goes on where it was: what is written now comes behind.
    assert_eq!(server.ask("PUT", "/g.json?ns=three", "1").0, 200);
    assert_eq!(server.ask("GET", "/readyz", ""), (200, "ok\n".into()));
    assert_eq!(server.stop(), Some(0));

    let mut server = Running::on(&folder);
    assert!(!server.says("5 writes in 3 databases recovered").contains("cut off"));
    assert_eq!(server.ask("GET", "/g.json?ns=three", ""), (200, "1".into()));
}

/// Messages of a chat, so many that they are put on the disk ahead.
fn large() -> String {
    let message = |at: usize| {
        format!("\"m{at:06}\":{{\"at\":{at},\"text\":\"message number {at} of a usual length\"}}")
    };
    let messages: Vec<_> = (0..40_000).map(message).collect();
    format!("{{{}}}", messages.join(","))
}

/// An object of 40 000 paths with such values.
fn many(value: impl Fn(usize) -> String) -> String {
    let part = |at: usize| format!("\"of a usual length/n{at:06}\":{}", value(at));
    let parts: Vec<_> = (0..40_000).map(part).collect();
    format!("{{{}}}", parts.join(","))
}

/// Where the first segment of the log ends.
fn log_end(folder: &Folder) -> usize {
    let segment = fs::read(folder.path().join("log/00000000000000000001.log")).unwrap();
    segment.iter().rposition(|&byte| byte != 0).unwrap()
}

/// Names in the folder of the log that end like this.
fn files(folder: &Folder, end: &str) -> Vec<String> {
    let names = fs::read_dir(folder.path().join("log")).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(end)).collect()
}

#[test]
fn what_is_large_stands_beside_the_log_and_is_there_after_a_kill() {
    let folder = Folder::new("large");
    let server = Running::on(&folder);
    let large = large();
    for (method, path, body, parts, status) in [
        ("PUT", "/a.json", &large, 1, 200),
        // Nothing changes.
        ("PUT", "/a.json", &large, 1, 200),
        ("PUT", "/b/c.json?print=silent", &large, 2, 204),
        (
            "PATCH",
            "/.json?print=silent",
            &format!("{{\"d\":{large},\"b/e\":{{\".sv\":\"timestamp\"}}}}"),
            3,
            204,
        ),
        // It cannot be resolved, so nothing is kept of it.
        ("PUT", "/a.json", &format!("{{\"x\":{large},\"y\":{{\".sv\":{{\"increment\":\"z\"}}}}}}"), 3, 400),
        (
            "PUT",
            "/e.json?print=silent",
            &format!("{{\"x\":{large},\"y\":{{\".sv\":\"timestamp\"}}}}"),
            4,
            204,
        ),
        // Of very many small things.
        (
            "PUT",
            "/times.json?print=silent",
            &many(|at| format!("{{\"at\":{{\".sv\":\"timestamp\"}},\"number\":{at}}}")).replace('/', "-"),
            5,
            204,
        ),
        ("PATCH", "/places.json?print=silent", &many(|at| at.to_string()), 6, 204),
        ("PATCH", "/places.json?print=silent", &many(|_| "{\".sv\":{\"increment\":2}}".into()), 7, 204),
        ("PATCH", "/places.json?print=silent", &many(|_| "null".into()).replacen("null", "true", 1), 8, 204),
    ] {
        let written = log_end(&folder);
        assert_eq!(server.ask(method, path, body).0, status, "{method} {path}");
        assert_eq!(files(&folder, ".part").len(), parts, "{method} {path}");
        assert!(log_end(&folder) < written + 200, "{method} {path}: the record is long");
    }
    let whole = server.ask("GET", "/.json", "").1;
    server.kill();
    let server = Running::on(&folder);
    assert!(server.ask("GET", "/.json", "").1 == whole, "something else is there after a kill");
    for path in ["/a.json", "/b/c.json", "/d.json", "/e/x.json"] {
        assert_eq!(server.ask("GET", path, ""), (200, large.clone()), "{path}");
    }
    assert!(server.ask("GET", "/b/e.json", "").1.parse::<u64>().is_ok());
    assert_eq!(files(&folder, ".staged"), Vec::<String>::new());
    assert_eq!(server.ask("DELETE", "/.json", "").0, 200);
    assert_eq!(server.ask("GET", "/.json", ""), (200, "null".into()));
}

#[test]
fn reading_leaves_nothing_on_the_disk() {
    let folder = Folder::new("reading");
    let server = Running::on(&folder);
    assert_eq!(server.ask("GET", "/a.json?ns=one", ""), (200, "null".into()));
    assert_eq!(server.ask("DELETE", "/a.json?ns=two", "").0, 200);
    assert_eq!(server.stop(), Some(0));
    let mut server = Running::on(&folder);
    server.says("0 writes in 0 databases");
}

#[test]
fn a_developer_need_not_say_where() {
    let folder = Folder::new("default");
    let start = || Running::of(hearth(&["dev", "--port", "0"]).current_dir(folder.path()));
    let server = start();
    assert_eq!(server.ask("PUT", "/a.json", "1").0, 200);
    assert_eq!(server.stop(), Some(0));
    assert!(folder.path().join("hearth-data/format").exists());
    let server = start();
    assert_eq!(server.ask("GET", "/a.json", ""), (200, "1".into()));
}

#[test]
fn a_server_for_production_keeps_what_it_may_not_show() {
    let folder = Folder::new("serve");
    let rules = folder.path().join("rules.json");
    let data = folder.path().join("data");
    fs::write(&rules, r#"{"rules": {".read": true, ".write": true}}"#).unwrap();
    let start = |name: &str| {
        let mut command = hearth(&["serve", "--port", "0", "--namespace", name]);
        Running::of(command.arg("--data").arg(&data).arg("--rules").arg(&rules))
    };
    let server = start("one");
    assert_eq!(server.ask("PUT", "/a.json?ns=one", "1").0, 200);
    server.kill();
    let server = start("two");
    assert_eq!(server.ask("GET", "/a.json?ns=one", "").0, 404);
    assert_eq!(server.ask("PUT", "/a.json?ns=two", "2").0, 200);
    server.kill();
    let server = start("one,two");
    assert_eq!(server.ask("GET", "/a.json?ns=one", ""), (200, "1".into()));
    assert_eq!(server.ask("GET", "/a.json?ns=two", ""), (200, "2".into()));
}

/// Exit code 2 and one sentence.
#[test]
fn data_that_cannot_be_used_are_refused_in_a_sentence() {
    let folder = Folder::new("refused");
    let data = folder.path().join("data");
    let server = Running::of(hearth(&["dev", "--port", "0"]).arg("--data").arg(&data));
    assert_eq!(server.ask("PUT", "/a.json", "1").0, 200);
    let check = |expected: &str| {
        let (code, out, err) = run(hearth(&["dev", "--port", "0"]).arg("--data").arg(&data));
        let expected = format!("hearth: {}", expected.replace("`DIR`", &format!("`{}`", data.display())));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
        assert!(err.starts_with(&expected) && err.matches('\n').count() == 1, "{err}not\n{expected}");
    };
    check("the data in `DIR` are in use by another hearth; end it, or take another folder with `--data DIR`");
    server.kill();

    let segment = data.join("log/00000000000000000001.log");
    let bytes = fs::read(&segment).unwrap();
    fs::write(data.join("log/notes"), "mine").unwrap();
    check("the data in `DIR` cannot be used: `log/notes` is no file of the log; move it elsewhere");
    fs::remove_file(data.join("log/notes")).unwrap();
    fs::write(&segment, &bytes[..bytes.len() / 2]).unwrap();
    check(
        "the data in `DIR` cannot be used: `log/00000000000000000001.log` has 524288 bytes and was made with 1048576; put the folder back from a copy, or move it away to begin with nothing",
    );
    fs::write(&segment, &bytes).unwrap();
    let at = bytes.windows(4).rposition(|window| window == b"HGrp").unwrap();
    let file = fs::OpenOptions::new().write(true).open(&segment).unwrap();
    file.write_all_at(&[bytes[at + 40] ^ 1], at as u64 + 40).unwrap();
    check(&format!(
        "the data in `DIR` cannot be used: `log/00000000000000000001.log`, byte {at}: what should be group 2 of the log is damaged: all of it was written, and it is not what was written"
    ));
    fs::remove_file(&segment).unwrap();
    check("the data in `DIR` cannot be used: the files of the log are missing from `log`");
    fs::write(data.join("format"), "hearth data 9\nlog 0\n").unwrap();
    check(
        "the data in `DIR` cannot be used: `format` says `hearth data 9`, and this program knows `hearth data 1` to `hearth data 4`",
    );

    fs::remove_dir_all(&data).unwrap();
    fs::create_dir(&data).unwrap();
    fs::write(data.join("thesis.tex"), "mine").unwrap();
    check(
        "`DIR` holds `thesis.tex` and no data of hearth; `--data DIR` takes an empty folder, or one that hearth has made",
    );
    assert_eq!(fs::read_dir(&data).unwrap().count(), 1, "nothing was added");
    fs::remove_dir_all(&data).unwrap();
    fs::write(&data, "a file").unwrap();
    check("`DIR` cannot be used for data: it is a file, and `--data DIR` names a folder");
}

#[test]
fn a_folder_whose_making_was_interrupted_is_made_again() {
    let folder = Folder::new("interrupted");
    for left in [
        &["lock"][..],
        &["lock", "log/unfinished"],
        &["lock", "log/00000000000000000001.log", "format.unfinished"],
    ] {
        let data = folder.path().join(left.len().to_string());
        fs::create_dir_all(data.join("log")).unwrap();
        left.iter().for_each(|name| fs::write(data.join(name), "x").unwrap());
        let start = || Running::of(hearth(&["dev", "--port", "0"]).arg("--data").arg(&data));
        let server = start();
        assert_eq!(server.ask("PUT", "/a.json", "1").0, 200);
        server.kill();
        assert_eq!(start().ask("GET", "/a.json", ""), (200, "1".into()), "{left:?}");
    }
}

#[test]
fn saying_two_things_about_the_data_is_a_mistake() {
    let (code, _, err) = run(hearth(&["dev", "--memory"]).args(["--data", "x"]));
    let expected = "hearth: `--memory` keeps nothing and `--data x` keeps the data: say one of them (they may stand in \
        `HEARTH_MEMORY` and `HEARTH_DATA`)\n";
    assert_eq!((code, err.as_str()), (Some(2), expected));
}

/// Nobody but who runs the server reads the data.
#[test]
fn data_are_private() {
    use std::os::unix::fs::MetadataExt;
    let folder = Folder::new("private");
    let data = folder.path().join("data");
    let _server = Running::of(hearth(&["dev", "--port", "0"]).arg("--data").arg(&data));
    for (name, mode) in [
        ("", 0o700),
        ("log", 0o700),
        ("format", 0o600),
        ("lock", 0o600),
        ("log/00000000000000000001.log", 0o600),
    ] {
        assert_eq!(fs::metadata(data.join(name)).unwrap().mode() & 0o777, mode, "{name}");
    }
}
