use super::steps::{Step, Steps};
use hearth_tree::{Assignment, Path, ReadOptions, Snapshot, Update, Write, read_update, read_value};
use std::io::{self, Read};

/// Gives so many bytes at a time.
struct Slowly<'t>(&'t [u8], usize);

impl Read for Slowly<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.1.min(into.len()).min(self.0.len());
        into[..bytes].copy_from_slice(&self.0[..bytes]);
        self.0 = &self.0[bytes..];
        Ok(bytes)
    }
}

fn steps(text: &str, step_bytes: usize) -> Steps<Slowly<'_>> {
    Steps::new(Slowly(text.as_bytes(), 7), step_bytes, 0).unwrap()
}

/// Writes it as the server does.
fn write(tree: &Snapshot, step: &Step) -> Snapshot {
    let root = Path::root();
    let write = match step {
        Step::Whole(text) => {
            let value = read_value(text, &ReadOptions::default()).unwrap();
            Write::Set(Assignment::value(root, value).unwrap())
        }
        Step::Part { places, .. } if places.is_empty() => return tree.clone(),
        Step::Part { .. } => {
            let update: Update = read_update(&step.body(), &root, &ReadOptions::default()).unwrap();
            Write::Update(update)
        }
    };
    tree.apply(&write.resolve(0, tree).unwrap())
}

/// Each with its end and the checksum there.
fn all(steps: &mut Steps<Slowly<'_>>, tree: &mut Snapshot) -> Vec<(u64, u32)> {
    let mut ends = Vec::new();
    while let Some(step) = steps.next_step().unwrap() {
        *tree = write(tree, &step);
        ends.push((steps.position(), steps.sum()));
    }
    ends
}

const TEXTS: [&str; 14] = [
    "null",
    " 5 ",
    "\u{feff}\"text\"\n",
    "{}",
    "[[],{}]",
    "{\".value\":1,\".priority\":\"p\"}",
    "[\"a\",null,[1,2,{\"b\":3}],\"d\"]",
    "{\"a\":{\"b\":{\"c\":1,\"d\":2},\"e\":null},\"f\":true}",
    "{\".priority\":1,\"a\":{\".priority\":2,\"b\":{\".priority\":3,\"c\":4,\"d\":5},\"e\":6},\"f\":7}",
    "{\"a\":{\"b\":{\"c\":4,\"d\":5,\".priority\":3},\"e\":6,\".priority\":2},\"f\":7,\".priority\":1}",
    "{\"a\":{\".priority\":9,\"x\":null,\"y\":null},\"b\":{\".value\":\"long enough\",\".priority\":8},\"c\":[{\".priority\":7,\"z\":1}]}",
    "{\"\\u0061\\u00e9\":\"\\ud83d\\ude00 \\ud800 \\\"\\\\\",\"big\":9007199254740993,\"n\":-0.5e-3,\"é\":\"é\u{7f}\"}",
    "{ \"spaces\" : [ 1 , 2 ] ,\n\t\"in\" : { \"between\" : false } }\r\n",
    "{\"a\":{\".value\":1},\"b\":{\".priority\":1,\".value\":null},\"c\":{\"d\":{\"e\":{\"f\":{\"g\":[0]}}}}}",
];

#[test]
fn steps_come_to_the_same_tree_wherever_they_end() {
    for text in TEXTS {
        let mark = text.strip_prefix('\u{feff}').unwrap_or(text);
        let expected = write(&Snapshot::default(), &Step::Whole(mark.into()));
        for step_bytes in [1, 2, 40, 90, 150, 250, 10_000] {
            let mut tree = Snapshot::default();
            let ends = all(&mut steps(text, step_bytes), &mut tree);
            assert_eq!(tree, expected, "{text} in steps of {step_bytes}");
            assert_eq!(ends.last().map(|&(end, _)| end), Some(text.len() as u64), "{text}");
            // Who comes back passes over what is written, in steps of any length, and the rest comes to the same.
            for (&(end, sum), index) in ends.iter().zip(1..) {
                for again_bytes in [step_bytes, 1, 10_000] {
                    let mut again = steps(text, again_bytes);
                    assert!(again.pass_to(end).unwrap().is_some(), "{text}: {end} of {again_bytes}");
                    assert_eq!((again.position(), again.sum()), (end, sum), "{text}");
                    let mut resumed = first(text, step_bytes, index);
                    all(&mut again, &mut resumed);
                    assert_eq!(resumed, expected, "{text}: from {end} on in steps of {again_bytes}");
                }
            }
            for between in (1..text.len() as u64).filter(|at| ends.iter().all(|(end, _)| end != at)) {
                let passed = steps(text, step_bytes).pass_to(between).unwrap();
                assert!(passed.is_none() || step_bytes != 1, "{text}: nothing ends at {between}");
            }
        }
    }
}

