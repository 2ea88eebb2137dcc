//! Commands that move data, killed with no time for anything: what they leave is nothing, or whole.

use crate::faults::{is_left_out, strace_killing};
use crate::folder::Folder;
use crate::running::{PATIENCE, Running, hearth, run};
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const KEPT: &str = "{\"kept\":true}";

fn on(data: &Path) -> Running {
    Running::of(hearth(&["dev", "--port", "0"]).arg("--data").arg(data))
}

/// Text that does not become much shorter.
fn noise(count: u64) -> String {
    let mut number = 1_u64;
    let mut next = || {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        number
    };
    let members: Vec<_> =
        (0..count).map(|at| format!("\"k{at}\":\"{:016x}{:016x}\"", next(), next())).collect();
    format!("{{{}}}", members.join(","))
}

/// What stands in a folder.
fn names(folder: &Path) -> Vec<String> {
    let name = |entry: std::io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(name).collect();
    names.sort();
    names
}

fn verify(file: &Path) -> (Option<i32>, String) {
    let (code, _, err) = run(hearth(&["backup", "--verify"]).arg(file));
    (code, err)
}

/// What a backup that was killed has left must not be taken for one.
fn check_unfinished(folder: &Path) -> usize {
    let unfinished: Vec<_> = names(folder).into_iter().filter(|name| name.ends_with(".unfinished")).collect();
    for name in &unfinished {
        let file = folder.join(name);
        let (code, said) = verify(&file);
        let is_refused = code == Some(1) && (said.contains("it is cut") || said.contains("it is no backup"));
        // Only its name is missing where it was killed between its last byte and that.
        assert!(is_refused || code == Some(0), "{said}");
        if is_refused {
            let new = folder.join("new");
            let (code, _, said) = run(hearth(&["restore"]).arg(&file).arg("--data").arg(&new));
            assert_eq!(code, Some(1), "{said}");
            assert!(!new.exists());
        }
        fs::remove_file(file).unwrap();
    }
    unfinished.len()
}

