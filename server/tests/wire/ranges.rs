//! Clients with a cache say what they have range by range, and are told what differs (wire reference 6.5, 6.6; Android
//! and Apple). The ranges and hashes are those of the reference's example, made by the classes of the Android SDK.

use crate::script::play;
use std::fmt::Write;

/// What the client has: `k00` to `k39`, cut at six places.
const HELD: &str = r#""hs":["BJEEsXix5+fOIIf4PEvdO+yD0mo=","vKT0WwTaDsXtwWJ04Q+lhuUcBD4=","DcXXKQccloCK7npCh/0gyvYcwtw=","3E8d1992pkQUGbMUkmytfGyrQwc=","6kk33VhmAO/ttlwn1Gmz6wD4RjU=","FStugJ3K6v4JqN3FX2fOPD2mKpo=",""],"ps":["k07/t","k14/x","k22/t","k29/x","k37/t","k39/x"]"#;

/// These of the children, each complete.
fn children(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut text = String::new();
    for number in numbers {
        let comma = if text.is_empty() { "" } else { "," };
        write!(text, r#"{comma}"k{number:02}":{{"t":{},"x":"message number {number}"}}"#, 1000 + number)
            .unwrap();
    }
    text
}

/// What the client asks for, with the hash of all that it has.
fn listen(number: u32, hash: &str, query: &str) -> String {
    format!(
        r#"{{"t":"d","d":{{"r":{number},"a":"q","b":{{"p":"big","h":"{hash}"{query},"ch":{{{HELD}}}}}}}}}"#
    )
}

const ALL: &str = "Y7tOxA3Paj8SlGkUEHokmImJul4=";
/// Of something else.
const OTHER: &str = "E5z61QM0lN/U2WsOnusszCTkR8M=";

#[test]
fn only_ranges_that_differ_are_sent() {
    play(&conversations());
}

pub(crate) fn conversations() -> Vec<(&'static str, String)> {
    let all = children(0..40);
    // In the second range the half of `k07` behind its cut comes, too; behind the last cut the client has nothing.
    let edited = children(8..15).replace("message number 9", "edited");
    let ranges = format!(
        r#"[{{"s":"k07/t","e":"k14/x","m":{{"k07":{{"x":"message number 7"}},{edited}}}}},{{"s":"k39/x","m":{{"k40":{{"t":2}}}}}}]"#
    );
    let side_by_side =
        children(8..20).replace("message number 9", "edited").replace("message number 19", "edited");
    vec![
        (
            "a cache that is right",
            format!(
                r#"
put /big {{{all}}}
a connects
a> {}
a< {{"t":"d","d":{{"r":0,"b":{{"s":"ok","d":{{}}}}}}}}
a is silent
"#,
                listen(0, ALL, "")
            ),
        ),
        (
            "two ranges and the query of a window",
            format!(
                r#"
put /big {{{all}}}
put /big/k09/x "edited"
put /big/k40/t 2
a connects
a> {}
a< {{"t":"d","d":{{"a":"rm","b":{{"p":"big","d":{ranges}}}}}}}
a< {{"t":"d","d":{{"r":1,"b":{{"s":"ok","d":{{}}}}}}}}
a> {}
a< {{"t":"d","d":{{"a":"rm","b":{{"p":"big","d":{ranges},"t":7}}}}}}
a< {{"t":"d","d":{{"r":2,"b":{{"s":"ok","d":{{}}}}}}}}
  News as ever.
a> {{"t":"d","d":{{"r":3,"a":"p","b":{{"p":"big/k40","d":null}}}}}}
a< {{"t":"d","d":{{"a":"d","b":{{"p":"big/k40","d":null}}}}}}
a< {{"t":"d","d":{{"a":"m","b":{{"p":"big","d":{{"k40":null}},"t":7}}}}}}
a< {{"t":"d","d":{{"r":3,"b":{{"s":"ok","d":""}}}}}}
"#,
                listen(1, OTHER, ""),
                listen(2, OTHER, r#","q":{"l":100,"vf":"l"},"t":7"#)
            ),
        ),
        (
            "ranges side by side are one and a range can be empty",
            format!(
                r#"
put /big {{{all}}}
put /big/k09/x "edited"
put /big/k19/x "edited"
put /big/k38 null
put /big/k39 null
a connects
a> {}
a< {{"t":"d","d":{{"a":"rm","b":{{"p":"big","d":[{{"s":"k07/t","e":"k22/t","m":{{"k07":{{"x":"message number 7"}},{side_by_side},{},"k22":{{"t":1022}}}}}},{{"s":"k37/t","e":"k39/x","m":{{"k37":{{"x":"message number 37"}}}}}}]}}}}}}
a< {{"t":"d","d":{{"r":1,"b":{{"s":"ok","d":{{}}}}}}}}
"#,
                listen(1, OTHER, ""),
                children(20..22)
            ),
        ),
        (
            "priorities of nodes with children are sent whole",
            format!(
                r#"
put /big {{{all}}}
put /big/k09/.priority 1
a connects
a> {}
a< {{"t":"d","d":{{"a":"d","b":{{"p":"big","d":{{…}}}}}}}}
a< {{"t":"d","d":{{"r":1,"b":{{"s":"ok","d":{{}}}}}}}}
"#,
                listen(1, OTHER, "")
            ),
        ),
        (
            "where everything differs it is sent whole and nothing is nothing",
            format!(
                r#"
put /big "a leaf"
a connects
a> {}
a< {{"t":"d","d":{{"a":"d","b":{{"p":"big","d":"a leaf"}}}}}}
a< {{"t":"d","d":{{"r":1,"b":{{"s":"ok","d":{{}}}}}}}}
put /big null
a< {{"t":"d","d":{{"a":"d","b":{{"p":"big","d":null}}}}}}
b connects
b> {}
b< {{"t":"d","d":{{"a":"d","b":{{"p":"big","d":null}}}}}}
b< {{"t":"d","d":{{"r":2,"b":{{"s":"ok","d":{{}}}}}}}}
"#,
                listen(1, OTHER, ""),
                listen(2, OTHER, "")
            ),
        ),
    ]
}
