//! What cannot be believed is said when the server starts.

use crate::server::Files;
use crate::signed::PRIVATE;

#[test]
fn what_cannot_be_believed_is_said_at_the_start() {
    let files = Files::new("starts");
    files.write("short", "too short");
    files.write("private.pem", PRIVATE);
    let keys = "keys = 'keys.json'";
    let name = |name: &str| files.name(name);
    let in_file = |at: usize, text: &str| {
        let config = files.write(&format!("{at}.toml"), text);
        (vec!["--config".to_owned(), config.clone()], config)
    };
    let of_project = |project: &str, keys: &str| {
        ["--firebase-project", project, "--firebase-keys", keys].map(str::to_owned).to_vec()
    };
    let mut rows = vec![
        (
            vec!["--firebase-keys".to_owned(), name("keys.json")],
            "`--firebase-keys` says where the keys of a project are, and `--firebase-project` does not say of which".to_owned(),
        ),
        (
            of_project("p", "http://example.org/"),
            "`http://example.org/` cannot be used: keys are at an https URL or in a file".into(),
        ),
        (
            of_project("p", "https://name:secret@example.org/"),
            "the URL of the keys cannot be used: a host is needed, and no name of a user".into(),
        ),
        (
            of_project("p", "https:///keys"),
            "the URL of the keys cannot be used: a host is needed, and no name of a user".into(),
        ),
        (
            of_project("p", &name("nowhere")),
            format!("cannot read the keys in `{}`: No such file or directory (os error 2)", name("nowhere")),
        ),
        (
            of_project("p", &name("short")),
            format!("the keys in `{}` cannot be used: it is neither a JWK set, nor a JSON object of certificates, nor PEM", name("short")),
        ),
        (
            of_project("p", &name("private.pem")),
            format!("the keys in `{}` cannot be used: its key number 1 is private, weak, or cannot be read", name("private.pem")),
        ),
        (
            of_project("", &name("keys.json")),
            "`` is not the id of a Firebase project: letters, digits, `-`, `.` and `:` are allowed".into(),
        ),
        (of_project("a/b", &name("keys.json")), "`a/b` is not the id of a Firebase project".into()),
        (
            vec!["--token-secret-file".into(), name("short")],
            format!("`{}`: the secret for tokens has 9 bytes: 32 to 1024 are allowed", name("short")),
        ),
        (
            vec!["--token-secret-file".into(), name("nowhere")],
            format!("cannot read `{}`: No such file or directory (os error 2)", name("nowhere")),
        ),
    ];
    for (at, (text, expected)) in [
        ("keys = 'http://example.org/'\nissuer = 'a'\naudience = 'b'", "keys are at an https URL or in a file"),
        (&*format!("{keys}\nissuer = ''\naudience = 'b'"), "one of the `token-issuers` has an empty issuer or audience"),
        (&format!("{keys}\nissuer = 'a'\naudience = ''"), "one of the `token-issuers` has an empty issuer or audience"),
        (&format!("{keys}\nissuer = 'a'"), "missing field `audience`"),
        (&format!("{keys}\nissuer = 'a'\naudience = 'b'\nalgorithm = 'none'"), "unknown field `algorithm`"),
        (
            &format!("{keys}\nissuer = 'a'\naudience = 'b'\nauth = {{ uid = 'email' }}"),
            "the issuer `a` cannot say what `auth.uid` is: `uid`, `provider` and `token` have a meaning",
        ),
        (
            &format!("{keys}\nissuer = 'a'\naudience = 'b'\n[[token-issuers]]\n{keys}\nissuer = 'a'\naudience = 'b'"),
            "the issuer `a` has the audience `b` twice",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let (arguments, config) = in_file(at, &format!("[[token-issuers]]\n{text}\n"));
        drop(config);
        rows.push((arguments, expected.into()));
    }
    let (mut arguments, _) = in_file(
        99,
        &format!("[[token-issuers]]\n{keys}\nissuer = 'https://securetoken.google.com/p'\naudience = 'p'\n"),
    );
    arguments.extend(of_project("p", &name("keys.json")));
    rows.push((arguments, "the issuer `https://securetoken.google.com/p` has the audience `p` twice".into()));
    for (arguments, expected) in rows {
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let ended = files.command(&arguments).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!((ended.status.code(), ended.stdout.len()), (Some(2), 0), "{arguments:?} {said}");
        assert!(said.starts_with("hearth: ") && said.contains(&expected), "{arguments:?} {said}");
        assert!(!said.contains("name:secret"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
