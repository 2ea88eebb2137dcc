//! Files beside the data: `hearth dev --public`.

use crate::client::{Answer, Ask};
use crate::server::Running;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder of this test run, with what a page has and what it must not show.
fn folder() -> PathBuf {
    let base = Path::new(env!("CARGO_TARGET_TMPDIR")).join("public");
    if base.exists() {
        fs::remove_dir_all(&base).expect("what an earlier run has left can be removed");
    }
    let folder = base.join("served");
    for (name, text) in [
        ("index.html", "<p>home"),
        ("app.js", "let x = 1;"),
        ("sub/index.html", "<p>sub"),
        ("sub/.hidden/x.txt", "secret"),
        ("bare/x.txt", "bare"),
        ("data.json", "{\"file\":true}"),
        (".env", "secret"),
        (".ws", "secret"),
        ("healthz", "not me"),
        ("a b&c.txt", "escaped"),
        ("../secret.txt", "secret"),
        ("../apart/index.html", "secret"),
    ] {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().expect("it lies in a folder")).expect("a folder can be made");
        fs::write(file, text).expect("a file can be written");
    }
    for (target, name) in [
        ("../secret.txt", "link.txt"),
        ("../apart", "linked"),
        ("/etc", "etc"),
        (".env", "env.txt"),
        ("app.js", "alias.js"),
    ] {
        symlink(target, folder.join(name)).expect("a link can be made");
    }
    folder
}

fn get(server: &Running, path: &str) -> Answer {
    Ask::new("GET", path).send(&server.address).expect("the server answers")
}

#[test]
fn files_are_served_beside_the_data_and_never_before_it() {
    let folder = folder();
    let server = Running::with(&["--public", folder.to_str().expect("the name is text")]);
    let nothing = "404 Not Found: append .json to your request URI to use the REST API.";
    // What is asked for; status, type and a part of the body.
    for (path, status, kind, part) in [
        ("/", 200, "text/html; charset=utf-8", "<p>home"),
        ("/index.html", 200, "text/html; charset=utf-8", "<p>home"),
        ("//app.js", 200, "text/javascript; charset=utf-8", "let x"),
        ("/alias.js", 200, "text/javascript; charset=utf-8", "let x"),
        ("/sub/", 200, "text/html; charset=utf-8", "<p>sub"),
        ("/a%20b%26c.txt", 200, "text/plain; charset=utf-8", "escaped"),
        ("/bare/x.txt", 200, "text/plain; charset=utf-8", "bare"),
        // Data, whatever files there are.
        ("/data.json", 200, "application/json; charset=utf-8", "null"),
        ("/.json", 200, "application/json; charset=utf-8", "null"),
        ("/.settings/nothing.json", 401, "application/json; charset=utf-8", "Permission denied"),
        ("/healthz", 200, "text/plain; charset=utf-8", "ok"),
        ("/.ws", 400, "text/plain; charset=utf-8", "WebSockets"),
        // No file that one may have.
        ("/data%2Ejson", 404, "application/json; charset=utf-8", nothing),
        ("/bare/", 404, "application/json; charset=utf-8", nothing),
        ("/bare", 404, "application/json; charset=utf-8", nothing),
        ("/app.js/", 404, "application/json; charset=utf-8", nothing),
        ("/nowhere", 404, "application/json; charset=utf-8", nothing),
        ("/.env", 404, "application/json; charset=utf-8", nothing),
        ("/%2eenv", 404, "application/json; charset=utf-8", nothing),
        ("/env.txt", 404, "application/json; charset=utf-8", nothing),
        ("/sub/.hidden/x.txt", 404, "application/json; charset=utf-8", nothing),
        ("/link.txt", 404, "application/json; charset=utf-8", nothing),
        ("/linked/", 404, "application/json; charset=utf-8", nothing),
        ("/etc/passwd", 404, "application/json; charset=utf-8", nothing),
        ("/../secret.txt", 404, "application/json; charset=utf-8", nothing),
        ("/sub/..%2f..%2fsecret.txt", 404, "application/json; charset=utf-8", nothing),
    ] {
        let answer = get(&server, path);
        let found = (answer.status, answer.headers.get("content-type").cloned());
        assert_eq!(found, (status, Some(kind.into())), "{path}");
        assert_eq!(answer.headers["x-content-type-options"], "nosniff", "{path}");
        let text = answer.text().expect("the body is text");
        assert!(text.contains(part), "{path}: {text}");
    }
    // A folder is asked for with a slash at its end, on this server and no other.
    for (path, location) in [("/sub", "/sub/?"), ("//sub", "/sub/?"), ("/./sub", ""), ("/%73ub", "/sub/?")] {
        let answer = get(&server, path);
        assert_eq!(answer.headers.get("location").map_or("", String::as_str), location, "{path}");
        assert_eq!(answer.status, if location.is_empty() { 404 } else { 307 }, "{path}");
    }
    // Files are read and nothing else.
    let put = Ask::new("PUT", "/app.js").with_body(&1.into()).send(&server.address);
    assert_eq!(put.expect("the server answers").status, 404);
    let head = Ask::new("HEAD", "/app.js").send(&server.address).expect("the server answers");
    assert_eq!((head.status, head.headers["cache-control"].as_str()), (200, "no-cache"));
    let mut again = Ask::new("GET", "/app.js");
    again.headers.push(("If-Modified-Since".into(), head.headers["last-modified"].clone()));
    assert_eq!(again.send(&server.address).expect("the server answers").status, 304);
    // Nothing is served where no folder was named.
    assert_eq!(get(&Running::start(), "/index.html").status, 404);
}

#[test]
fn a_folder_that_cannot_be_served_is_answered_with_a_sentence() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("public-file");
    fs::write(&file, "").expect("a file can be written");
    let file = file.to_str().expect("the name is text");
    for (mode, option, expected) in [
        (
            "dev",
            "/nowhere/x",
            "cannot serve the folder `/nowhere/x`: No such file or directory (os error 2)".into(),
        ),
        ("dev", file, format!("cannot serve `{file}`: it is not a folder")),
        ("serve", "/tmp", "unexpected argument '--public' found; it is an option of `hearth dev`".into()),
    ] {
        let command = [mode, "--memory", "--port", "0", "--public", option];
        let ended = Command::new(env!("CARGO_BIN_EXE_hearth")).args(command).output().expect("it runs");
        let said = String::from_utf8(ended.stderr).expect("what it says is text");
        assert_eq!((ended.status.code(), said), (Some(2), format!("hearth: {expected}\n")));
    }
}
