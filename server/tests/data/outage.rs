//! Checkpoints that cannot be written while a server runs: it goes on from the log, says so, and writes them again.

use crate::faults::{Fault, Faults, all_below, is_left_out};
use crate::folder::Folder;
use crate::full_disk::Small;
use crate::running::{Running, hearth};
use std::fs;
use std::path::Path;

fn start(folder: &Folder, store: &str) -> Running {
    let arguments = ["dev", "--port", "0", "--store", store, "--checkpoint-log", "1"];
    Running::of(hearth(&arguments).arg("--data").arg(folder.path()))
}

/// More log than there is without a checkpoint, all at one place.
fn churn(server: &Running, round: usize) {
    let noise = noise(300_000);
    for part in 0..8 {
        let long = format!("\"{round}{part}{noise}\"");
        assert_eq!(server.ask("PUT", "/long.json?print=silent", &long).0, 204);
        assert_eq!(server.ask("PUT", &format!("/rounds/{round}/{part}.json"), "true").0, 200);
    }
}

/// What no store makes smaller.
fn noise(bytes: usize) -> String {
    let mut state = 1_u64;
    let mut letter = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        char::from(b'A' + u8::try_from(state >> 59).unwrap())
    };
    (0..bytes).map(|_| letter()).filter(|&letter| letter != '\\').collect()
}

/// Waits for what comes by itself.
fn wait(what: &str, is_there: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if is_there() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("{what} does not come");
}

fn says(folder: &Folder) -> String {
    fs::read_to_string(folder.path().join("checkpoints/store")).unwrap_or_default()
}

fn is_ready(server: &Running) -> bool {
    server.ask("GET", "/readyz", "") == (200, "ok\n".into())
}

/// Everything is there after a kill, from a checkpoint and a log that does not begin at its beginning.
fn check_all(what: &str, folder: &Folder, store: &str, server: Running, rounds: usize) {
    let first = folder.path().join("log/00000000000000000001.log");
    wait(&format!("{what}: the trimming of the log"), || !first.exists());
    server.kill();
    let mut server = start(folder, store);
    server.says("recovered from a checkpoint");
    for round in 0..rounds {
        let all = "[true,true,true,true,true,true,true,true]".into();
        assert_eq!(server.ask("GET", &format!("/rounds/{round}.json"), ""), (200, all), "{what}, {round}");
    }
    let long = server.ask("GET", "/long.json", "").1;
    assert!(200_000 < long.len() && long.starts_with(&format!("\"{}7", rounds - 1)), "{what}");
    assert!(is_ready(&server), "{what}");
    assert_eq!(server.stop(), Some(0), "{what}");
}

/// A store is made useless when it has a checkpoint, and another one takes its place.
fn check(what: &str, store: &str, damage: impl FnOnce(&Running, &Path) -> Option<Faults>) {
    let folder = Folder::new("outage");
    let mut server = start(&folder, store);
    churn(&server, 0);
    wait(what, || says(&folder).ends_with(&format!("\n{store}\n")));
    assert!(is_ready(&server), "{what}");
    let faults = damage(&server, &folder.path().join("checkpoints"));
    churn(&server, 1);
    server.says("checkpoints cannot be written: ");
    server.says("checkpoints are written again");
    wait(what, || is_ready(&server));
    assert_eq!(says(&folder), format!("hearth checkpoints 1\n{store}-2\n"), "{what}");
    assert!(!folder.path().join("checkpoints").join(store).exists(), "{what}");
    drop(faults);
    check_all(what, &folder, store, server, 2);
}

#[test]
fn a_store_that_is_removed_or_replaced_is_followed_by_another() {
    for store in ["fjall", "sled"] {
        let at = |at: &Path| at.join(store);
        check("its folder removed", store, |_, all| fs::remove_dir_all(at(all)).map(|()| None).unwrap());
        check("all removed", store, |_, all| fs::remove_dir_all(all).map(|()| None).unwrap());
        let moved = |_: &Running, all: &Path| {
            fs::rename(at(all), all.join("elsewhere")).unwrap();
            fs::create_dir(at(all)).unwrap();
            None
        };
        check("another folder in its place", store, moved);
    }
}

#[test]
fn a_store_that_cannot_be_written_or_synced_is_followed_by_another() {
    if is_left_out() {
        return;
    }
    let calls = "write,writev,pwrite64,fdatasync,fsync,?sync_file_range";
    for (store, when) in [("fjall", "1+"), ("fjall", "2"), ("sled", "1+")] {
        let fault = Fault { calls, when, error: "EIO" };
        let damage = |server: &Running, at: &Path| {
            Some(Faults::begin(server.id(), fault, &all_below(&at.join(store))))
        };
        check(&format!("{store}, calls {when}"), store, damage);
    }
}

