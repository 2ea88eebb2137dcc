//! `hearth export` and `hearth import` against the running binary.

use crate::folder::Folder;
use crate::running::{Running, hearth, run};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// With priorities, lists, and keys that lists have.
const DATA: &str =
    r#"{"list":["a",null,"c"],"name":{".value":"é\u0001",".priority":1},"n":-0.5,"big":9007199254740993}"#;

fn export(server: &Running, place: &str) -> Command {
    let mut command = hearth(&["export"]);
    command.arg(format!("http://{}{place}", server.address()));
    command
}

fn import(server: &Running, place: &str) -> Command {
    let mut command = hearth(&["import"]);
    command.arg(format!("http://{}{place}", server.address()));
    command
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

#[test]
fn what_is_exported_is_imported_as_it_was() {
    let folder = Folder::new("transfer");
    let server = Running::on(&folder);
    assert_eq!(server.ask("PUT", "/a/b.json?print=silent", DATA).0, 204);
    let whole = server.ask("GET", "/.json?format=export", "").1;
    for (name, begin) in
        [("x.json", &b"{"[..]), ("x.json.gz", b"\x1f\x8b"), ("x.json.zst", b"\x28\xb5\x2f\xfd")]
    {
        let file = folder.path().join(name);
        let said = done(export(&server, "/").arg(&file));
        assert!(said.starts_with("exported 1") && said.contains(name), "{said}");
        assert!(fs::read(&file).unwrap().starts_with(begin), "{name}");
        assert!(
            refusal(export(&server, "/").arg(&file)).contains("is there; `--force` replaces it"),
            "{name}"
        );
        done(export(&server, "/").arg("--force").arg(&file));
        let said = done(import(&server, "/").args(["--namespace", "other"]).arg(&file));
        assert!(said.starts_with("imported ") && said.contains(" to database `other`, `/`"), "{said}");
        assert_eq!(server.ask("GET", "/.json?format=export&ns=other", ""), (200, whole.clone()), "{name}");
        assert_eq!(server.ask("DELETE", "/.json?ns=other", "").0, 200);
    }
    // One place into another, by way of a pipe.
    let (code, text, said) = run(export(&server, "/a.json").arg("-"));
    assert_eq!(
        (code, text.as_str()),
        (Some(0), server.ask("GET", "/a.json?format=export", "").1.as_str()),
        "{said}"
    );
    feed(import(&server, "/copy/").arg("-"), text.as_bytes(), true);
    assert_eq!(server.ask("GET", "/copy.json?format=export", ""), (200, text));
    let left =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(left.filter(|name| name.ends_with(".unfinished")).count(), 0);
    // What is no file stays what it is; a folder is none either; a link leads to what is meant.
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reading = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    done(export(&server, "/a.json").args([pipe.as_os_str(), "--force".as_ref()]));
    assert_eq!(reading.join().unwrap(), server.ask("GET", "/a.json?format=export", "").1);
    assert!(!fs::metadata(&pipe).unwrap().is_file());
    assert!(
        refusal(export(&server, "/").arg("--force").arg(folder.path()))
            .contains("is a folder; name a file in it")
    );
    let (link, target) = (folder.path().join("link.json"), folder.path().join("x.json"));
    std::os::unix::fs::symlink(&target, &link).unwrap();
    done(export(&server, "/a.json").arg("--force").arg(&link));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), server.ask("GET", "/a.json?format=export", "").1);
    // Which database it was is said, since one that nobody has written to is empty and no mistake.
    let said = done(export(&server, "/a").args(["--namespace", "nobody", "--force"]).arg(&target));
    assert!(said.contains("database `nobody`, `/a` to "), "{said}");
}

/// Gives a command this on standard input; whether it is let to its end. Its exit code.
fn feed(command: &mut Command, text: &[u8], ends: bool) -> Option<i32> {
    let mut child = command.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text).unwrap();
    if ends {
        drop(stdin);
    } else {
        child.kill().unwrap();
    }
    child.wait().unwrap().code()
}

