//! Tokens that prove nothing.

use crate::server::Files;
use crate::signed::{
    CERTIFICATE, ISSUER, OTHER_PRIVATE, PRIVATE, PROJECT, PUBLIC, SECRET, claims, id_token, legacy, now_s,
    sign, signed, with_header,
};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey};
use serde_json::{Value, json};

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn hmac(secret: &str, id: Option<&str>, claims: &Value) -> String {
    sign(Algorithm::HS256, id, claims, &EncodingKey::from_secret(secret.as_bytes()).unwrap())
}

#[test]
fn a_token_that_proves_nothing_is_refused_with_its_reason() {
    let files = Files::new("attacks");
    let server = files.start();
    let right = claims(&json!({}));
    let own = json!({"v": 0, "iat": now_s(), "d": {"uid": "kim"}});
    let with = |changes: Value| {
        let mut claims = own.clone();
        claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        legacy(&claims)
    };
    let good = id_token(&json!({}));
    // That it is believed is remembered, and must help no other one.
    assert_eq!(server.read("users/kim", &good).0, 200);
    let (message, signature) = good.rsplit_once('.').unwrap();
    let (header, _) = message.split_once('.').unwrap();
    let other = EncodingKey::from_rsa_pem(OTHER_PRIVATE.as_bytes()).unwrap();
    let jwk = serde_json::to_value(Jwk::from_encoding_key(&other, Algorithm::RS256).unwrap()).unwrap();
    let strange = |header: Value| signed(OTHER_PRIVATE, &header.to_string(), &right.to_string());
    let head = |more: Value| {
        let mut header = json!({"alg": "RS256", "typ": "JWT", "kid": "k1"});
        header.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        header
    };
    // A token of the issuer in which a claim stands twice, the second time as the right one.
    let twice = |name: &str, first: &Value| {
        let rest = right.to_string();
        signed(PRIVATE, &head(json!({})).to_string(), &format!("{{\"{name}\": {first}, {}", &rest[1..]))
    };
    const UNREADABLE: &str = "Could not parse auth token.";
    const NO_SUCH_KEY: &str = "Invalid claim 'kid' in auth header.";
    const SIGNATURE: &str = "the signature of the token does not fit";
    for (token, expected) in [
        // No tokens.
        ("x".into(), UNREADABLE),
        ("a.b".into(), UNREADABLE),
        ("a.b.c".into(), UNREADABLE),
        ("owner".into(), UNREADABLE),
        (SECRET.into(), UNREADABLE),
        (format!("{good}.{signature}"), UNREADABLE),
        (id_token(&json!({"filler": "x".repeat(17_000)})), UNREADABLE),
        // Not signed, or by somebody else.
        (
            format!("{}.{}.", encode(&json!({"alg": "none"})), encode(&right)),
            "Unsupported jwt algorithm: none",
        ),
        (
            format!("{}.{}.{signature}", encode(&json!({"alg": "None", "kid": "k1"})), encode(&right)),
            "Unsupported jwt algorithm: None",
        ),
        (format!("{message}."), SIGNATURE),
        (format!("{header}.{}.{signature}", encode(&claims(&json!({"sub": "amy"})))), SIGNATURE),
        (sign(Algorithm::RS256, Some("k1"), &right, &other), SIGNATURE),
        (hmac("another-secret-of-forty-characters-or-more", None, &own), SIGNATURE),
        // A public key taken for a secret.
        (hmac(PUBLIC, Some("k1"), &right), SIGNATURE),
        (hmac(PUBLIC, Some("k1"), &own), SIGNATURE),
        // A way of signing that the key is not for.
        (
            sign(
                Algorithm::PS256,
                Some("k1"),
                &right,
                &EncodingKey::from_rsa_pem(PRIVATE.as_bytes()).unwrap(),
            ),
            "Unsupported jwt algorithm: PS256",
        ),
        (with_header(&head(json!({"alg": "ES256"})), &right), NO_SUCH_KEY),
        (with_header(&head(json!({"alg": "RS384"})), &right), "Unsupported jwt algorithm: RS384"),
        (with_header(&head(json!({"alg": "rs256"})), &right), "Unsupported jwt algorithm: rs256"),
        (with_header(&head(json!({"alg": ""})), &right), "Unsupported jwt algorithm: "),
        // A key that the token brings with it, or says where it is.
        (strange(head(json!({"jwk": jwk}))), SIGNATURE),
        (strange(head(json!({"jku": "https://example.org/keys"}))), SIGNATURE),
        (strange(head(json!({"x5u": "https://example.org/keys"}))), SIGNATURE),
        (strange(head(json!({"x5c": [CERTIFICATE]}))), SIGNATURE),
        (strange(head(json!({"kid": "k2", "jwk": jwk}))), NO_SUCH_KEY),
        (strange(head(json!({"kid": "k2", "jku": "https://example.org/keys"}))), NO_SUCH_KEY),
        (strange(json!({"alg": "RS256", "jwk": jwk})), "Missing claim 'kid' in auth header."),
        (with_header(&head(json!({"kid": "../keys.json"})), &right), NO_SUCH_KEY),
        (with_header(&head(json!({"kid": ""})), &right), NO_SUCH_KEY),
        (with_header(&json!({"alg": "RS256"}), &right), "Missing claim 'kid' in auth header."),
        // What a reader must understand, and what has two meanings.
        (with_header(&head(json!({"crit": ["exp"]})), &right), UNREADABLE),
        (with_header(&head(json!({"crit": []})), &right), UNREADABLE),
        (with_header(&head(json!({"crit": null})), &right), UNREADABLE),
        (with_header(&head(json!({"kid": 1})), &right), UNREADABLE),
        (with_header(&head(json!({"kid": null})), &right), UNREADABLE),
        (with_header(&head(json!({"alg": ["RS256"]})), &right), UNREADABLE),
        (with_header(&json!({"kid": "k1"}), &right), UNREADABLE),
        (with_header(&head(json!({"typ": 1})), &right), UNREADABLE),
        (
            with_header(&head(json!({"typ": "logout+jwt"})), &right),
            "tokens of the type `logout+jwt` do not say who somebody is",
        ),
        (signed(PRIVATE, r#"{"alg": "RS256", "kid": "k1", "kid": "k1"}"#, &right.to_string()), UNREADABLE),
        (signed(PRIVATE, r#"{"alg": "none", "kid": "k1", "alg": "RS256"}"#, &right.to_string()), UNREADABLE),
        (twice("sub", &json!("amy")), UNREADABLE),
        (twice("sub", &json!("kim")), UNREADABLE),
        (twice("exp", &json!(4_102_444_800_i64)), UNREADABLE),
        (twice("aud", &json!(PROJECT)), UNREADABLE),
        (with_header(&head(json!({})), &json!([right])), UNREADABLE),
        (with_header(&head(json!({})), &json!("x")), UNREADABLE),
        (with_header(&head(json!({})), &json!(null)), UNREADABLE),
        (signed(PRIVATE, &head(json!({})).to_string(), &format!("{right} x")), UNREADABLE),
        (signed(PRIVATE, &head(json!({})).to_string(), ""), UNREADABLE),
        (format!("{good}="), SIGNATURE),
        (format!("{header}=.{}", good.split_once('.').unwrap().1), UNREADABLE),
        // Of another issuer, or for another server.
        (
            id_token(&json!({"iss": "https://securetoken.google.com/another"})),
            "this server does not know the issuer of the token, `https://securetoken.google.com/another`",
        ),
        (id_token(&json!({"iss": null})), "this server does not know the issuer of the token, ``"),
        (
            id_token(&json!({"aud": "another"})),
            "the token is not for this server: its claim `aud` is not `hearth-tests`",
        ),
        (
            id_token(&json!({"aud": null})),
            "the token is not for this server: its claim `aud` is not `hearth-tests`",
        ),
        (id_token(&json!({"iss": [ISSUER]})), "this server does not know the issuer of the token, ``"),
        (
            id_token(&json!({"iss": format!("{ISSUER}/")})),
            "this server does not know the issuer of the token, `https://securetoken.google.com/hearth-tests/`",
        ),
        (
            id_token(&json!({"aud": {PROJECT: true}})),
            "the token is not for this server: its claim `aud` is not `hearth-tests`",
        ),
        (
            id_token(&json!({"aud": ["a", 1]})),
            "the token is not for this server: its claim `aud` is not `hearth-tests`",
        ),
        (
            id_token(
                &json!({"aud": "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"}),
            ),
            "this is a custom token, and an ID token is needed: an app gets one when it signs in with the custom token",
        ),
        // Too old, or too young.
        (id_token(&json!({"exp": now_s() - 1})), "Auth token is expired"),
        (
            id_token(&json!({"exp": null})),
            "the claim `exp` of the token is missing, or not a time in seconds",
        ),
        (
            id_token(&json!({"exp": "4102444800"})),
            "the claim `exp` of the token is missing, or not a time in seconds",
        ),
        (
            id_token(&json!({"iat": null})),
            "the claim `iat` of the token is missing, or not a time in seconds",
        ),
        (id_token(&json!({"iat": now_s() + 300})), "the claim `iat` of the token is in the future"),
        (id_token(&json!({"nbf": now_s() + 300})), "the claim `nbf` of the token is in the future"),
        (
            id_token(&json!({"auth_time": now_s() + 300})),
            "the claim `auth_time` of the token is in the future",
        ),
        (id_token(&json!({"exp": now_s() - 1, "iat": now_s() - 3_601, "sub": ""})), "Auth token is expired"),
        (id_token(&json!({"exp": now_s()})), "Auth token is expired"),
        (id_token(&json!({"exp": -1})), "Auth token is expired"),
        (
            id_token(&json!({"exp": true})),
            "the claim `exp` of the token is missing, or not a time in seconds",
        ),
        (
            id_token(&json!({"iat": "now"})),
            "the claim `iat` of the token is missing, or not a time in seconds",
        ),
        (id_token(&json!({"nbf": "now"})), "the claim `nbf` of the token is not a time in seconds"),
        // Of nobody.
        (id_token(&json!({"sub": null})), "the claim `sub` of the token is missing"),
        (id_token(&json!({"sub": ""})), "the claim `sub` of the token is empty"),
        (id_token(&json!({"sub": ["kim"]})), "the claim `sub` of the token is not text"),
        (id_token(&json!({"sub": 7})), "the claim `sub` of the token is not text"),
        (
            id_token(&json!({"sub": "x".repeat(129)})),
            "the claim `sub` of the token is longer than the 128 characters of a user id",
        ),
        // The same of those that are signed with the secret.
        (with(json!({"exp": now_s() - 1})), "Auth token is expired"),
        (with(json!({"exp": null})), "the claim `exp` of the token is not a time in seconds"),
        (with(json!({"iat": now_s() + 300})), "the claim `iat` of the token is in the future"),
        (
            with(json!({"v": "0"})),
            "the claim `v` of the token is not 0, the version of tokens that are signed with a secret",
        ),
        (with(json!({"exp": true})), "the claim `exp` of the token is not a time in seconds"),
        (with(json!({"nbf": now_s() + 300})), "the claim `nbf` of the token is in the future"),
        (
            with(json!({"v": 1})),
            "the claim `v` of the token is not 0, the version of tokens that are signed with a secret",
        ),
        (
            with(json!({"d": "kim"})),
            "the claim `d` of the token is not an object: it is what rules see as `auth`",
        ),
        (with(json!({"d": {"uid": 7}})), "the claim `d.uid` of the token is not text"),
        (
            with(json!({"d": {"uid": "x".repeat(257)}})),
            "the claim `d.uid` of the token is longer than the 256 characters of a user id",
        ),
        (with(json!({"simulate": true})), "the claim `simulate` of the token is not supported here"),
        (
            hmac(SECRET, Some("k1"), &right),
            "the claim `v` of the token is not 0, the version of tokens that are signed with a secret",
        ),
    ] {
        let error = json!({"error": expected}).to_string();
        // Even where nobody would need one.
        for path in ["users/kim", "open"] {
            let (status, body) = server.read(path, &token);
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((status, body.to_string()), (401, error.clone()), "{token:.300}");
        }
        let bearer = server.get("/open.json?ns=demo", &format!("Authorization: Bearer {token}\r\n"));
        assert_eq!(bearer.0, 401, "{token:.300}");
    }
    assert_eq!(server.read("users/kim", &good).0, 200);
}
