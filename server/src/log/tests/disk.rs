//! A disk that does what disks may do: it loses what was not synced, sector by sector and in any order, it keeps names
//! apart from files, and it fails when it is told to.

use super::super::files::{Files, SegmentFile};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::rc::Rc;

const SECTOR: usize = 512;

/// A folder on it. Clones are the same folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk(Rc<RefCell<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    files: Vec<Content>,
    names: BTreeMap<String, usize>,
    names_durable: BTreeMap<String, usize>,
    dice: u64,
    /// After so many operations one fails.
    fails_in: Option<u64>,
    /// Only that one, and none behind it.
    fails_once: bool,
    operations: u64,
    /// No end of it where nothing is said.
    free_bytes: Option<u64>,
}

#[derive(Debug, Default)]
struct Content {
    now: Vec<u8>,
    durable: Vec<u8>,
    /// Sectors that the next sync brings to the disk. One that a failed sync has dropped is not among them.
    dirty: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
pub(super) struct OpenFile {
    disk: Disk,
    file: usize,
}

impl Disk {
    pub(super) fn new(seed: u64) -> Self {
        let disk = Self::default();
        disk.0.borrow_mut().dice = seed;
        disk
    }

    /// A number below `bound`.
    pub(super) fn below(&self, bound: u64) -> u64 {
        self.0.borrow_mut().below(bound)
    }

    /// Lets an operation fail after that many.
    pub(super) fn fail_in(&self, operations: Option<u64>) {
        let mut inner = self.0.borrow_mut();
        (inner.fails_in, inner.fails_once) = (operations, false);
    }

    /// Lets an operation fail after that many, and those behind it be done.
    pub(super) fn fail_once_in(&self, operations: u64) {
        let mut inner = self.0.borrow_mut();
        (inner.fails_in, inner.fails_once) = (Some(operations), true);
    }

    /// Says that so much is free.
    pub(super) fn leave(&self, free_bytes: u64) {
        self.0.borrow_mut().free_bytes = Some(free_bytes);
    }

    pub(super) fn operations(&self) -> u64 {
        self.0.borrow().operations
    }

    /// The machine loses its power: what was not synced is there or not.
    pub(super) fn lose_power(&self) {
        let mut inner = self.0.borrow_mut();
        for at in 0..inner.files.len() {
            let mut content = std::mem::take(&mut inner.files[at]);
            content.persist(|_| inner.below(2) == 0);
            content.dirty.clear();
            content.now.clone_from(&content.durable);
            inner.files[at] = content;
        }
        // The journal of a file system keeps names in order, so it is all of them or as before.
        if inner.below(2) == 0 {
            inner.names_durable = inner.names.clone();
        }
        inner.names = inner.names_durable.clone();
        inner.fails_in = None;
    }

    /// The bytes of a file as a reader finds them.
    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        let inner = self.0.borrow();
        inner.files[inner.names[name]].now.clone()
    }

    /// Somebody changes a file, on the disk too.
    pub(super) fn put(&self, name: &str, bytes: Vec<u8>) {
        let mut inner = self.0.borrow_mut();
        let file = inner.files.len();
        inner.files.push(Content { now: bytes.clone(), durable: bytes, dirty: BTreeSet::new() });
        inner.names.insert(name.into(), file);
        inner.names_durable = inner.names.clone();
    }

    /// Somebody removes a file.
    pub(super) fn take(&self, name: &str) {
        let mut inner = self.0.borrow_mut();
        inner.names.remove(name);
        inner.names_durable = inner.names.clone();
    }

    /// Another disk with the same on it.
    pub(super) fn copy(&self) -> Self {
        let copy = Self::default();
        for (name, file) in &self.0.borrow().names {
            copy.put(name, self.0.borrow().files[*file].now.clone());
        }
        copy
    }
}