/// An object of messages of so many megabytes.
fn messages(megabytes: usize) -> String {
    let message =
        |at: usize| format!("\"m{at:07}\":{{\"at\":{at},\"text\":\"a message of a usual length\"}}");
    let messages: Vec<_> = (0..megabytes * 15_000).map(message).collect();
    format!("{{{}}}", messages.join(","))
}

#[test]
fn an_export_while_others_write_is_one_revision() {
    let folder = Folder::new("transfer-moment");
    let server = Running::on(&folder);
    assert_eq!(server.ask("PUT", "/m.json?print=silent", &messages(2)).0, 204);
    let mut number = 0_i64;
    for name in ["x.json", "y.json.zst", "z.json.gz"] {
        let file = folder.path().join(name);
        std::thread::scope(|scope| {
            let mut command = export(&server, "/");
            command.arg(&file);
            let exporting = scope.spawn(move || done(&mut command));
            // Two places, at the beginning and at the end, that always come to nothing together.
            while !exporting.is_finished() || number == 0 {
                number += 1;
                let body = format!("{{\"a\":{number},\"z\":{}}}", -number);
                assert_eq!(server.ask("PATCH", "/.json?print=silent", &body).0, 204);
            }
        });
        done(import(&server, "/").args(["--namespace", "copy"]).arg(&file));
        let of = |place: &str| -> i64 {
            server.ask("GET", &format!("/{place}.json?ns=copy"), "").1.parse().unwrap_or_default()
        };
        assert_eq!(of("a") + of("z"), 0, "{name}");
    }
}

#[test]
fn an_import_that_breaks_off_leaves_what_was_there() {
    let folder = Folder::new("transfer-broken");
    let server = Running::on(&folder);
    assert_eq!(server.ask("PUT", "/.json?print=silent", "{\"old\":true}").0, 204);
    let long = messages(5);
    let half = &long.as_bytes()[..long.len() / 2];
    // Killed, with half of it on its way; and ended, with half of it as a file.
    assert_eq!(feed(import(&server, "/").arg("-"), half, false), None);
    assert_eq!(feed(import(&server, "/").arg("-"), half, true), Some(1));
    let file = folder.path().join("file");
    let zipped = {
        done(import(&server, "/").args(["--namespace", "long", "-"]).stdin(on_disk(&file, long.as_bytes())));
        let zipped = folder.path().join("long.gz");
        done(export(&server, "/").args(["--namespace", "long"]).arg(&zipped));
        fs::read(zipped).unwrap()
    };
    let mut damaged = zipped.clone();
    damaged[zipped.len() / 2] ^= 1;
    for (what, bytes, expected) in [
        ("no JSON", &b"{\"a\": tru}"[..], "has refused with 400: Invalid data; couldn't parse JSON"),
        (
            "a key that cannot be",
            b"{\"a\": {\"b$\": 1}}",
            "has refused with 400: Invalid data; couldn't parse key",
        ),
        ("nothing", b"", "has refused with 400: Error: No data supplied."),
        ("half a text", half, "has refused with 400: "),
        ("half of a compressed file", &zipped[..zipped.len() / 2], "` cannot be read: "),
        ("a damaged file", &damaged, "` cannot be read: "),
    ] {
        fs::write(&file, bytes).unwrap();
        let said = refusal(import(&server, "/").arg(&file));
        assert!(said.contains(expected) && said.contains(file.to_str().unwrap()), "{what}: {said}");
        assert_eq!(server.ask("GET", "/.json", ""), (200, "{\"old\":true}".into()), "{what}");
    }
    assert!(
        refusal(import(&server, "/").arg("/nowhere/at-all"))
            .contains("`/nowhere/at-all` cannot be read: No such file")
    );
}

fn on_disk(file: &Path, bytes: &[u8]) -> fs::File {
    fs::write(file, bytes).unwrap();
    fs::File::open(file).unwrap()
}

