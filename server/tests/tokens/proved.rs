//! Tokens that prove something, and what they prove.

use crate::server::{ADMIN, Files};
use crate::signed::{
    ISSUER, OTHER_PUBLIC, PRIVATE, PROJECT, PUBLIC, claims, id_token, legacy, now_s, sign, with_header,
};
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

#[test]
fn a_token_proves_what_it_says() {
    let files = Files::new("proofs");
    let server = files.start();
    let own = |claims: Value| legacy(&claims);
    let future = now_s() + 30;
    for (token, may, may_not) in [
        (id_token(&json!({})), "users/kim", "users/amy"),
        (id_token(&json!({"aud": ["x", PROJECT]})), "users/kim", "users/amy"),
        // The clock of an issuer may be ahead a little.
        (id_token(&json!({"iat": future, "nbf": future, "auth_time": future})), "users/kim", "users/amy"),
        (id_token(&json!({"sub": "x".repeat(128)})), "open", "users/kim"),
        (with_header(&json!({"alg": "RS256", "kid": "k1"}), &claims(&json!({}))), "users/kim", "users/amy"),
        (
            with_header(
                &json!({"alg": "RS256", "kid": "k1", "typ": "application/AT+JWT"}),
                &claims(&json!({})),
            ),
            "users/kim",
            "users/amy",
        ),
        // Whatever stands beside what is needed is as good as not there.
        (
            with_header(
                &json!({"alg": "RS256", "kid": "k1", "jku": "https://example.org/"}),
                &claims(&json!({})),
            ),
            "users/kim",
            "users/amy",
        ),
        (id_token(&json!({"email_verified": true})), "verified", "users/amy"),
        (id_token(&json!({"email_verified": "true"})), "users/kim", "verified"),
        (id_token(&json!({})), "providers/password", "providers/custom"),
        (id_token(&json!({"firebase": null})), "providers/custom", "providers/password"),
        // A member of its own is not one of `auth`.
        (id_token(&json!({"team": "red", "uid": "amy"})), "users/kim", "teams/red"),
        (own(json!({"v": 0, "iat": 0, "d": {"uid": "kim", "team": "red"}})), "teams/red", "teams/blue"),
        (own(json!({"v": 0, "d": {"uid": "kim"}, "exp": future})), "users/kim", "users/amy"),
        (own(json!({"v": 0, "d": {}})), "open", "users/kim"),
        // Only `true` makes an admin.
        (own(json!({"v": 0, "d": {"uid": "kim"}, "admin": "true"})), "users/kim", "users/amy"),
        (own(json!({"v": 0, "d": {"uid": "kim", "admin": true}})), "users/kim", "users/amy"),
        (id_token(&json!({"admin": true})), "users/kim", "users/amy"),
    ] {
        let bearer = format!("Authorization: Bearer {token}\r\n");
        for (path, status) in [(may, 200), (may_not, 401)] {
            assert_eq!(server.read(path, &token).0, status, "{path} {token}");
            assert_eq!(server.get(&format!("/{path}.json?ns=demo"), &bearer).0, status, "{path} {token}");
        }
        // Who is no admin cannot act as somebody else.
        let path =
            format!("/{may_not}.json?ns=demo&auth={token}&auth_variable_override=%7B%22uid%22:%22amy%22%7D");
        assert_eq!(server.get(&path, "").0, 401, "{token}");
    }
    let admin = own(json!({"v": 0, "admin": true}));
    assert_eq!(server.read("users/amy", &admin).0, 200);
    assert_eq!(server.read(".settings/rules", &admin).0, 200);
    assert_eq!(server.read("users/amy", ADMIN).0, 200);
}

#[test]
fn keys_of_an_issuer_come_in_several_forms_and_are_read_again() {
    let files = Files::new("forms");
    let jwk = |id: &str| {
        let key = EncodingKey::from_rsa_pem(PRIVATE.as_bytes()).unwrap();
        let jwk = jsonwebtoken::jwk::Jwk::from_encoding_key(&key, Algorithm::RS256).unwrap();
        let mut jwk = serde_json::to_value(jwk).unwrap();
        jwk["kid"] = json!(id);
        jwk
    };
    let elliptic = rcgen::KeyPair::generate().unwrap();
    let token = id_token(&json!({}));
    for (keys, status) in [
        (PUBLIC.to_owned(), 200),
        (format!("{OTHER_PUBLIC}{PUBLIC}"), 200),
        (OTHER_PUBLIC.into(), 401),
        (json!({"keys": [jwk("k1")]}).to_string(), 200),
        (
            json!({"keys": [{"kty": "unheard of"}, {"kty": "oct", "k": "AA", "kid": "k1"}, jwk("k1")]})
                .to_string(),
            200,
        ),
        (json!({"keys": [jwk("k2")]}).to_string(), 401),
        (elliptic.public_key_pem(), 401),
    ] {
        files.write("keys.json", &keys);
        let server = files.start();
        assert_eq!(server.read("users/kim", &token).0, status, "{keys}");
    }
    // Other issuers stand in the file; what they say of somebody has other names.
    files.write("keys.pem", &elliptic.public_key_pem());
    let config = files.write(
        "hearth.toml",
        "[[token-issuers]]\nissuer = \"https://id.example.org\"\naudience = \"chat\"\nkeys = \"keys.pem\"\nuid = \"email\"\nauth = { team = \"group\" }\n",
    );
    let mut server = crate::server::Server::of(&mut files.command(&["--config", &config]));
    let key = EncodingKey::from_ec_pem(elliptic.serialize_pem().as_bytes()).unwrap();
    let changes =
        json!({"iss": "https://id.example.org", "aud": "chat", "email": "kim@example", "group": "red"});
    let token = sign(Algorithm::ES256, None, &claims(&changes), &key);
    for (path, status) in
        [("users/kim@example", 200), ("users/kim", 401), ("teams/red", 200), ("providers/custom", 401)]
    {
        assert_eq!(server.read(path, &token).0, status, "{path}");
    }
    let refused = server.read("users/kim", &id_token(&json!({})));
    let expected = format!("this server does not know the issuer of the token, `{ISSUER}`");
    assert_eq!(serde_json::from_str::<Value>(&refused.1).unwrap(), json!({"error": expected}));
    // A key that is taken away holds no more, and a file that cannot be used changes nothing.
    files.write("keys.pem", "nothing");
    server.reload();
    server.says("the keys stay as they were");
    assert_eq!(server.read("teams/red", &token).0, 200);
    let another = rcgen::KeyPair::generate().unwrap();
    files.write("keys.pem", &format!("{}{}", another.public_key_pem(), elliptic.public_key_pem()));
    server.reload();
    server.says("were read again");
    assert_eq!(server.read("teams/red", &token).0, 200);
    files.write("keys.pem", &another.public_key_pem());
    server.reload();
    server.says("were read again");
    assert_eq!(server.read("teams/red", &token).0, 401);
}
