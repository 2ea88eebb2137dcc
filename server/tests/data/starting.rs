//! Folders that a server cannot start on: one sentence that names the path and the reason, exit code 2, nothing half-made.

use crate::faults::{all_below, leave_out};
use crate::folder::Folder;
use crate::full_disk::Small;
use crate::running::{Running, hearth, run};
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

/// What is said of a folder, with its name replaced by `DIR`.
fn refusal(what: &str, command: &mut Command, data: &Path) -> String {
    let (code, out, err) = run(command);
    assert_eq!((code, out.as_str()), (Some(2), ""), "{what}: {err}");
    assert!(err.starts_with("hearth: ") && err.matches('\n').count() == 1, "{what}: {err}");
    err.trim_end().trim_start_matches("hearth: ").replace(&data.display().to_string(), "DIR")
}

fn dev(data: &Path) -> Command {
    let mut command = hearth(&["dev", "--port", "0"]);
    command.arg("--data").arg(data);
    command
}

/// All names below a folder.
fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = all_below(folder)
        .iter()
        .filter_map(|path| Some(path.strip_prefix(folder).ok()?.to_str()?.to_owned()))
        .filter(|name| !name.is_empty())
        .collect();
    names.sort();
    names
}

/// Something else stands where a file or a folder should, in data that were well.
#[test]
fn what_stands_in_the_place_of_a_file_or_folder_is_named() {
    for (name, is_made_folder, expected) in [
        ("format", true, "`DIR/format` cannot be used for data: Is a directory (os error 21)"),
        ("lock", true, "`DIR/lock` cannot be used for data: Is a directory (os error 21)"),
        ("log", false, "the data in `DIR` cannot be used: `log`: Not a directory (os error 20)"),
        (
            "checkpoints",
            false,
            "`DIR/checkpoints` cannot be used for data: `store` cannot be read: Not a directory (os error 20)",
        ),
    ] {
        let folder = Folder::new("in-place");
        let server = Running::of(&mut dev(folder.path()));
        assert_eq!(server.ask("PUT", "/a.json", "1").0, 200, "{name}");
        server.kill();
        let at = folder.path().join(name);
        let aside = folder.path().with_extension("aside");
        let was_there = at.exists();
        if was_there {
            fs::rename(&at, &aside).unwrap();
        }
        if is_made_folder { fs::create_dir(&at) } else { fs::write(&at, "no folder") }.unwrap();
        let before = names(folder.path());
        assert_eq!(refusal(name, &mut dev(folder.path()), folder.path()), expected, "{name}");
        assert_eq!(names(folder.path()), before, "{name}: nothing has changed");
        // Put back, everything is there.
        if is_made_folder { fs::remove_dir(&at) } else { fs::remove_file(&at) }.unwrap();
        if was_there {
            fs::rename(&aside, &at).unwrap();
        }
        assert_eq!(
            Running::of(&mut dev(folder.path())).ask("GET", "/a.json", ""),
            (200, "1".into()),
            "{name}"
        );
    }
}

#[test]
fn a_place_where_no_folder_can_be_made_is_named() {
    let folder = Folder::new("no-place");
    let file = folder.path().join("file");
    fs::write(&file, "mine").unwrap();
    let nowhere = folder.path().join("nowhere");
    std::os::unix::fs::symlink(folder.path().join("gone/far"), &nowhere).unwrap();
    let around = folder.path().join("around");
    std::os::unix::fs::symlink(&around, &around).unwrap();
    let long = folder.path().join("long".repeat(100));
    for (data, expected) in [
        (file.clone(), "`DIR` cannot be used for data: "),
        (file.join("below"), "`DIR` cannot be used for data: Not a directory (os error 20)"),
        (nowhere, "`DIR` cannot be used for data: "),
        (around, "`DIR` cannot be used for data: "),
        (long, "`DIR` cannot be used for data: File name too long (os error 36)"),
        ("/proc/hearth".into(), "`DIR` cannot be used for data: No such file or directory (os error 2)"),
    ] {
        let what = data.display().to_string();
        let said = refusal(&what, &mut dev(&data), &data);
        assert!(said.starts_with(expected), "{what}: {said}");
    }
    assert_eq!(names(folder.path()), ["around", "file", "nowhere"], "nothing was made");
    assert_eq!(fs::read_to_string(file).unwrap(), "mine");
}

/// Runs as somebody who may do nothing, which takes root.
fn nobody(data: &Path) -> Option<Command> {
    let nobody = |arguments: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_hearth")]);
        command.args(arguments);
        command
    };
    let can_run = nobody(&["--version"]).output().is_ok_and(|output| output.status.success());
    if !can_run {
        leave_out("it takes root and setpriv, and the binary where others may run it");
        return None;
    }
    let mut command = nobody(&["dev", "--port", "0", "--data"]);
    command.arg(data);
    Some(command)
}

#[test]
fn data_of_somebody_else_are_refused_by_name() {
    let folder = Folder::new("owner");
    let data = folder.path().join("data");
    let Some(mut other) = nobody(&data) else { return };
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let denied = "cannot be used for data: Permission denied (os error 13)";
    // Where nothing may be made.
    assert_eq!(refusal("a new folder", &mut other, &data), format!("`DIR` {denied}"));
    assert!(!data.exists());
    let server = Running::of(&mut dev(&data));
    assert_eq!(server.ask("PUT", "/a.json", "1").0, 200);
    server.kill();
    assert_eq!(refusal("the folder", &mut other, &data), format!("`DIR/format` {denied}"));
    for (name, expected) in [
        ("", format!("`DIR/format` {denied}")),
        ("format", format!("`DIR/lock` {denied}")),
        ("lock", "the data in `DIR` cannot be used: `log`: Permission denied (os error 13)".into()),
    ] {
        chown(data.join(name), Some(65_534), None).unwrap();
        assert_eq!(refusal(name, &mut other, &data), expected, "{name}");
    }
    assert_eq!(Running::of(&mut dev(&data)).ask("GET", "/a.json", ""), (200, "1".into()));
}

#[test]
fn a_disk_that_may_not_be_written_gets_no_folder() {
    let folder = Folder::new("read-only-new");
    let Some(small) = Small::mount(folder.path(), 8_000) else { return };
    small.remount("ro");
    for name in ["data", "."] {
        let data = folder.path().join(name);
        let said = refusal(name, &mut dev(&data), &data);
        assert!(said.contains("cannot be used for data: Read-only file system (os error 30)"), "{said}");
    }
    assert!(names(folder.path()).is_empty());
}

#[test]
fn a_disk_without_room_is_left_without_half_a_log() {
    let folder = Folder::new("no-room-new");
    let Some(small) = Small::mount(folder.path(), 500) else { return };
    let expected = "`DIR/log` cannot be used for data: No space left on device (os error 28)";
    assert_eq!(refusal("no room", &mut dev(folder.path()), folder.path()), expected);
    assert_eq!(names(folder.path()), ["lock", "log"]);
    // And with room it begins.
    small.remount("size=8000k");
    assert_eq!(Running::of(&mut dev(folder.path())).ask("PUT", "/a.json", "1").0, 200);
}