impl Inner {
    fn below(&mut self, bound: u64) -> u64 {
        // SplitMix64.
        self.dice = self.dice.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.dice;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Whether an operation fails.
    fn operate(&mut self) -> bool {
        self.operations += 1;
        match &mut self.fails_in {
            None => false,
            Some(0) => {
                if self.fails_once {
                    self.fails_in = None;
                }
                true
            }
            Some(left) => {
                *left -= 1;
                false
            }
        }
    }
}

impl Content {
    /// Brings those dirty sectors to the disk.
    fn persist(&mut self, mut which: impl FnMut(usize) -> bool) {
        self.durable.resize(self.now.len(), 0);
        for &sector in &self.dirty {
            if which(sector) {
                let bytes = sector * SECTOR..((sector + 1) * SECTOR).min(self.now.len());
                self.durable[bytes.clone()].copy_from_slice(&self.now[bytes]);
            }
        }
    }
}

fn failure() -> io::Error {
    io::Error::other("the disk is tired")
}

impl Files for Disk {
    type File = OpenFile;

    fn names(&self) -> io::Result<Vec<String>> {
        Ok(self.0.borrow().names.keys().cloned().collect())
    }

    fn make(&self, name: &str, bytes: u64) -> io::Result<OpenFile> {
        let mut inner = self.0.borrow_mut();
        if inner.operate() {
            return Err(failure());
        }
        let now = vec![0; usize::try_from(bytes).unwrap()];
        let dirty = (0..now.len().div_ceil(SECTOR)).collect();
        let file = inner.files.len();
        inner.files.push(Content { now, durable: Vec::new(), dirty });
        inner.names.insert(name.into(), file);
        Ok(OpenFile { disk: self.clone(), file })
    }

    fn open(&self, name: &str) -> io::Result<OpenFile> {
        let file = self.0.borrow().names.get(name).copied();
        let file = file.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(OpenFile { disk: self.clone(), file })
    }

    fn bytes(&self, name: &str) -> io::Result<u64> {
        let inner = self.0.borrow();
        let file = inner.names.get(name).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        Ok(inner.files[*file].now.len() as u64)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        if inner.operate() {
            return Err(failure());
        }
        let file = inner.names.remove(from).expect("it was made before");
        inner.names.insert(to.into(), file);
        Ok(())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        if inner.operate() {
            return Err(failure());
        }
        inner.names.remove(name);
        Ok(())
    }

    fn free_bytes(&self) -> io::Result<u64> {
        Ok(self.0.borrow().free_bytes.unwrap_or(u64::MAX))
    }

    fn sync(&self) -> io::Result<()> {
        let mut inner = self.0.borrow_mut();
        if inner.operate() {
            return Err(failure());
        }
        inner.names_durable = inner.names.clone();
        Ok(())
    }
}

impl SegmentFile for OpenFile {
    fn read(&self) -> io::Result<Vec<u8>> {
        Ok(self.disk.0.borrow().files[self.file].now.clone())
    }

    fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        let mut inner = self.disk.0.borrow_mut();
        let fails = inner.operate();
        // A write that fails may have done a part of it.
        let done = if fails { inner.below(bytes.len() as u64 + 1) } else { bytes.len() as u64 };
        let (at, done) = (usize::try_from(at).unwrap(), usize::try_from(done).unwrap());
        let content = &mut inner.files[self.file];
        if content.now.len() < at + done {
            content.now.resize(at + done, 0);
        }
        content.now[at..at + done].copy_from_slice(&bytes[..done]);
        content.dirty.extend(at / SECTOR..(at + done).div_ceil(SECTOR));
        if fails { Err(failure()) } else { Ok(()) }
    }

    fn sync(&self) -> io::Result<()> {
        let mut inner = self.disk.0.borrow_mut();
        let fails = inner.operate();
        let mut content = std::mem::take(&mut inner.files[self.file]);
        content.persist(|_| !fails || inner.below(2) == 0);
        // As systems do: what could not be written is forgotten, and the next sync has nothing to complain of.
        content.dirty.clear();
        inner.files[self.file] = content;
        if fails { Err(failure()) } else { Ok(()) }
    }

    fn check(&self) -> io::Result<()> {
        Ok(())
    }
}