#[test]
fn a_backup_that_is_killed_leaves_no_file_that_passes_as_whole() {
    let folder = Folder::new("kill-backup");
    let (data, out) = (folder.path().join("data"), folder.path().join("out"));
    fs::create_dir(&out).unwrap();
    let server = on(&data);
    assert_eq!(server.ask("PUT", "/.json?print=silent", &noise(150_000)).0, 204);
    let url = format!("http://{}", server.address());
    let file = out.join("b");
    let written = || names(&out).iter().map(|name| fs::metadata(out.join(name)).unwrap().len()).sum::<u64>();
    for enough in [0, 1, 100_000, 1_000_000, 2_000_000] {
        let mut child = hearth(&["backup", &url]).arg(&file).stderr(Stdio::null()).spawn().unwrap();
        let began = Instant::now();
        while written() < enough {
            assert!(child.try_wait().unwrap().is_none(), "it has ended with {} bytes", written());
            assert!(began.elapsed() < PATIENCE, "{} bytes", written());
            std::thread::yield_now();
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert!(!file.exists(), "{enough}");
        assert!(enough == 0 || check_unfinished(&out) == 1, "{enough}");
        check_unfinished(&out);
    }
    if is_left_out() {
        return;
    }
    // At each step with which it gets its name.
    for (calls, when, is_there) in
        [("fsync", 1, false), ("rename,renameat,renameat2", 1, false), ("fsync", 2, true)]
    {
        let mut command = strace_killing(calls, when, None);
        command.arg(env!("CARGO_BIN_EXE_hearth")).env_clear().args(["backup", &url]).arg(&file);
        assert!(!command.status().unwrap().success(), "{calls} {when}");
        assert_eq!(file.exists(), is_there, "{calls} {when}");
        if is_there {
            assert_eq!(verify(&file).0, Some(0), "{calls} {when}");
            fs::remove_file(&file).unwrap();
        }
        check_unfinished(&out);
    }
}

/// A folder with the old data, and a backup of the new ones.
struct Scene {
    folder: Folder,
    backup: PathBuf,
    whole: String,
}

impl Scene {
    fn new() -> Self {
        let folder = Folder::in_memory("kill-restore");
        let at = |name: &str| folder.path().join(name);
        let server = on(&at("new"));
        assert_eq!(server.ask("PUT", "/.json?print=silent", &noise(3_000)).0, 204);
        let whole = server.ask("GET", "/.json", "").1;
        let (backup, url) = (at("b"), format!("http://{}", server.address()));
        let (code, _, said) = run(hearth(&["backup", &url]).arg(&backup));
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(server.stop(), Some(0));
        let server = on(&at("old"));
        assert_eq!(server.ask("PUT", "/.json?print=silent", KEPT).0, 204);
        assert_eq!(server.stop(), Some(0));
        Self { folder, backup, whole }
    }

    /// Runs a restore that is killed there, into a folder of its own: whether it was.
    fn restore(&self, life: &Path, (calls, beside): (&str, Option<&str>), when: u32, over_old: bool) -> bool {
        fs::create_dir(life).unwrap();
        let data = life.join("data");
        if over_old {
            let mut copy = Command::new("cp");
            assert!(
                copy.arg("-r").arg(self.folder.path().join("old")).arg(&data).status().unwrap().success()
            );
        }
        let beside = beside.map(|name| life.join(name));
        let mut command = strace_killing(calls, when, beside.as_deref());
        command.arg(env!("CARGO_BIN_EXE_hearth")).env_clear().args(["restore", "--force"]);
        command.arg(&self.backup).arg("--data").arg(&data).stderr(Stdio::null());
        !command.status().unwrap().success()
    }

    /// What is in a folder of data: all of one or of the other, or a refusal.
    fn found(&self, data: &Path) -> Found {
        if !data.exists() {
            return Found::Nothing;
        }
        match Running::try_of(hearth(&["dev", "--port", "0"]).arg("--data").arg(data)) {
            Err((code, said)) => {
                assert_eq!(code, Some(2), "{said}");
                assert!(said.starts_with("hearth: ") && said.contains(data.to_str().unwrap()), "{said}");
                Found::Refused
            }
            Ok(server) => match server.ask("GET", "/.json", "").1 {
                shown if shown == KEPT => Found::Old,
                shown if shown == self.whole => Found::Whole,
                shown => panic!("{}: there are {} bytes that are neither", data.display(), shown.len()),
            },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    Refused,
    Old,
    Whole,
}

#[test]
fn a_restore_that_is_killed_leaves_nothing_or_all() {
    if is_left_out() {
        return;
    }
    let scene = Scene::new();
    for over_old in [true, false] {
        let mut seen = Vec::new();
        for at in [
            ("fsync,fdatasync", None),
            ("rename,renameat", None),
            ("renameat2", None),
            // Of the folders themselves: when they have changed places.
            ("fsync", Some(".")),
            ("rename,renameat", Some("data.restoring")),
        ] {
            for when in 1.. {
                let name = format!("{}-{}-{when}-{over_old}", at.0.replace(',', "-"), at.1.is_some());
                let life = scene.folder.path().join(&name);
                let is_killed = scene.restore(&life, at, when, over_old);
                let data = life.join("data");
                let found = scene.found(&data);
                let expected: &[Found] = match (is_killed, over_old) {
                    (false, _) => &[Found::Whole],
                    (true, true) => &[Found::Old, Found::Whole],
                    (true, false) => &[Found::Nothing, Found::Whole],
                };
                assert!(expected.contains(&found), "{name}: {found:?}");
                seen.push((is_killed, found));
                // What stands beside it says what it is, or has all of something.
                let restoring = life.join("data.restoring");
                let is_whole = restoring.join("format").exists();
                // Another restore goes on from there, or says what is in its way.
                if is_killed && found != Found::Whole {
                    let mut again = hearth(&["restore", "--force"]);
                    let (code, _, said) = run(again.arg(&scene.backup).arg("--data").arg(&data));
                    if is_whole {
                        assert!(
                            said.contains(
                                "data.restoring` is there, with data that a restore which was killed"
                            ),
                            "{name}: {said}"
                        );
                        assert_eq!(scene.found(&restoring), Found::Whole, "{name}");
                        assert_eq!(scene.found(&data), found, "{name}");
                    } else {
                        assert_eq!((code, scene.found(&data)), (Some(0), Found::Whole), "{name}: {said}");
                    }
                } else if is_whole {
                    assert_eq!(scene.found(&restoring), Found::Old, "{name}");
                }
                fs::remove_dir_all(&life).unwrap();
                if !is_killed {
                    break;
                }
            }
        }
        let before = if over_old { Found::Old } else { Found::Nothing };
        assert!(seen.contains(&(true, before)), "{seen:?}");
        assert!(!over_old || seen.contains(&(true, Found::Whole)), "{seen:?}");
    }
}

/// Half of a folder that is being made is no data.
#[test]
fn what_a_killed_restore_was_making_is_not_taken_for_data() {
    let scene = Scene::new();
    let data = scene.folder.path().join("data");
    let half = fs::read(&scene.backup).unwrap();
    let mut child = hearth(&["restore", "-", "--data"])
        .arg(&data)
        .stdin(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    std::io::Write::write_all(&mut stdin, &half[..half.len() / 2]).unwrap();
    let restoring = scene.folder.path().join("data.restoring");
    let began = Instant::now();
    while !restoring.join("checkpoints").exists() {
        assert!(began.elapsed() < PATIENCE, "nothing is made");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdin);
    assert_eq!(scene.found(&data), Found::Nothing);
    assert_eq!(scene.found(&restoring), Found::Refused);
}