/// What the first so many steps come to.
fn first(text: &str, step_bytes: usize, count: usize) -> Snapshot {
    let mut steps = steps(text, step_bytes);
    (0..count).fold(Snapshot::default(), |tree, _| write(&tree, &steps.next_step().unwrap().unwrap()))
}

#[test]
fn what_is_wrong_is_named_with_place_and_byte() {
    let deep = format!("{}1{}", "{\"a\":".repeat(33), "}".repeat(33));
    let long_text = format!("{{\"a\":[1,\"{}\"]}}", "x".repeat(10 * 1024 * 1024 + 1));
    let endless = format!("{{\"a\":\"{}", "\\u0061".repeat(11 * 1024 * 1024));
    let long_key = format!("{{\"a\":{{\"{}\":1}}}}", "k".repeat(769));
    for (text, expected) in [
        ("", "not valid JSON: there is nothing (at byte 0 of its text, in `/`)"),
        ("{\"a\":{\"b\":tru}}", "not valid JSON: expected a value (at byte 13 of its text, in `/a/b`)"),
        ("{\"a\":01}", "not valid JSON: expected a value (at byte 7 of its text, in `/a`)"),
        ("{\"a\":1", "not valid JSON: it ends in the middle (at byte 6 of its text, in `/`)"),
        ("{\"a\":[1,{\"b\":\"x", "not valid JSON: a string has no end (at byte 15 of its text, in `/a/1/b`)"),
        ("{\"a\":1,}", "not valid JSON: expected a key in double quotes (at byte 7 of its text, in `/`)"),
        ("[1,]", "not valid JSON: expected a value (at byte 3 of its text, in `/1`)"),
        (
            "[1 2]",
            "not valid JSON: expected a comma, or the end of an object or array (at byte 3 of its text, in `/`)",
        ),
        ("{\"a\" 1}", "not valid JSON: expected `:` behind a key (at byte 5 of its text, in `/a`)"),
        (
            "{\"a\":1}}",
            "not valid JSON: something stands behind the end of the data (at byte 7 of its text, in `/`)",
        ),
        (
            "{\"a\":\"\\x\"}",
            "not valid JSON: a string has an escape that there is not (at byte 9 of its text, in `/a`)",
        ),
        (
            "{\"a\":\"\n\"}",
            "not valid JSON: a control character stands in a string as it is (at byte 6 of its text, in `/a`)",
        ),
        (
            "{\"a\":{\"b/c\":1}}",
            "key `b/c` has `/` at byte 1; keys cannot contain . $ # [ ] / or ASCII control characters (at byte 11 of its text, in `/a`)",
        ),
        ("{\"a\":{\"\":1}}", "(at byte 8 of its text, in `/a`)"),
        (
            "{\"a\":{\".sv\":\"timestamp\"}}",
            "only values that are filled in are allowed here (at byte 11 of its text, in `/a`)",
        ),
        ("{\".x\":1}", "key `.x` begins with a dot"),
        ("{\"a\":{\"b\":1,\".value\":2}}", "`.value` stands beside child `b`"),
        ("{\"a\":{\".value\":2,\"b\":1}}", "`.value` stands beside child `b`"),
        ("{\"a\":{\".value\":[2]}}", "not an array"),
        ("{\"a\":{\".priority\":{}}}", "not an object"),
        (&deep, "the value goes below level 32"),
        (
            &long_text,
            "a string value has 10485761 bytes of UTF-8; at most 10485760 are allowed (at byte 10485771 of its text, in `/a/1`)",
        ),
        (&endless, "a string value has "),
        (&long_key, "(at byte 777 of its text, in `/a`)"),
    ] {
        for step_bytes in [1, 1_000_000] {
            let mut steps = Steps::new(text.as_bytes(), step_bytes, 0).unwrap();
            let fault = loop {
                match steps.next_step() {
                    Ok(Some(_)) => {}
                    Ok(None) => panic!("{expected} was not found"),
                    Err(fault) => break fault.to_string(),
                }
            };
            assert!(fault.contains(expected), "{fault}\nnot {expected}");
        }
    }
}

#[test]
fn a_step_is_as_long_as_it_may_be() {
    let members: Vec<_> =
        (0..5_000).map(|at| format!("\"k{at}\":{{\"a\":[{at},1],\"b\":\"{at}\"}}")).collect();
    let text = format!("{{\"deep\":{{\"er\":{{{}}}}},\"z\":0}}", members.join(","));
    let mut steps = Steps::new(text.as_bytes(), 10_000, 0).unwrap();
    let mut count = 0;
    while let Some(step) = steps.next_step().unwrap() {
        let bytes = step.body().len();
        assert!(bytes < 11_000, "{bytes}");
        count += 1;
    }
    assert!((15..80).contains(&count), "{count}");
}
