//! A disk that fails under a running server: what clients, operators and the next server see of it.

use crate::faults::{Fault, Faults, is_left_out, strace};
use crate::folder::Folder;
use crate::running::{Running, hearth, run};
use crate::socket::Socket;
use std::path::PathBuf;
use std::process::Command;

/// What becomes of the write that meets the failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It is not kept, and that is said.
    Refused,
    /// Nobody knows.
    InDoubt,
}
use Fate::{InDoubt, Refused};

const FIRST: &str = "log/00000000000000000001.log";

/// Values of which a segment takes some.
fn value(number: usize) -> String {
    format!("\"{number}{}\"", " long".repeat(20_000))
}

/// Writes until that fails: how many were confirmed, and what was said instead.
fn fill(server: &Running) -> (usize, u16, String) {
    for number in 0..100 {
        let (status, body) = server.ask("PUT", &format!("/k/{number}.json"), &value(number));
        if status != 200 {
            return (number, status, body);
        }
    }
    panic!("nothing fails");
}

fn check(what: &str, fault: Fault, at: &str, fate: Fate) {
    let folder = Folder::new("failing");
    let mut server = Running::on(&folder);
    assert_eq!(server.ask("PUT", "/before.json", "1").0, 200, "{what}");
    let mut listener = Socket::connect(server.address());
    assert_eq!(
        listener.ask(r#""a":"q","b":{"p":"/before","h":""}"#).as_deref(),
        Some(r#"{"s":"ok","d":{}}"#)
    );
    let faults = Faults::begin(server.id(), fault, &[folder.path().join(at)]);

    let (written, status, body) = fill(&server);
    // Over REST.
    match fate {
        Refused => {
            assert_eq!(status, 503, "{what}: {body}");
            assert!(body.contains("the commit log stopped after an I/O error"), "{what}: {body}");
        }
        InDoubt => {
            assert_eq!(status, 500, "{what}: {body}");
            assert!(body.contains("whether this is kept is known after a restart"), "{what}: {body}");
        }
    }
    // For good: what fails once may go well the next time, and would prove nothing.
    faults.end();
    assert_eq!(server.ask("PUT", "/after.json", "1").0, status, "{what}");
    // Over a socket: an answer, or the end.
    let mut writer = Socket::connect(server.address());
    let answer = writer.ask(r#""a":"p","b":{"p":"/after","d":1}"#);
    match fate {
        Refused => assert!(answer.unwrap().starts_with(r#"{"s":"unavailable""#), "{what}"),
        InDoubt => assert_eq!(answer, None, "{what}: nothing is said of what nobody knows"),
    }
    // Reads and listeners go on.
    for number in 0..written {
        assert_eq!(server.ask("GET", &format!("/k/{number}.json"), ""), (200, value(number)), "{what}");
    }
    assert_eq!(server.ask("GET", &format!("/k/{written}.json"), ""), (200, "null".into()), "{what}");
    assert_eq!(listener.ask(r#""a":"q","b":{"p":"/after","h":""}"#).as_deref(), Some(r#"{"s":"ok","d":{}}"#));
    // For who runs it.
    let (status, why) = server.ask("GET", "/readyz", "");
    assert!(
        status == 503 && why.starts_with("writes are refused: the commit log "),
        "{what}: {status} {why}"
    );
    assert_eq!(why.matches('\n').count(), 1, "{what}: {why}");
    assert_eq!(server.ask("GET", "/healthz", ""), (200, "ok\n".into()), "{what}");
    server.says("nothing can be written any more");
    assert_eq!(server.stop(), Some(1), "{what}");

    // The next server has everything that was confirmed, and nothing that was refused.
    let server = Running::on(&folder);
    assert_eq!(server.ask("GET", "/before.json", ""), (200, "1".into()), "{what}");
    for number in 0..written {
        assert_eq!(server.ask("GET", &format!("/k/{number}.json"), ""), (200, value(number)), "{what}");
    }
    let last = server.ask("GET", &format!("/k/{written}.json"), "").1;
    let may_be = if fate == InDoubt { value(written) } else { "null".into() };
    assert!(last == "null" || last == may_be, "{what}");
    assert_eq!(server.ask("GET", "/after.json", ""), (200, "null".into()), "{what}");
    assert_eq!(server.ask("PUT", "/after.json", "1").0, 200, "{what}");
    assert_eq!(server.ask("GET", "/readyz", ""), (200, "ok\n".into()), "{what}");
}

#[test]
fn a_call_that_fails_ends_the_writing_and_nothing_else() {
    if is_left_out() {
        return;
    }
    let fault = |calls, when, error| Fault { calls, when, error };
    for (what, fault, at, fate) in [
        ("a write to the segment", fault("pwrite64", "1+", "EIO"), FIRST, InDoubt),
        ("one write to the segment", fault("pwrite64", "1", "EIO"), FIRST, InDoubt),
        ("the third write to the segment", fault("pwrite64", "3", "EIO"), FIRST, InDoubt),
        ("a write without room", fault("pwrite64", "2", "ENOSPC"), FIRST, InDoubt),
        ("a sync of the segment", fault("fdatasync", "1+", "EIO"), FIRST, InDoubt),
        ("one sync of the segment", fault("fdatasync", "1", "EIO"), FIRST, InDoubt),
        ("the fourth sync of the segment", fault("fdatasync", "4", "EIO"), FIRST, InDoubt),
        ("a sync without room", fault("fdatasync", "1", "ENOSPC"), FIRST, InDoubt),
        ("a sync over quota", fault("fdatasync", "1", "EDQUOT"), FIRST, InDoubt),
        ("making a segment", fault("openat", "1", "EMFILE"), "log/unfinished", Refused),
        (
            "making a segment in a folder that is read-only",
            fault("openat", "1+", "EROFS"),
            "log/unfinished",
            Refused,
        ),
        ("filling a segment with zeros", fault("write", "1", "ENOSPC"), "log/unfinished", Refused),
        ("filling a segment with zeros later", fault("write", "2", "EIO"), "log/unfinished", Refused),
        ("the head of a segment", fault("pwrite64", "1", "EIO"), "log/unfinished", Refused),
        ("the first sync of a segment", fault("fdatasync", "1", "EIO"), "log/unfinished", Refused),
        ("naming a segment", fault("?rename,?renameat,?renameat2", "1", "EIO"), "log/unfinished", Refused),
        ("a sync of the folder", fault("fsync", "1", "EIO"), "log", Refused),
        ("opening the folder", fault("openat", "1", "ENFILE"), "log", Refused),
    ] {
        check(what, fault, at, fate);
    }
}

/// The end of a segment is written when the next one is there, by the same calls as a group.
#[test]
fn a_segment_that_cannot_be_ended_is_where_the_next_server_goes_on() {
    if is_left_out() {
        return;
    }
    // Ten values fill a segment.
    for (what, calls) in [("the write that ends a segment", "pwrite64"), ("its sync", "fdatasync")] {
        check(what, Fault { calls, when: "11", error: "EIO" }, FIRST, Refused);
    }
}

#[test]
fn a_log_that_is_removed_is_not_written() {
    for (what, remove) in [("the file", FIRST), ("the folder of the log", "log"), ("everything", "")] {
        let folder = Folder::new("removed");
        let mut server = Running::on(&folder);
        assert_eq!(server.ask("PUT", "/before.json", "1").0, 200, "{what}");
        let path = folder.path().join(remove);
        if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) }.unwrap();
        let (status, body) = server.ask("PUT", "/after.json", "1");
        assert_eq!(status, 503, "{what}: {body}");
        assert_eq!(server.ask("GET", "/before.json", ""), (200, "1".into()), "{what}");
        let (status, why) = server.ask("GET", "/readyz", "");
        let expected = "writes are refused: the commit log cannot be written: its last file was removed while it was in use\n";
        assert_eq!((status, why.as_str()), (503, expected), "{what}");
        server.says("was removed while it was in use");
        assert_eq!(server.stop(), Some(1), "{what}");
    }
}

/// Calls that fail while a server starts on data that are well: one sentence, exit code 2, and the data stay well.
#[test]
fn a_start_that_fails_says_why_and_leaves_the_data_as_they_were() {
    if is_left_out() {
        return;
    }
    let folder = Folder::new("start");
    let server = Running::on(&folder);
    assert_eq!(server.ask("PUT", "/before.json", "1").0, 200);
    server.kill();
    for (what, calls, at, error, expected) in [
        ("reading the log", "pread64", FIRST, "EIO", "Input/output error"),
        ("opening the log", "openat", FIRST, "EACCES", "Permission denied"),
        ("too many files", "openat", FIRST, "EMFILE", "Too many open files"),
        ("looking into the log", "openat", "log", "EIO", "Input/output error"),
        ("reading what it is", "openat", "format", "EACCES", "Permission denied"),
        ("opening the lock", "openat", "lock", "EROFS", "Read-only file system"),
        ("the lock", "flock", "lock", "ENOLCK", "No locks available"),
        ("the first write", "pwrite64", FIRST, "EIO", "Input/output error"),
        ("the first sync", "fdatasync", FIRST, "EIO", "Input/output error"),
    ] {
        let mut command = strace(Fault { calls, when: "1+", error }, &[folder.path().join(at)]);
        command.arg(env!("CARGO_BIN_EXE_hearth")).args(["dev", "--port", "0", "--data"]).arg(folder.path());
        let (code, out, err) = run(&mut command);
        assert_eq!((code, out.as_str()), (Some(2), ""), "{what}: {err}");
        assert!(err.starts_with("hearth: ") && err.matches('\n').count() == 1, "{what}: {err}");
        assert!(err.contains(expected), "{what}: {err}");
        let place = folder.path().display().to_string();
        assert!(err.contains(&place), "{what}: {err}");
        let server = Running::on(&folder);
        assert_eq!(server.ask("GET", "/before.json", ""), (200, "1".into()), "{what}");
        server.kill();
    }
}

/// Too few descriptors for the data and one client.
#[test]
fn a_server_with_few_descriptors_says_so_or_serves() {
    let folder = Folder::new("descriptors");
    for limit in [4, 8, 64] {
        let data = folder.path().join(limit.to_string());
        let script = format!(
            "ulimit -n {limit}; exec '{}' dev --port 0 --data '{}'",
            env!("CARGO_BIN_EXE_hearth"),
            data.display()
        );
        let mut command = Command::new("sh");
        command.args(["-c", &script]).env_clear();
        if limit < 64 {
            let (code, out, err) = run(&mut command);
            assert_eq!((code, out.as_str()), (Some(2), ""), "{limit}: {err}");
            assert!(err.contains("Too many open files"), "{limit}: {err}");
        } else {
            let server = Running::of(&mut command);
            assert_eq!(server.ask("PUT", "/a.json", "1").0, 200, "{limit}");
        }
        // What is left is a beginning that the next one can go on with.
        let server = Running::of(hearth(&["dev", "--port", "0"]).arg("--data").arg(&data));
        assert_eq!(server.ask("PUT", "/a.json", "1").0, 200, "{limit}");
    }
}

/// The folder of the data as it may be named.
#[test]
fn a_folder_may_be_named_in_any_way() {
    let folder = Folder::new("named");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("real"), &link).unwrap();
    std::fs::create_dir(folder.path().join("real")).unwrap();
    let odd = "a b/ü\"'$x\n/..//./end/";
    for path in [PathBuf::from("relative"), "./x/../y/z".into(), link, odd.into(), "-dash".into()] {
        for expected in ["null", "1"] {
            let mut command = hearth(&["dev", "--port", "0"]);
            let mut data = std::ffi::OsString::from("--data=");
            data.push(&path);
            let server = Running::of(command.arg(data).current_dir(folder.path()));
            assert_eq!(server.ask("GET", "/a.json", ""), (200, expected.into()), "{}", path.display());
            assert_eq!(server.ask("PUT", "/a.json", "1").0, 200, "{}", path.display());
            server.kill();
        }
    }
}
