//! The parts: keys of entries, items of trees.

use super::super::database;
use super::super::entry::{chunk_key, seal};
use super::super::growth::{Growth, Read};
use super::super::load::Damage;
use super::super::walk::Walk;
use super::{Act, Databases, arb_node, arb_path, number, owned, path};
use hearth_engine::{DatabaseId, OwnRules, Settings};
use hearth_tree::{Node, Number, Path, Priority};
use proptest::prelude::*;

fn items(root: &Node, from: &Path) -> Vec<(Path, Read)> {
    let mut walk = Walk::from(Some(root), from.keys());
    let mut items = Vec::new();
    while let Some((keys, item)) = walk.next() {
        items.push((keys.iter().cloned().collect(), owned(item)));
    }
    items
}

proptest! {
    #[test]
    fn chunks_stand_in_a_store_in_the_order_of_their_places(a in arb_path(), b in arb_path()) {
        let key = |path: &Path, generation| chunk_key(DatabaseId(1), path.keys(), generation);
        prop_assert_eq!(key(&a, 1).cmp(&key(&b, 1)), a.cmp(&b));
        // Whatever their generations.
        if a < b {
            prop_assert!(key(&a, u64::MAX) < key(&b, 0));
        }
    }

    #[test]
    fn a_walk_from_a_place_shows_what_a_whole_walk_shows_from_there(root in arb_node(), at in arb_path()) {
        let all = items(&root, &Path::root());
        prop_assert!(all.is_sorted_by(|(a, _), (b, _)| a < b));
        let expected: Vec<_> = all.into_iter().filter(|(place, _)| at <= *place).collect();
        prop_assert_eq!(items(&root, &at), expected);
    }

    #[test]
    fn a_tree_grows_from_its_items(root in arb_node()) {
        let mut growth = Growth::default();
        for (place, item) in items(&root, &Path::root()) {
            growth.add(place.keys(), item).unwrap();
        }
        prop_assert_eq!(growth.finish().unwrap(), Some(root));
    }
}

#[test]
fn what_is_no_tree_does_not_grow() {
    let leaf = || Read::Leaf(number(1));
    let priority = || Read::Priority(Priority::Number(Number::from(1)));
    for (name, items, expected) in [
        ("nothing", vec![], Ok(None)),
        ("below a leaf", vec![("/a", leaf()), ("/a/b", leaf())], Err(Damage::Unordered)),
        ("below a leaf at the root", vec![("/", leaf()), ("/a", leaf())], Err(Damage::Unordered)),
        ("twice", vec![("/a", leaf()), ("/a", leaf())], Err(Damage::Unordered)),
        ("a priority twice", vec![("/", priority()), ("/", priority())], Err(Damage::Unordered)),
        ("backwards", vec![("/b", leaf()), ("/a", leaf())], Err(Damage::Unordered)),
        ("as texts", vec![("/10", leaf()), ("/9", leaf())], Err(Damage::Unordered)),
        ("above", vec![("/a/b", leaf()), ("/a", priority())], Err(Damage::Unordered)),
        ("a priority alone", vec![("/a", priority()), ("/b", leaf())], Err(Damage::Childless)),
        ("a priority at the end", vec![("/a/b", priority())], Err(Damage::Childless)),
    ] {
        let mut growth = Growth::default();
        let added = items.into_iter().try_for_each(|(at, item)| growth.add(path(at).keys(), item));
        assert_eq!(added.and_then(|()| growth.finish()), expected, "{name}");
    }
}

#[test]
fn a_database_of_version_1_has_no_rules() {
    let databases = {
        let mut databases = Databases::default();
        databases.act(1, &Act::Set(path("/a"), number(1)));
        databases
    };
    let captured = databases.capture().databases.remove(&DatabaseId(1)).unwrap();
    let (key, value, _) = database::seal(DatabaseId(1), 7, &captured, &[]);
    // What version 3 has added: version 0, large, strict. And version 2: version 0, time 0, nothing stored.
    let (sealed, _) = value.split_last_chunk::<4>().unwrap();
    let with_rules = sealed.strip_suffix(&[0, 3, 1]).expect("the settings stand last");
    let bare = with_rules.strip_suffix(&[0, 0, 1]).expect("the rules stand before them");
    for (version, body, expected) in [
        (1, bare, None),
        (2, bare, Some("ends in the middle of")),
        (2, with_rules, None),
        (3, with_rules, Some("ends in the middle of")),
        (4, sealed, Some("of version 4")),
    ] {
        let mut body = body.to_vec();
        body[0] = version;
        let (value, crc) = seal(&key, body.clone());
        let read = database::read(&key, &value, database::RecordRef { generation: 7, crc });
        match (read, expected) {
            (Ok(record), None) => {
                assert_eq!((record.name.as_str(), record.own_rules), ("database-1", OwnRules::default()));
                assert_eq!(record.settings, Settings::default());
            }
            (Err(damage), Some(expected)) => assert!(damage.to_string().contains(expected), "{damage}"),
            (read, expected) => panic!("version {version}: {read:?}, not {expected:?}"),
        }
    }
}
