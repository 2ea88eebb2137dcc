//! Every kind of damage to every entry: the newest checkpoint, the one before, or none and a reason. Never another one.

use super::super::load;
use super::super::memory::MemoryStore;
use super::super::store::Store;
use super::{Act, Databases, LOG, RULES, key, number, path, position, text, writer};
use super::{is, newest};
use hearth_tree::{Node, Number, Path, Priority};
use std::collections::BTreeMap;

type Entries = BTreeMap<Vec<u8>, Vec<u8>>;

fn two_checkpoints(store: &MemoryStore) -> [Databases; 2] {
    let leaf = |at: usize| (key(&format!("k{at:02}")), text("something"));
    let mut older = Databases::default();
    older.act(0, &Act::Set(path("/a"), Node::inner((0..40).map(leaf)).unwrap()));
    older.act(0, &Act::Prioritize(path("/a"), Some(Priority::Number(Number::from(1)))));
    older.act(1, &Act::Set(Path::root(), number(1)));
    older.act(1, &Act::Store(Some(RULES)));
    let mut newer = older.clone();
    newer.act(0, &Act::Set(path("/a/k20"), text("something else")));
    newer.act(1, &Act::Store(None));
    let mut writer = writer(Box::new(store.clone()), None);
    writer.write(position(1), older.capture()).unwrap();
    writer.write(position(2), newer.capture()).unwrap();
    [older, newer]
}

fn check(damage: &str, damaged: &MemoryStore, [older, newer]: &[Databases; 2]) -> &'static str {
    let errors = || {
        let (manifests, mut errors) = load::manifests(damaged, &LOG);
        errors.extend(
            manifests.into_iter().filter_map(|(slot, manifest)| load::load(damaged, slot, manifest).err()),
        );
        errors
    };
    match newest(damaged) {
        Some(loaded) if is(&loaded, newer) => "newest",
        Some(loaded) if is(&loaded, older) => {
            assert!(loaded.manifest.position == position(1), "{damage}");
            "older"
        }
        Some(_) => panic!("{damage}: another tree"),
        None => {
            assert!(!errors().is_empty(), "{damage}: nothing, and no reason");
            "none"
        }
    }
}

#[test]
fn damage_is_noticed_wherever_it_is() {
    let whole = MemoryStore::default();
    let databases = two_checkpoints(&whole);
    let entries = whole.state().entries.clone();
    let mut seen = BTreeMap::<_, usize>::new();
    let mut see = |damage: String, change: &dyn Fn(&mut Entries)| {
        let damaged = MemoryStore::default();
        let mut entries = entries.clone();
        change(&mut entries);
        damaged.state().entries = entries;
        *seen.entry(check(&damage, &damaged, &databases)).or_default() += 1;
    };
    let keys: Vec<_> = entries.keys().cloned().collect();
    assert!(15 < keys.len(), "{} entries", keys.len());
    for (at, own) in keys.iter().enumerate() {
        let name = String::from_utf8_lossy(own).into_owned();
        let bytes = entries[own].len();
        see(format!("{name} removed"), &|entries| drop(entries.remove(own)));
        see(format!("{name} emptied"), &|entries| entries.get_mut(own).unwrap().clear());
        for bit in 0..bytes * 8 {
            see(format!("{name} bit {bit}"), &|entries| {
                entries.get_mut(own).unwrap()[bit / 8] ^= 1 << (bit % 8);
            });
        }
        for len in 0..bytes {
            see(format!("{name} cut to {len}"), &|entries| entries.get_mut(own).unwrap().truncate(len));
        }
        see(format!("{name} and a byte"), &|entries| entries.get_mut(own).unwrap().push(0));
        for other in &keys[at + 1..] {
            see(format!("{name} swapped with {}", String::from_utf8_lossy(other)), &|entries| {
                let (a, b) = (entries[own].clone(), entries[other].clone());
                entries.insert(own.clone(), b);
                entries.insert(other.clone(), a);
            });
        }
    }
    // All three happen, so that the table says something.
    assert_eq!(seen.keys().copied().collect::<Vec<_>>(), ["newest", "none", "older"], "{seen:?}");
}

#[test]
fn a_checkpoint_of_other_data_is_none() {
    let store = MemoryStore::default();
    two_checkpoints(&store);
    let (manifests, errors) = load::manifests(&store as &dyn Store, &crate::log::LogId([8; 16]));
    assert!(manifests.is_empty());
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), ["it belongs to other data"; 2]);
}
