//! The vectors of the wire reference, section 17, from text to hash.

use crate::node;

/// The hash as it is on the wire.
fn hash(read: &str) -> String {
    node(read).map_or_else(String::new, |node| node.hash().to_string())
}

#[test]
fn vectors_hash_as_the_sdks_hash_them() {
    for (read, expected) in [
        ("null", ""),
        (r#""""#, "Ki0Xy0V6morg0TO3Sxi/jwugYDQ="),
        (r#""hello""#, "z6sRbrNLwbHX5fdjpvsTtWgXUFc="),
        (r#""héllo ☃ 😀""#, "L+Mhwgn0TEsl7P+R+faHiJ9x3YA="),
        ("true", "E5z61QM0lN/U2WsOnusszCTkR8M="),
        ("false", "aSSNoqcS4oQwJ2xxH20rvpp3zP0="),
        ("0", "7ysMph9WPitGP7poMnMHMVPtUlI="),
        ("1", "YPVfR2bXt/lcDjiQZ8pOkAd3qkQ="),
        ("42", "bQ5XV5L9riGZgerGMb/8Z87RxeI="),
        ("-1.5", "M56MQ4H2xiM8kwGXZUDuLOryQxM="),
        ("3.14159", "rYZTh5GPpcpS36h2C4adc5r4dZk="),
        ("1e21", "rZwDOBGJ9Z0+flzyrCWzeSigSyE="),
        ("5e-324", "AVzIJwC869iLHq/DQh6bzLDrVO4="),
        ("1.7976931348623157e308", "8R+ekVQmxs6ZWP0fdzFHxVeGnWo="),
        ("1700000000000", "vzg0cpxiAeqQeyjkTe0gblJSTn8="),
        ("9007199254740992", "m4qsp/5BbIWTdjthNlnOX+WCTB0="),
        (r#"{".value":"hello",".priority":1}"#, "iV9Ba36CwV/MBtkK5RcZtn5xQXg="),
        (r#"{".value":"hello",".priority":"p"}"#, "Kf4AKh7wmtCrbk3ICLD3ttaYRZc="),
        (r#"{".value":5,".priority":0}"#, "IOrSr5GNwmzMaLyNgOHuPn5I++4="),
        (r#"{"a":1,"b":"x"}"#, "jRI9dwRS9sb4SWm8uuoN7+xBk4g="),
        (r#"{"a":{"b":{"c":true}}}"#, "pmWQZosLZcmOAI2E0uzAv0YR+pY="),
        (r#"{"10":"ten","9":"nine","a":"A"}"#, "c/rxFh9GP8l72DxkXh8F5+4uKcI="),
        (r#"["x","y"]"#, "KtuknfwwJhsB3RrZnwAxD3+/Drs="),
        (r#"["x",null,"z"]"#, "NFXibDi9E9Pp612tfCwsz6ly9fo="),
        (r#"{"0":"x","2":"z"}"#, "NFXibDi9E9Pp612tfCwsz6ly9fo="),
        (
            r#"{"a":{".value":1,".priority":2},"b":{".value":2,".priority":1}}"#,
            "/3lk7Vfl5OYG6Kw2SkiPXNeExPw=",
        ),
        (r#"{"a":1,"b":2,".priority":"pri"}"#, "tpkxHCtHRE/iuv9YtFQ9zC9/K7A="),
        (r#"{"a":null}"#, ""),
        (r#"{"a":{"b":null}}"#, ""),
        (
            r#"{"1":"a","01":"b","001":"c","-5":"n","2147483648":"big","2147483647":"max"}"#,
            "9Ac558LTQvVCnUyxg+2c+PqbcD8=",
        ),
        (r#"{"A":1,"a":2,"_":3,"é":4,"😀":5,"\uffee":6}"#, "qMQ42I9YQxoYlX4sH/scNEIFdCQ="),
        (
            r#"{"-OfJOJtHRpRMarWw0KQi":{"at":1764500000348,"from":"alice","text":"hello"},"-OfJOLAAAAbbbbccccdd":{"at":1764500002000,"from":"bob","text":"hi Alice!"}}"#,
            "5+UdkPeEXPwRUElrhoK+d/GvXzg=",
        ),
    ] {
        assert_eq!(hash(read), expected, "{read}");
    }
}

#[test]
fn a_number_that_javascript_gets_wrong_has_both_hashes() {
    let number = node("9007199254740991").expect("a number");
    assert_eq!(number.hash().to_string(), "zP1cy9AKj8mOJfzxsijijNJ8QdY=");
    assert_eq!(number.js_hash().to_string(), "m4qsp/5BbIWTdjthNlnOX+WCTB0=");
}

#[test]
fn arrays_and_objects_of_the_same_data_are_the_same_node() {
    for (id, array, object) in [
        ("R031", r#"[null,"x",null,"y"]"#, r#"{"1":"x","3":"y"}"#),
        ("both inside", r#"{"a":[[],[1]],"b":null}"#, r#"{"a":{"1":{"0":1}}}"#),
    ] {
        assert_eq!(node(array), node(object), "{id}");
        assert_eq!(hash(array), hash(object), "{id}");
    }
}
