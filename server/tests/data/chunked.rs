//! `hearth import --chunked`, cut and begun again.

use crate::folder::Folder;
use crate::running::{PATIENCE, Running, hearth, run};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// In steps of 20 kB.
fn import(server: &Running, place: &str, file: &Path) -> Command {
    let mut command = hearth(&["import", "--chunked", "--chunk-size", "0.02"]);
    command.arg(format!("http://{}{place}", server.address())).arg(file);
    command
}

/// What it says when it has gone well.
fn done(command: &mut Command) -> String {
    let (code, out, err) = run(command);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    err
}

/// The sentence that it says when it has not, behind where it went on.
fn refusal(command: &mut Command) -> String {
    let (code, out, err) = run(command);
    assert_eq!((code, out.as_str()), (Some(1), ""), "{err}");
    let said = err.trim_end().lines().last().unwrap().to_owned();
    assert!(said.starts_with("hearth: "), "{err}");
    said
}

/// Objects, lists, priorities, and leaves with them, with so many messages.
fn data(count: usize) -> String {
    let message = |at: usize| {
        let priority = if at.is_multiple_of(7) { format!("\".priority\":{at},") } else { String::new() };
        let text = format!("{{\".value\":\"\\u00e9 {at}\",\".priority\":\"p{at}\"}}");
        format!("\"m{at}\":{{{priority}\"at\":{at},\"list\":[true,null,\"x\",[{at}]],\"text\":{text}}}")
    };
    let room = |at: usize| {
        let messages: Vec<_> = (0..count / 4).map(message).collect();
        format!("\"room{at}\":{{\".priority\":{at},\"messages\":{{{}}}}}", messages.join(","))
    };
    let rooms: Vec<_> = (0..4).map(room).collect();
    let list: Vec<_> = (0..count).map(|at| format!("{at}.5")).collect();
    format!(
        "{{\"rooms\":{{\".priority\":\"of all\",{}}},\"list\":[{}],\".priority\":0.5}}",
        rooms.join(","),
        list.join(",")
    )
}

fn notes(file: &Path) -> PathBuf {
    let mut notes = file.as_os_str().to_owned();
    notes.push(".import-progress");
    notes.into()
}

/// How many steps are written by what is noted.
fn steps(file: &Path) -> u64 {
    let Ok(notes) = fs::read_to_string(notes(file)) else { return 0 };
    notes.split("\"steps\":").nth(1).unwrap().trim_end_matches('}').parse().unwrap()
}

/// Waits until so many more are written, or it has ended.
fn wait_for_steps(child: &mut std::process::Child, file: &Path, enough: u64) -> bool {
    let began = Instant::now();
    while steps(file) < enough {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        assert!(began.elapsed() < PATIENCE, "there are {} steps", steps(file));
        std::thread::yield_now();
    }
    true
}

fn shown(server: &Running, place: &str) -> String {
    server.ask("GET", &format!("{place}format=export"), "").1
}

#[test]
fn what_is_cut_goes_on_where_it_stopped_and_comes_to_the_same() {
    let folder = Folder::new("chunked");
    let (plain, data_folder) = (folder.path().join("x.json"), folder.path().join("data"));
    fs::write(&plain, data(8_000)).unwrap();
    let start = |port: &str| {
        Running::of(hearth(&["dev", "--port", port, "--checkpoint-log", "1"]).arg("--data").arg(&data_folder))
    };
    let mut server = start("0");
    let port = server.address().rsplit_once(':').unwrap().1.to_owned();
    let whole = |namespace: &str, file: &Path| {
        let mut command = hearth(&["import", "--namespace", namespace]);
        command.arg(format!("http://127.0.0.1:{port}/a/b")).arg(file);
        command
    };
    done(&mut whole("whole", &plain));
    let expected = shown(&server, "/.json?ns=whole&");
    for compression in ["none", "gzip", "zstd"] {
        let file = folder.path().join(format!("x.{compression}"));
        let url = format!("http://{}/a/b", server.address());
        if compression == "none" {
            fs::copy(&plain, &file).unwrap();
        } else {
            let export = ["export", "--namespace", "whole", "--compress", compression];
            done(hearth(&export).arg(&url).arg(&file));
        }
        let to = |server: &Running| {
            let mut command = import(server, "/a/b", &file);
            command.args(["--namespace", compression]).stderr(Stdio::null());
            command
        };
        for (kills, enough) in [0, 1, 5, 6, 20, 30, 40, 50].into_iter().enumerate() {
            let mut child = to(&server).spawn().unwrap();
            if !wait_for_steps(&mut child, &file, enough) {
                panic!("{compression}: it has ended with {} steps", steps(&file));
            }
            if kills.is_multiple_of(2) {
                child.kill().unwrap();
            } else {
                server.kill();
                server = start(&port);
            }
            assert!(!child.wait().unwrap().success());
        }
        let before = steps(&file);
        assert!(50 <= before, "{before}");
        let said = done(to(&server).stderr(Stdio::piped()));
        assert!(
            said.starts_with("going on behind byte ")
                && said.contains(&format!(" ({before} steps), which is written")),
            "{said}"
        );
        assert!(
            shown(&server, &format!("/.json?ns={compression}&")) == expected,
            "{compression}: it is another tree"
        );
        assert!(!notes(&file).exists());
    }
}

