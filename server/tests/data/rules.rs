//! Rules that are stored with a database: as durable as the data that they guard.

use crate::folder::Folder;
use crate::running::{Running, hearth, run};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use tokio_tungstenite::tungstenite::{self, Message};

const SIZE: &str = "/.settings/defaultWriteSizeLimit.json?ns=set&access_token=owner";
const TRIGGERS: &str = "/.settings/strictTriggerValidation.json?ns=set&access_token=owner";
const RULES: &str =
    "{\n  // mine\n  \"rules\": {\"board\": {\".read\": true}, \".write\": \"auth != null\"},\n}\n";
const OTHERS: &str = "{\"rules\": {\"secret\": {\".read\": true}}}";

fn rules_of(database: &str) -> String {
    format!("/.settings/rules.json?ns={database}&access_token=owner")
}

fn put(server: &Running, database: &str, rules: &str) {
    assert_eq!(server.ask("PUT", &rules_of(database), rules), (200, r#"{"status":"ok"}"#.into()));
}

/// What somebody is told who listens over a socket.
fn heard(server: &Running, database: &str, at: &str) -> String {
    let url = format!("ws://{}/.ws?v=5&ns={database}", server.address());
    let stream = TcpStream::connect(server.address()).unwrap();
    let (mut socket, _) = tungstenite::client(url, stream).unwrap();
    let listen = format!(r#"{{"t":"d","d":{{"r":1,"a":"q","b":{{"p":"{at}","h":""}}}}}}"#);
    socket.send(Message::text(listen)).unwrap();
    loop {
        let Message::Text(text) = socket.read().unwrap() else { continue };
        if text.contains(r#""r":1"#) {
            return text.to_string();
        }
    }
}

/// Who may do what is as it was left.
fn stands(server: &Running, database: &str, case: &str) {
    assert_eq!(server.ask("GET", &rules_of(database), ""), (200, RULES.into()), "{case}");
    for (path, status) in [("board", 200), ("secret", 401)] {
        let (found, body) = server.ask("GET", &format!("/{path}.json?ns={database}"), "");
        assert_eq!(found, status, "{case}: {path}: {body}");
        let heard = heard(server, database, path);
        let is_heard = heard.contains(r#""s":"ok""#);
        assert_eq!(is_heard, status == 200, "{case}: {path}: {heard}");
        assert_eq!(heard.contains("permission_denied"), status != 200, "{case}: {path}: {heard}");
    }
    assert_eq!(server.ask("PUT", &format!("/board.json?ns={database}"), "1").0, 401, "{case}");
}

/// Whatever the end of the server, and wherever they are read from.
#[test]
fn stored_rules_stand_after_every_restart() {
    for (first, second, has_checkpoint) in
        [("fjall", "fjall", false), ("fjall", "sled", true), ("sled", "fjall", true), ("sled", "sled", false)]
    {
        let case = format!("{first}, {second}, {has_checkpoint}");
        let folder = Folder::new(&format!("rules-{first}-{second}"));
        let start = |store: &str| {
            Running::of(hearth(&["dev", "--port", "0", "--store", store]).arg("--data").arg(folder.path()))
        };
        let mut server = start(first);
        assert_eq!(server.ask("PUT", "/secret.json?ns=ruled", "1").0, 200);
        put(&server, "ruled", RULES);
        // In one there is nothing but rules.
        put(&server, "empty", RULES);
        // And in one nothing but a setting.
        assert_eq!(server.ask("PUT", SIZE, "\"small\""), (200, "{\"status\":\"ok\"}".into()), "{case}");
        server.says("hearth: defaultWriteSizeLimit of database `set` is small from now on\n");
        stands(&server, "ruled", &case);
        server.says("hearth: database `ruled` uses its stored rules from now on, version 1\n");
        if has_checkpoint {
            for part in 0..2 {
                let long = format!("\"{}\"", "x".repeat(9_000_000));
                assert_eq!(server.ask("PUT", &format!("/long/{part}.json?ns=other"), &long).0, 200);
            }
            assert_eq!(server.stop(), Some(0));
        } else {
            server.kill();
        }

        let mut server = start(second);
        if has_checkpoint {
            server.says("recovered from a checkpoint and");
        }
        for database in ["ruled", "empty"] {
            server.says(&format!("database `{database}` uses its stored rules, version 1 of 20"));
            stands(&server, database, &case);
        }
        assert_eq!(server.ask("GET", SIZE, ""), (200, "\"small\"".into()), "{case}");
        assert_eq!(server.ask("GET", TRIGGERS, ""), (200, "{\"value\":true}".into()), "{case}");
        assert_eq!(server.ask("PUT", TRIGGERS, "false").0, 200, "{case}");
        // Nothing of this is another's.
        assert_eq!(server.ask("GET", "/secret.json?ns=other", "").0, 200, "{case}");
        // What is refused changes nothing, and what is only tried leaves nothing behind.
        assert_eq!(server.ask("PUT", &rules_of("ruled"), "{\"rules\": 1}").0, 400, "{case}");
        assert_eq!(server.ask("PUT", &format!("{}&dryRun=true", rules_of("ruled")), OTHERS).0, 200, "{case}");
        put(&server, "empty", OTHERS);
        assert_eq!(server.ask("DELETE", &rules_of("ruled"), "").0, 200, "{case}");
        server.says("hearth: database `ruled` has no rules of its own any more\n");
        put(&server, "ruled", RULES);
        server.kill();

        let mut server = start(second);
        server.says("database `ruled` uses its stored rules, version 3 of 20");
        server.says("database `empty` uses its stored rules, version 2 of 20");
        assert_eq!(server.ask("GET", SIZE, ""), (200, "\"small\"".into()), "{case}");
        assert_eq!(server.ask("GET", TRIGGERS, ""), (200, "{\"value\":false}".into()), "{case}");
        stands(&server, "ruled", &case);
        assert_eq!(server.ask("GET", &rules_of("empty"), ""), (200, OTHERS.into()), "{case}");
        assert_eq!(server.ask("DELETE", &rules_of("ruled"), "").0, 200, "{case}");
        server.kill();

        let server = start(second);
        assert_eq!(server.ask("GET", "/secret.json?ns=ruled", ""), (200, "1".into()), "{case}");
    }
}

/// The server is killed while rules are being stored: those that were confirmed are there, or the ones after.
#[test]
fn rules_that_were_confirmed_are_there_after_a_kill_in_the_midst() {
    let folder = Folder::new("rules-midst");
    let mut least = 0;
    for life in 0..5 {
        let server = Running::on(&folder);
        let confirmed = AtomicU64::new(least);
        let pid = server.id();
        let enough = least + 5 + life;
        thread::scope(|scope| {
            let killing = scope.spawn(|| {
                while confirmed.load(Ordering::SeqCst) < enough {
                    thread::yield_now();
                }
                assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
            });
            for version in least + 1.. {
                let rules = format!("{{\"rules\": {{}}}} // version {version}");
                match server.try_ask("PUT", &rules_of("db"), &rules) {
                    Some((200, _)) => confirmed.store(version, Ordering::SeqCst),
                    _ => break,
                }
            }
            killing.join().unwrap();
        });
        let confirmed = confirmed.into_inner();
        server.kill();
        let server = Running::on(&folder);
        let (_, text) = server.ask("GET", &rules_of("db"), "");
        let found = text.rsplit(' ').next().unwrap().parse().unwrap();
        assert!((confirmed..=confirmed + 1).contains(&found), "confirmed {confirmed}, found {found}");
        let stored = format!("database `db` uses its stored rules, version {found} of");
        let mut server = server;
        server.says(&stored);
        server.kill();
        least = found;
    }
}

/// Whoever starts a server in production with rules in a file is not left to believe that they decide.
#[test]
fn stored_rules_win_over_those_of_the_file_after_a_restart() {
    let folder = Folder::new("rules-file");
    let (file, data) = (folder.path().join("rules.json"), folder.path().join("data"));
    std::fs::write(&file, r#"{"rules": {".read": true}}"#).unwrap();
    let start = |rules: bool| {
        let mut command = hearth(&["serve", "--port", "0", "--namespace", "ruled,free"]);
        command.arg("--data").arg(&data).env("HEARTH_ADMIN_CREDENTIAL", "an-admin-credential");
        if rules {
            command.arg("--rules").arg(&file);
        }
        Running::of(&mut command)
    };
    let server = start(true);
    let admin = "/.settings/rules.json?ns=ruled&access_token=an-admin-credential";
    assert_eq!(server.ask("PUT", admin, RULES).0, 200);
    server.kill();
    for has_file in [true, false] {
        let mut server = start(has_file);
        let said = server.says("database `ruled` uses its stored rules, version 1 of 20").to_owned();
        assert_eq!(said.contains("except where rules are stored"), !has_file, "{said}");
        for (path, with_file, without) in [
            ("/secret.json?ns=ruled", 401, 401),
            ("/board.json?ns=ruled", 200, 200),
            ("/secret.json?ns=free", 200, 401),
        ] {
            let expected = if has_file { with_file } else { without };
            assert_eq!(server.ask("GET", path, "").0, expected, "{path}, {has_file}");
        }
        server.kill();
    }
}

#[test]
fn in_memory_it_is_said_that_stored_rules_end() {
    let mut server = Running::of(&mut hearth(&["dev", "--port", "0", "--memory"]));
    server.says("Nothing is kept: the data end with the server, and stored rules, too.");
    put(&server, "ruled", RULES);
    stands(&server, "ruled", "in memory");
    assert_eq!(server.stop(), Some(0));
}

/// Data of the version before there were stored rules are read, and an older program is told in a sentence that it cannot.
#[test]
fn data_of_an_older_version_become_those_of_the_newest() {
    let folder = Folder::new("rules-older");
    let server = Running::on(&folder);
    assert_eq!(server.ask("PUT", "/a.json", "1").0, 200);
    server.kill();
    let format = folder.path().join("format");
    let newest = std::fs::read_to_string(&format).unwrap();
    std::fs::write(&format, newest.replace("hearth data 4", "hearth data 1")).unwrap();
    let server = Running::on(&folder);
    assert_eq!(server.ask("GET", "/a.json", ""), (200, "1".into()));
    server.kill();
    assert_eq!(std::fs::read_to_string(&format).unwrap(), newest);
    std::fs::write(&format, newest.replace("hearth data 4", "hearth data 5")).unwrap();
    let (code, _, said) = run(hearth(&["dev", "--port", "0"]).arg("--data").arg(folder.path()));
    assert_eq!(code, Some(2));
    assert!(
        said.contains("`format` says `hearth data 5`, and this program knows `hearth data 1` to"),
        "{said}"
    );
}
