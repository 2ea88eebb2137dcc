//! What checkpoints cost: run by hand, in release, with `--ignored --nocapture`.

#![expect(clippy::print_stdout, reason = "figures are for whoever asked for them")]

use super::super::kind::StoreKind;
use super::super::writer::Writer;
use super::folder::{Temporary, files};
use super::{Act, Databases, LOG, key, newest, number, position, text};
use hearth_tree::{Node, Path};
use std::fs;
use std::time::Instant;

/// So many chat messages of four fields, in 100 rooms.
fn chat(messages: usize) -> Node {
    let message = |at: usize| {
        let fields = [
            ("name", text(&format!("user {}", at % 100))),
            ("text", text(&format!("this is message {at}, of a usual length"))),
            ("time", number(1_767_225_600_000 + i64::try_from(at).unwrap())),
            ("uid", text(&format!("u{:027}", at % 1_000))),
        ];
        let node = Node::inner(fields.map(|(name, field)| (key(name), field))).unwrap();
        (key(&format!("-OfJOJtHRp{at:010}")), node)
    };
    let room = |room| {
        let own = (0..messages / 100).map(|at| message(room * (messages / 100) + at));
        (key(&format!("room{room:03}")), Node::inner(own).unwrap())
    };
    Node::inner((0..100).map(room)).unwrap()
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

fn bytes_of(folder: &std::path::Path) -> u64 {
    files(folder).iter().map(|file| fs::metadata(folder.join(file)).map_or(0, |data| data.len())).sum()
}

fn written_bytes() -> u64 {
    let io = fs::read_to_string("/proc/self/io").unwrap();
    let line = io.lines().find(|line| line.starts_with("write_bytes:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[ignore = "takes minutes, and says nothing about right and wrong"]
fn figures() {
    for store in StoreKind::ALL {
        let folder = Temporary::new();
        let mut databases = Databases::default();
        let empty = resident_kib();
        databases.act(0, &Act::Set(Path::root(), chat(250_000)));
        let with_tree = resident_kib();
        let mut writer = Writer::new(store.open(&folder.path().join("store")).unwrap(), LOG, None);
        let report = |name: &str, databases: &Databases, writer: &mut Writer, sequence| {
            let (began, before) = (Instant::now(), written_bytes());
            let written = writer.write(position(sequence), databases.capture()).unwrap();
            println!(
                "{store} {name}: {} ms, {} chunks, {} KB, {} KB to the disk; {} KB in the folder; {} KB resident",
                began.elapsed().as_millis(),
                written.chunks,
                written.bytes / 1_000,
                (written_bytes() - before) / 1_000,
                bytes_of(folder.path()) / 1_000,
                resident_kib()
            );
        };
        println!("{store}: tree of 1 M leaves: {} KB resident", with_tree - empty);
        report("whole", &databases, &mut writer, 1);
        // 1 % of the leaves: scattered, and the newest ones of one room.
        for at in 0..10_000_usize {
            let message = (at * 25) % 250_000;
            let place = format!("/room{:03}/-OfJOJtHRp{message:010}/text", message / 2_500);
            databases.act(0, &Act::Set(super::path(&place), text("changed")));
        }
        report("1 % scattered", &databases, &mut writer, 2);
        for at in 0..2_500_usize {
            let place = format!("/room042/-OfJOJtHRp{:010}", 900_000 + at);
            databases.act(
                0,
                &Act::Set(
                    super::path(&place),
                    chat(100).get(super::path("/room000/-OfJOJtHRp0000000000").keys()).unwrap().clone(),
                ),
            );
        }
        report("1 % appended", &databases, &mut writer, 3);
        databases.act(0, &Act::Delete(super::path("/room050")));
        report("1 % deleted", &databases, &mut writer, 4);
        databases.act(0, &Act::Set(super::path("/more"), chat(250_000)));
        report("1 M leaves more", &databases, &mut writer, 5);
        drop((databases, writer));
        let (began, before) = (Instant::now(), resident_kib());
        let own = store.open(&folder.path().join("store")).unwrap();
        let opened = began.elapsed();
        let loaded = newest(&*own).unwrap();
        println!(
            "{store} restart with 2 M leaves: {} ms, {} of them to open; {} KB before, {} KB after",
            began.elapsed().as_millis(),
            opened.as_millis(),
            before,
            resident_kib()
        );
        drop(loaded);
    }
}