/// Another process reads from the memory of the system what the store could not bring to the disk, and must not build on it.
#[test]
fn a_store_that_has_failed_is_not_written_by_the_next_server() {
    if is_left_out() {
        return;
    }
    let calls = "write,writev,pwrite64,fdatasync,fsync,?sync_file_range,?mkdir,?mkdirat";
    for store in ["fjall", "sled"] {
        let folder = Folder::new("failed-before");
        let mut server = start(&folder, store);
        churn(&server, 0);
        wait(store, || says(&folder).ends_with(&format!("\n{store}\n")));
        let checkpoints = folder.path().join("checkpoints");
        let (own, other) = (checkpoints.join(store), checkpoints.join(format!("{store}-2")));
        // Nor can the other one be made.
        let fails: Vec<_> = all_below(&own).into_iter().chain([other.clone()]).collect();
        let faults = Faults::begin(server.id(), Fault { calls, when: "1+", error: "EIO" }, &fails);
        churn(&server, 1);
        server.says("checkpoints cannot be written: ");
        server.kill();
        drop(faults);
        let failed = checkpoints.join("failed");
        assert_eq!(fs::read_to_string(&failed).unwrap(), format!("hearth checkpoints 1\n{store}\n"));
        // Nobody writes, and yet another store takes its place.
        let mut server = start(&folder, store);
        server.says("has failed before; another one is written");
        wait(store, || says(&folder) == format!("hearth checkpoints 1\n{store}-2\n"));
        wait(store, || !own.exists() && !failed.exists());
        check_all("failed before", &folder, store, server, 2);
    }
}

/// Sled waits for ever, also when it is closed, once it could not write a value that has a file of its own.
#[test]
fn a_store_that_hangs_is_left_alone_and_the_next_server_writes_another() {
    let folder = Folder::new("hanging");
    let mut server = start(&folder, "sled");
    churn(&server, 0);
    wait("a checkpoint", || says(&folder).ends_with("\nsled\n"));
    let own = folder.path().join("checkpoints/sled");
    fs::rename(own.join("blobs"), own.join("elsewhere")).unwrap();
    let huge = format!("\"{}\"", noise(4_000_000));
    assert_eq!(server.ask("PUT", "/huge.json?print=silent", &huge).0, 204);
    churn(&server, 1);
    server.says("a store of checkpoints does not answer, and is left alone");
    server.says("checkpoints cannot be written: ");
    let (status, why) = server.ask("GET", "/readyz", "");
    assert!(status == 200 && why.starts_with("ok, but checkpoints cannot be written: "), "{status} {why}");
    churn(&server, 2);
    server.kill();
    let server = start(&folder, "sled");
    wait("another store", || says(&folder) == "hearth checkpoints 1\nsled-2\n");
    wait("the end of the first one", || !own.exists());
    assert_eq!(server.ask("GET", "/huge.json", ""), (200, huge));
    check_all("hanging", &folder, "sled", server, 3);
}

#[test]
fn as_long_as_there_is_no_room_for_checkpoints_all_goes_on_with_the_log() {
    for (what, store) in
        [("read-only", "fjall"), ("no room", "fjall"), ("read-only", "sled"), ("no room", "sled")]
    {
        let folder = Folder::new("no-checkpoints");
        let mut server = start(&folder, store);
        let checkpoints = folder.path().join("checkpoints");
        fs::create_dir(&checkpoints).unwrap();
        let Some(small) = Small::mount(&checkpoints, 200) else { return };
        if what == "read-only" {
            small.remount("ro");
        }
        for round in 0..2 {
            churn(&server, round);
        }
        server.says("checkpoints cannot be written: ");
        let (status, why) = server.ask("GET", "/readyz", "");
        assert!(
            status == 200 && why.starts_with("ok, but checkpoints cannot be written: "),
            "{what}: {status} {why}"
        );
        assert!(why.ends_with("; until one is, the log grows\n"), "{what}: {why}");
        assert!(folder.path().join("log/00000000000000000001.log").exists(), "{what}");
        // A kill now costs nothing but the time to read the log.
        server.kill();
        let mut server = start(&folder, store);
        server.says(" kB of log");
        server.says("checkpoints cannot be written: ");
        churn(&server, 2);
        small.remount(if what == "read-only" { "rw,size=200000k" } else { "size=200000k" });
        server.says("checkpoints are written again");
        wait(what, || is_ready(&server));
        check_all(what, &folder, store, server, 3);
    }
}

#[test]
fn a_log_that_cannot_be_trimmed_grows_and_that_is_said() {
    if is_left_out() {
        return;
    }
    let folder = Folder::new("untrimmed");
    let mut server = start(&folder, "fjall");
    let first = folder.path().join("log/00000000000000000001.log");
    churn(&server, 0);
    wait("a checkpoint", || says(&folder).ends_with("\nfjall\n"));
    let fault = Fault { calls: "?unlink,?unlinkat", when: "1+", error: "EIO" };
    let faults = Faults::begin(server.id(), fault, std::slice::from_ref(&first));
    churn(&server, 1);
    server.says("the beginning of the log cannot be removed: Input/output error");
    let (status, why) = server.ask("GET", "/readyz", "");
    assert!(
        status == 200 && why.starts_with("ok, but the beginning of the log cannot be removed: "),
        "{status} {why}"
    );
    assert!(first.exists());
    faults.end();
    wait("the trimming of the log", || is_ready(&server));
    check_all("untrimmed", &folder, "fjall", server, 2);
}