/// A file that is whole, and one with a mistake at its end.
#[test]
fn an_import_that_cannot_go_on_says_why() {
    let folder = Folder::new("chunked-refused");
    let server = Running::of(hearth(&["dev", "--port", "0", "--memory"]).current_dir(folder.path()));
    let file = folder.path().join("x.json");
    let good = data(2_000);
    let bad = format!("{} x", good.strip_suffix('}').unwrap());
    let bytes = bad.len() - 1;
    let begin = |server: &Running| {
        assert_eq!(server.ask("DELETE", "/.json", "").0, 200);
        drop(fs::remove_file(notes(&file)));
        fs::write(&file, &bad).unwrap();
        let said = refusal(&mut import(server, "/", &file));
        let expected = format!(
            "not valid JSON: expected a comma, or the end of an object or array (at byte {bytes} of its text, in `/`); correct it, and begin anew with `--force`"
        );
        assert!(said.contains("x.json` is imported up to byte ") && said.ends_with(&expected), "{said}");
        assert!(5 < steps(&file));
        fs::metadata(&file).unwrap().modified().unwrap()
    };
    let expected = {
        fs::write(&file, &good).unwrap();
        done(&mut import(&server, "/", &file));
        shown(&server, "/.json?")
    };
    let said = refusal(&mut import(&server, "/rooms", &file));
    assert!(
        said.contains("there are data at `http://") && said.contains("/rooms`; `--force` removes them"),
        "{said}"
    );
    assert!(!notes(&file).exists());
    for (what, expected_why) in [
        ("nothing", "not valid JSON: "),
        ("another time", "which is written: "),
        ("another length", "which is written: "),
        ("another text", "which is written: "),
        ("another place", "which is written: "),
        ("a change at the server", "which is written: "),
        ("another version", "which is written: "),
    ] {
        let modified = begin(&server);
        let place = if what == "another place" { "/other" } else { "/" };
        let why = match what {
            "another time" => {
                fs::write(&file, &bad).unwrap();
                "the file has changed since"
            }
            "another length" => {
                fs::write(&file, &good[..100]).unwrap();
                File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
                "the file has changed since"
            }
            "another text" => {
                fs::write(&file, bad.replacen("\"at\":1,", "\"at\":2,", 1)).unwrap();
                File::options().write(true).open(&file).unwrap().set_modified(modified).unwrap();
                "bytes of its text are not those that were written"
            }
            "another place" => "it was written to `http://",
            "a change at the server" => {
                assert_eq!(server.ask("DELETE", "/.json", "").0, 200);
                "is not there any more, or has been changed"
            }
            "another version" => {
                let text = fs::read_to_string(notes(&file)).unwrap();
                fs::write(notes(&file), text.replace("\"version\":1", "\"version\":2")).unwrap();
                "it was begun by another version of hearth"
            }
            _ => expected_why,
        };
        let before = fs::read(notes(&file)).unwrap();
        let said = refusal(&mut import(&server, place, &file));
        assert!(said.contains(why), "{what}: {said}\nnot {why}");
        if what != "nothing" {
            assert!(
                said.contains(" cannot go on behind byte ")
                    && said.ends_with("; `--force` begins anew, and removes what is at the place"),
                "{said}"
            );
        }
        assert_eq!(fs::read(notes(&file)).unwrap(), before, "{what}");
        // Which is also what helps.
        fs::write(&file, &good).unwrap();
        done(import(&server, "/", &file).arg("--force"));
        assert!(shown(&server, "/.json?") == expected, "{what}: it is another tree");
        assert!(!notes(&file).exists());
    }
    fs::write(notes(&file), "mine").unwrap();
    let said = refusal(&mut import(&server, "/", &file));
    assert!(said.contains("import-progress` cannot be read: it does not say how far an import is"), "{said}");
}

#[test]
fn what_no_step_can_carry_is_named() {
    let folder = Folder::new("chunked-faulty");
    let server = Running::of(hearth(&["dev", "--port", "0", "--memory"]).current_dir(folder.path()));
    let file = folder.path().join("x.json");
    for (text, expected) in [
        ("{\"a\":{\"b$\":1}}".to_owned(), "x.json` is not imported: key `b$` has `$` at byte 1; "),
        (format!("{{\"a\":\"{}\"}}", "x".repeat(10_485_761)), "in `/a`)"),
        (format!("{{\"n\":1,\"a\":{}1{}}}", "{\"d\":".repeat(31), "}".repeat(31)), "goes below level 31"),
    ] {
        fs::write(&file, text).unwrap();
        let said = refusal(&mut import(&server, "/below", &file));
        assert!(said.contains(expected), "{said}\nnot {expected}");
        assert_eq!(server.ask("GET", "/.json", "").1, "null");
        assert!(!notes(&file).exists());
    }
    // Standard input is read once, so there must be a name for how far it is.
    let said = refusal(&mut import(&server, "/", Path::new("-")));
    assert!(said.contains("wants `--progress-file NOTES`"), "{said}");
    fs::write(&file, data(1_000)).unwrap();
    let named = folder.path().join("notes");
    done(
        import(&server, "/", Path::new("-"))
            .arg("--progress-file")
            .arg(&named)
            .stdin(File::open(&file).unwrap()),
    );
    assert!(!named.exists());
    let chunked = shown(&server, "/.json?");
    done(hearth(&["import"]).arg(format!("http://{}/?", server.address()).trim_end_matches('?')).arg(&file));
    assert!(chunked == shown(&server, "/.json?"));
    for arguments in [
        &["--force"][..],
        &["--chunk-size", "1"],
        &["--progress-file", "x"],
        &["--chunked", "--chunk-size", "65"],
    ] {
        let (code, _, err) = run(hearth(&["import", "http://127.0.0.1:1/", "x.json"]).args(arguments));
        assert_eq!(code, Some(2), "{err}");
    }
}
