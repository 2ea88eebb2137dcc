//! Messages that are written in pieces: as in one.

use hearth_tree::{Edit, Key, Node, Path, Priority, RelativePath, Scalar, Text, To};
use hearth_wire::{
    Answer, Body, FRAME_UNITS_MAX, Length, LongMessage, Parts, RECEIVED_BYTES_MAX, RangeData, RequestNumber,
    Response, Script, Tag, TooLong, split,
};

fn path(text: &str) -> Path {
    Path::parse(text).expect(text)
}

fn leaf(text: &str) -> Node {
    Scalar::Text(Text::new(text).expect("it is short enough")).into()
}

/// Children with these values; the keys are numbers, as of a list.
fn list(value: &str, len: usize) -> Option<Node> {
    let key = |at| Key::parse(&format!("k{at:06}")).expect("a letter and digits are a key");
    Node::inner((0..len).map(|at| (key(at), leaf(value))))
}

/// The frames of a message as it is written in pieces, and as it is split as one text.
fn check(whole: &str, message: &LongMessage, tag: Option<Tag>) {
    let end = &whole[whole.ceil_char_boundary(whole.len().saturating_sub(40))..];
    let length = Length::of(message.clone()).expect("clients can receive it");
    let mut frames = Vec::new();
    if length.parts_with(tag) != 1 {
        frames.push(length.parts_with(tag).to_string());
    }
    let mut parts = Parts::new(message.clone().ended(tag));
    while let Some(part) = parts.next_part() {
        frames.push(part.to_owned());
    }
    let expected: Vec<_> = split(whole).expect("clients can receive it").collect();
    assert_eq!(frames.len(), expected.len(), "frames of {} bytes, ending in {end}", whole.len());
    assert!(frames == expected, "a frame differs, of {} bytes, ending in {end}", whole.len());
}

#[test]
fn a_message_in_pieces_is_the_same_literal_of_a_script() {
    let names = ["__proto__", "_", "a", "b_", "\"__proto__"];
    let key = |name: &str| Key::parse(name).expect(name);
    let inner = |child: &Option<Node>| {
        Node::inner(names.iter().map(|name| (key(name), child.clone().expect("it is one"))))
    };
    let node = inner(&inner(&Some(leaf("</script>\u{2028}\"__proto__\":_"))));
    let message = LongMessage::data(RequestNumber(3), node.clone()).ended(None);
    let whole = Response { number: RequestNumber(3), answer: Answer::Data(node) }.to_text();
    let mut expected = Script::default();
    expected.tell(7, [whole.as_str()]);
    let expected = expected.into_text();
    assert!(expected.contains(r#",["__proto__"]:"\u003c/script>\u2028\"__proto__\":_","a":"#), "{expected}");
    for bytes in [1, 2, 10, 100, 1_000] {
        let mut rest = message.clone();
        let mut script = Script::default();
        script.begin(7);
        let mut is_longer = true;
        while is_longer {
            let mut piece = Vec::new();
            is_longer = rest.append_to(&mut piece, bytes);
            script.message(std::str::from_utf8(&piece).expect("it is cut between tokens"));
        }
        script.end();
        assert_eq!(script.into_text(), expected, "pieces of {bytes}");
    }
}

#[test]
fn a_message_in_pieces_is_the_message() {
    let at = path("rooms/a");
    for (value, len) in
        [("x", 0), ("x", 1), ("x", 3_000), ("é€😀\"\\\u{2028}", 40_000), ("0123456789", 50_000)]
    {
        let node = list(value, len);
        for tag in [None, Some(Tag(7)), Some(Tag(1 << 60))] {
            let priority = Priority::Text(Text::new("p").expect("it is short"));
            for to in [To::Node(node.clone()), To::Priority(Some(priority.clone())), To::Priority(None)] {
                let edit = Edit { at: at.clone(), to };
                check(&Body::set(&edit).with_tag(tag), &LongMessage::set(&edit), tag);
            }

            let edits = [
                Edit { at: path("rooms/a/b/c"), to: To::Node(node.clone()) },
                Edit { at: path("rooms/a/d"), to: To::Priority(Some(priority)) },
                Edit { at: path("rooms/a/e"), to: To::Priority(None) },
            ];
            check(&Body::merge(&at, &edits).with_tag(tag), &LongMessage::merge(&at, &edits), tag);

            let place = |text| Some(RelativePath::parse(text).expect("it is one"));
            let ranges = vec![
                RangeData { after: None, up_to: place("b"), data: node.clone() },
                RangeData { after: place("b"), up_to: place("c/d"), data: None },
                RangeData { after: place("x"), up_to: None, data: node.clone() },
            ];
            let whole = Body::ranges(&at, &ranges);
            check(&whole.with_tag(tag), &LongMessage::ranges(&at, ranges), tag);
        }
        let number = RequestNumber(12);
        let whole = Response { number, answer: Answer::Data(node.clone()) }.to_text();
        check(&whole, &LongMessage::data(number, node), None);
    }
}

#[test]
fn the_end_of_a_message_may_need_a_part_of_its_own() {
    let at = path("a");
    let around = Body::set(&Edit { at: at.clone(), to: To::Node(Some(leaf(""))) }).with_tag(None).len();
    for over in 0..12 {
        for (filler, bytes) in [("x", 1), ("é", 1), ("😀", 2)] {
            let text = filler.repeat((2 * FRAME_UNITS_MAX - around + over) / bytes);
            let edit = Edit { at: at.clone(), to: To::Node(Some(leaf(&text))) };
            for tag in [None, Some(Tag(5))] {
                check(&Body::set(&edit).with_tag(tag), &LongMessage::set(&edit), tag);
            }
        }
    }
}

#[test]
fn what_clients_cannot_receive_is_too_long() {
    let at = path("a");
    let around = Body::set(&Edit { at: at.clone(), to: To::Node(Some(leaf(""))) }).with_tag(None).len();
    // Leaves of a megabyte, and the last one fills what is left.
    const LEAF: usize = 1_000_000;
    let of_bytes = |bytes: usize| {
        let own = "\"k000000\":\"\",".len();
        let leaves = (bytes - around) / (LEAF + own);
        let full = leaf(&"x".repeat(LEAF));
        let key = |at| Key::parse(&format!("k{at:06}")).expect("a letter and digits are a key");
        let mut children: Vec<_> = (0..leaves).map(|at| (key(at), full.clone())).collect();
        // `{}` instead of `""` around, and no comma behind the last.
        let rest = bytes - around - leaves * (LEAF + own) - (own - 1);
        children.push((key(leaves), leaf(&"x".repeat(rest))));
        Node::inner(children)
    };
    for (bytes, is_received) in [(RECEIVED_BYTES_MAX, true), (RECEIVED_BYTES_MAX + 1, false)] {
        let edit = Edit { at: at.clone(), to: To::Node(of_bytes(bytes)) };
        let measured = Length::of(LongMessage::set(&edit)).map(|length| length.bytes + "}}}".len());
        assert_eq!(measured, if is_received { Ok(bytes) } else { Err(TooLong) }, "{bytes}");
        assert_eq!(Body::received_set(&edit).is_ok(), is_received, "{bytes} as one text");
    }
}
