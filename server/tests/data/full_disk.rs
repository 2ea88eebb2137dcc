//! A disk that is full, in earnest.

use crate::faults::leave_out;
use crate::folder::Folder;
use crate::running::{Running, hearth, run};
use crate::{files, large};
use std::path::Path;
use std::process::Command;

/// A file system of so many KiB in a folder, until it is dropped.
pub(crate) struct Small<'a>(&'a Path);

impl<'a> Small<'a> {
    /// Takes root. Where it cannot be, that is said; where everything has to be tested, that is a failure.
    pub(crate) fn mount(at: &'a Path, kib: u32) -> Option<Self> {
        let size = format!("size={kib}k");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(at).output();
        let why = match mount {
            Ok(output) if output.status.success() => return Some(Self(at)),
            Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            Err(error) => error.to_string(),
        };
        let why = format!("no file system can be mounted here: {why}");
        let is_wanted = std::env::var_os("HEARTH_MOUNTS").is_some_and(|wanted| wanted == "needed");
        assert!(!is_wanted, "{why}, and HEARTH_MOUNTS says that it is needed");
        leave_out(&why);
        None
    }

    /// With other options of mount: `size=…k`, `ro`, `rw`.
    pub(crate) fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        assert!(Command::new("mount").args(["-o", &options]).arg(self.0).status().unwrap().success());
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0).status());
    }
}

/// Writes until that fails: how many were confirmed, and what was said instead.
fn fill(server: &Running) -> (usize, (u16, String)) {
    let value = format!("\"{}\"", "full ".repeat(4_000));
    for written in 0..1_000 {
        let answer = server.ask("PUT", &format!("/k{written}.json"), &value);
        if answer.0 != 200 {
            return (written, answer);
        }
    }
    panic!("the disk does not become full");
}

fn check(server: Running, start_again: impl FnOnce() -> Running) {
    let mut server = server;
    let rules = "/.settings/rules.json?access_token=owner";
    let open = r#"{"rules": {".read": true, ".write": true}}"#;
    assert_eq!(server.ask("PUT", rules, open).0, 200);
    let (written, (status, body)) = fill(&server);
    assert_eq!((status, written > 10), (503, true), "{written} {body}");
    assert!(body.contains("the commit log stopped after an I/O error"), "{body}");
    // Reads go on; writes do not, small ones neither.
    for at in [0, written - 1] {
        let (status, body) = server.ask("GET", &format!("/k{at}.json"), "");
        assert_eq!((status, body.starts_with("\"full full")), (200, true), "{at}");
    }
    assert_eq!(server.ask("GET", &format!("/k{written}.json"), ""), (200, "null".into()));
    assert_eq!(server.ask("PUT", "/small.json", "1").0, 503);
    // Rules that cannot be kept do not hold, and are not said to; nor can those that are be taken back.
    for (method, text) in [("PUT", "{\"rules\": {}}"), ("DELETE", "")] {
        let (status, body) = server.ask(method, rules, text);
        assert_eq!(status, 503, "{method}: {body}");
        assert!(body.contains("the commit log stopped after an I/O error"), "{method}: {body}");
        assert_eq!(server.ask("GET", rules, ""), (200, open.into()), "{method}");
        assert_eq!(server.ask("GET", "/k0.json", "").0, 200, "{method}");
    }
    let (status, why) = server.ask("GET", "/readyz", "");
    assert_eq!(status, 503);
    assert!(why.starts_with("writes are refused: the commit log cannot be written: "), "{why}");
    assert_eq!(server.ask("GET", "/healthz", ""), (200, "ok\n".into()));
    server.says("nothing can be written any more");
    assert_eq!(server.stop(), Some(1));
    // With room again everything that was confirmed is there, and nothing that was refused.
    let mut server = start_again();
    server.says("database `default` uses its stored rules, version 1 of 20");
    let (_, keys) = server.ask("GET", "/.json?shallow=true", "");
    assert_eq!(keys.matches("true").count(), written, "{keys}");
    assert_eq!(server.ask("PUT", "/small.json", "1").0, 200);
    assert_eq!(server.ask("PUT", rules, "{\"rules\": {}}").0, 200);
    server.says("uses its stored rules from now on, version 2");
}

#[test]
fn a_disk_that_is_full_ends_the_writing_and_nothing_else() {
    let folder = Folder::new("full");
    let Some(small) = Small::mount(folder.path(), 3_500) else {
        // Without root; the limit on the length of files below comes to the same.
        return;
    };
    check(Running::on(&folder), || {
        small.remount("size=64000k");
        Running::on(&folder)
    });
}

/// What is put on the disk ahead finds no room, and nobody else has anything to do with that.
#[test]
fn a_large_write_that_finds_no_room_is_refused_alone() {
    let folder = Folder::new("no-room-for-large");
    let Some(_small) = Small::mount(folder.path(), 3_000) else { return };
    let mut server = Running::on(&folder);
    for again in 0..3 {
        let (status, body) = server.ask("PUT", "/large.json", &large());
        assert_eq!(status, 503, "{again}: {body}");
        assert!(body.contains("the write takes 3 MB of the disk, and "), "{again}: {body}");
        assert!(body.contains(" MB of it are free, of which "), "{again}: {body}");
        assert!(body.contains(" MB are left to the log; nothing of it is kept"), "{again}: {body}");
        assert_eq!(files(&folder, ".staged"), Vec::<String>::new());
        assert_eq!(server.ask("GET", "/large.json", ""), (200, "null".into()));
        assert_eq!(server.ask("PUT", "/small.json", "1").0, 200, "{again}");
    }
    server.says("a large write cannot be put on the disk");
    assert_eq!(server.ask("GET", "/readyz", ""), (200, "ok\n".into()));
}

#[test]
fn a_file_that_may_not_become_longer_ends_the_writing_and_nothing_else() {
    let folder = Folder::new("limited");
    // 1.5 MiB, and no signal but an error: the first segment can be made, the second cannot.
    let script = format!(
        "trap '' XFSZ; ulimit -f 3072; exec '{}' dev --port 0 --data '{}'",
        env!("CARGO_BIN_EXE_hearth"),
        folder.path().display()
    );
    check(Running::of(Command::new("sh").args(["-c", &script]).env_clear()), || Running::on(&folder));
}

#[test]
fn a_disk_without_room_for_a_beginning_is_named() {
    let folder = Folder::new("no-room");
    let Some(_small) = Small::mount(folder.path(), 500) else { return };
    let (code, out, err) = run(hearth(&["dev", "--port", "0"]).arg("--data").arg(folder.path()));
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("log` cannot be used for data: No space left on device"), "{err}");
}

#[test]
fn a_disk_that_may_not_be_written_is_named() {
    let folder = Folder::new("read-only");
    let Some(small) = Small::mount(folder.path(), 8_000) else { return };
    Running::on(&folder).kill();
    small.remount("ro");
    let (code, out, err) = run(hearth(&["dev", "--port", "0"]).arg("--data").arg(folder.path()));
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
    assert!(err.contains("Read-only file system") && err.matches('\n').count() == 1, "{err}");
}
