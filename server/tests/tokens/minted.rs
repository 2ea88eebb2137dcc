//! `hearth token`: what it makes, the server believes.

use crate::server::Files;
use std::process::Command;

fn token(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hearth"));
    let ended = command.env_clear().arg("token").args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap().trim_end().to_owned();
    (ended.status.code(), text(ended.stdout), text(ended.stderr))
}

#[test]
fn a_token_that_is_made_here_is_believed() {
    let files = Files::new("minted");
    let server = files.start();
    let secret = files.name("secret");
    for (arguments, may, may_not) in [
        (&["--uid", "kim"][..], "users/kim", "users/amy"),
        (&["--uid", "kim", "--claim", r#"team="red""#, "--expires", "90s"], "teams/red", "teams/blue"),
        (&["--uid", "kim", "--claim", r#"token={"email_verified": true}"#], "verified", "users/amy"),
        (&["--uid", "kim", "--claim", r#"admin=true"#], "users/kim", "users/amy"),
    ] {
        let (code, token, said) = token(&[&["--token-secret-file", &secret], arguments].concat());
        assert_eq!((code, said), (Some(0), String::new()));
        assert_eq!(server.read(may, &token).0, 200, "{arguments:?}");
        assert_eq!(server.read(may_not, &token).0, 401, "{arguments:?}");
    }
    let (_, admin, _) = token(&["--token-secret-file", &secret, "--admin"]);
    assert_eq!(server.read("users/amy", &admin).0, 200);
}

#[test]
fn what_cannot_be_a_token_is_answered_with_a_sentence() {
    let files = Files::new("unminted");
    let secret = files.name("secret");
    let short = files.write("short", "too short");
    for (arguments, expected) in [
        (
            &["--token-secret-file", &secret][..],
            "`--uid UID` says for whom, or `--admin` for an admin".to_owned(),
        ),
        (
            &["--token-secret-file", &short, "--uid", "kim"],
            format!("`{short}`: the secret for tokens has 9 bytes: 32 to 1024 are allowed"),
        ),
        (
            &["--token-secret-file", &secret, "--uid", "kim", "--claim", "team=red"],
            "`team=red` is not allowed: a name, `=`, and a value as JSON are".into(),
        ),
        (
            &["--token-secret-file", &secret, "--uid", "kim", "--claim", "uid=1"],
            "`uid` has an option of its own, --uid".into(),
        ),
        (
            &["--token-secret-file", &secret, "--uid", "kim", "--expires", "1w"],
            "`1w` is not allowed: a time from 1s to 3660d is".into(),
        ),
        (&["--token-secret-file", &secret, "--uid", "kim", "--expires", "0s"], "`0s` is not allowed".into()),
        (&["--token-secret-file", &secret, "--uid", "kim", "--expires", ""], "".into()),
        (&["--token-secret-file", &secret, "--uid", "kim", "--expires", "1é"], "`1é` is not allowed".into()),
        (&["--token-secret-file", &secret, "--uid", "kim", "--admin"], "cannot be used with".into()),
    ] {
        let (code, made, said) = token(arguments);
        assert_eq!((code, made), (Some(2), String::new()), "{said}");
        assert!(said.starts_with("hearth: ") && said.contains(&expected), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
