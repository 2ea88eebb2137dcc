//! What is logged, at the most that can be asked for: nothing that proves who somebody is.

use crate::polls::Polls;
use crate::server::{ADMIN, Files};
use crate::signed::{PRIVATE, SECRET, id_token, legacy, now_s};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::Message;

#[tokio::test]
async fn nothing_that_proves_who_somebody_is_gets_into_the_log() {
    let files = Files::new("logged");
    let server = files.start();
    let wrong = "an-admin-credential-that-is-none";
    let credentials = [
        ADMIN.to_owned(),
        wrong.into(),
        id_token(&json!({})),
        id_token(&json!({"exp": now_s() - 1})),
        id_token(&json!({"iss": "https://example.org"})),
        id_token(&json!({"sub": ""})),
        legacy(&json!({"v": 0, "admin": true})),
        legacy(&json!({"v": 0, "d": {"uid": "kim"}, "exp": 1})),
        format!("{}x", legacy(&json!({"v": 0, "d": {"uid": "kim"}}))),
    ];
    for credential in &credentials {
        server.read("users/kim", credential);
        server.get(&format!("/users/kim.json?ns=demo&access_token={credential}"), "");
        server.get("/users/kim.json?ns=demo", &format!("Authorization: Bearer {credential}\r\n"));
        server.get(&format!("/.settings/rules.json?ns=demo&auth={credential}"), "");
        // Where nothing is.
        server.get(&format!("/users/kim?auth={credential}"), "");
        let url = format!("ws://{}/.ws?v=5&ns=demo", server.address);
        let stream = TcpStream::connect(&server.address).await.unwrap();
        let (mut socket, _) = client_async(url, stream).await.unwrap();
        for action in ["auth", "gauth"] {
            let ask = json!({"t": "d", "d": {"r": 1, "a": action, "b": {"cred": credential}}});
            socket.send(Message::text(ask.to_string())).await.unwrap();
            while !socket.next().await.unwrap().unwrap().to_string().contains(r#""r":1"#) {}
        }
        let (address, credential) = (server.address.clone(), credential.clone());
        let polled = move || {
            let mut polls = Polls::start(&address, "ns=demo", &[]).unwrap();
            polls.ask("auth", &json!({"cred": credential}));
        };
        tokio::task::spawn_blocking(polled).await.unwrap();
    }
    server.write("audited/a", "1");
    server.write(".settings/defaultWriteSizeLimit", "\"small\"");
    let said = server.stop();
    // It does say something, and what admins have changed.
    assert!(said.contains("DEBUG"), "{said}");
    for place in ["/audited/a", ".settings/defaultWriteSizeLimit"] {
        assert!(said.contains(&format!("an admin: PUT of `{place}`")), "{place}: {said}");
    }
    let key = PRIVATE.lines().nth(1).unwrap();
    for credential in credentials.iter().map(String::as_str).chain([SECRET, key]) {
        // Any part of it that could be of use, as it is and as long polling writes it.
        for part in credential.split('.').filter(|part| 16 <= part.len()) {
            for shift in 0..3 {
                let spelled = URL_SAFE.encode(&part[shift..shift + 12]);
                assert!(!said.contains(&spelled), "{part} in {said}");
            }
            assert!(!said.contains(&part[part.len() - 16..]), "{part} in {said}");
        }
    }
}