#[test]
fn an_export_is_one_moment() {
    let folder = Folder::new("transfer-moment");
    let server = Running::on(&folder);
    let long = messages(5);
    assert_eq!(server.ask("PUT", "/middle.json?print=silent", &long).0, 204);
    assert_eq!(server.ask("PATCH", "/.json?print=silent", "{\"first\":0,\"z/last\":0}").0, 204);
    let mut exports: Vec<_> = (0..5).map(|_| export(&server, "/")).collect();
    let exporter = std::thread::spawn(move || exports.iter_mut().map(run).collect::<Vec<_>>());
    let mut written = 0;
    while !exporter.is_finished() {
        written += 1;
        let both = format!("{{\"first\":{written},\"z/last\":{written}}}");
        assert_eq!(server.ask("PATCH", "/.json?print=silent", &both).0, 204);
    }
    assert!(5 < written, "nothing was written meanwhile");
    for (code, text, said) in exporter.join().unwrap() {
        assert_eq!(code, Some(0), "{said}");
        let first = text.split("\"first\":").nth(1).unwrap().split(',').next().unwrap();
        let end = &text[text.len() - 40..];
        assert!(end.ends_with(&format!("\"z\":{{\"last\":{first}}}}}")), "{first}, {end}");
    }
}

/// More than a request of anybody else may have: of this, spaces.
#[test]
fn what_is_longer_than_a_request_may_be_is_imported() {
    let folder = Folder::new("transfer-long");
    let server = Running::on(&folder);
    let file = folder.path().join("spaces.json.zst");
    let mut command = Command::new("sh");
    let script = "(printf '{'; head -c 300000000 /dev/zero | tr '\\0' ' '; printf '\"a\":1}') > \"$0\"";
    let plain = folder.path().join("spaces.json");
    assert!(command.args(["-c", script]).arg(&plain).status().unwrap().success());
    done(import(&server, "/").arg(&plain));
    assert_eq!(server.ask("GET", "/.json", ""), (200, "{\"a\":1}".into()));
    done(export(&server, "/").arg(&file));
    done(import(&server, "/b").arg(&file));
    assert_eq!(server.ask("GET", "/.json", ""), (200, "{\"a\":1,\"b\":{\"a\":1}}".into()));
}

#[test]
fn a_server_elsewhere_wants_a_credential_and_the_right_one() {
    let folder = Folder::new("transfer-admin");
    let secret = folder.path().join("secret");
    fs::write(&secret, "a secret of a usual length\n".replace(' ', "-")).unwrap();
    let mut command =
        hearth(&["serve", "--port", "0", "--memory", "--namespace", "default", "--admin-credential-file"]);
    let server = Running::of(command.arg(&secret));
    let file = folder.path().join("out.json");
    let without = refusal(export(&server, "/").arg(&file));
    assert!(
        without.contains(
            "has refused with 401: this server does not know the credential; no admin credential was given: `--admin-credential-file FILE`"
        ),
        "{without}"
    );
    let other = "another-secret-of-that-length";
    assert!(
        refusal(export(&server, "/").env("HEARTH_ADMIN_CREDENTIAL", other).arg(&file))
            .contains("; it has another admin credential than the one that was given")
    );
    let unknown = refusal(
        export(&server, "/")
            .args(["--namespace", "nobody"])
            .arg("--admin-credential-file")
            .arg(&secret)
            .arg(&file),
    );
    assert!(unknown.ends_with("; `--namespace NAME` names the database\n"), "{unknown}");
    assert!(!file.exists());
    done(export(&server, "/").arg("--admin-credential-file").arg(&secret).arg(&file));
    assert_eq!(fs::read_to_string(&file).unwrap(), "null");
    done(import(&server, "/a").env("HEARTH_ADMIN_CREDENTIAL", "a-secret-of-a-usual-length").arg(&file));
    for (url, expected) in [
        ("http://db.example.com/", "there is no admin credential for `db.example.com`"),
        ("127.0.0.1:9000", "is not the address of a server"),
        ("ftp://127.0.0.1/", "it begins with neither `http://` nor `https://`"),
        ("http://127.0.0.1/?ns=x", "`--namespace NAME` names the database"),
        (
            "http://127.0.0.1:1/",
            "the server at `http://127.0.0.1:1` cannot be asked: nothing listens there; is it running, and is the port \
                right?",
        ),
    ] {
        let said = refusal(hearth(&["export", url]).arg(folder.path().join("never")));
        assert!(said.contains(expected), "{url}: {said}");
    }
    assert!(!folder.path().join("never").exists());
}
