//! `hearth import`.

use super::remote::At;
use super::transfer::{Progress, TransferError, plain};
use crate::auth::Secret;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use ureq::SendBody;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The admin credential stands in a file or in HEARTH_ADMIN_CREDENTIAL, never on the command line."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) remote: At,
    /// The file to read, JSON as Firebase exports it; compressed by gzip or zstd, which is seen. `-` is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Arguments {
    /// Replaces what is at a place. Nobody sees anything of it before all of it is there, and checked.
    pub(super) fn run(self, credential: Option<&Secret>) -> Result<(), TransferError> {
        let Self { remote, file } = self;
        let name_of_data = remote.name();
        let remote = remote.open(credential)?;
        let named = if file == Path::new("-") { "standard input".into() } else { file.clone() };
        let failed = |error| TransferError::File { file: named.clone(), act: "read", error };
        let (source, total): (Box<dyn Read>, _) = if file == Path::new("-") {
            (Box::new(io::stdin().lock()), None)
        } else {
            let own = File::open(&file).map_err(failed)?;
            let total = own.metadata().ok().filter(|found| found.is_file()).map(|found| found.len());
            (Box::new(own), total)
        };
        let progress = Rc::new(RefCell::new(Progress::begin("imported", total)));
        let counted = Counted { source, progress: progress.clone() };
        let broken = Rc::new(RefCell::new(None));
        let mut text = Noted { text: plain(counted).map_err(failed)?, bytes: 0, broken: broken.clone() };
        let sent = remote.put("print=silent&writeSizeLimit=unlimited", SendBody::from_reader(&mut text));
        // What is wrong with the file comes first: the server only knows that it has stopped.
        if let Some(error) = broken.borrow_mut().take() {
            return Err(failed(error));
        }
        sent.map_err(|error| TransferError::NotImported { file: named.clone(), error: error.into() })?;
        let text_bytes = text.bytes;
        drop(text);
        if let Some(progress) = Rc::into_inner(progress).map(RefCell::into_inner) {
            let file_bytes = progress.bytes();
            progress.end(text_bytes, file_bytes, &format!("{} to {name_of_data}", named.display()));
        }
        Ok(())
    }
}

/// Tells how much of the file was read, which may be less than its text.
struct Counted {
    source: Box<dyn Read>,
    progress: Rc<RefCell<Progress>>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read(into)?;
        self.progress.borrow_mut().add(bytes as u64);
        Ok(bytes)
    }
}

/// Keeps how long a text is, and why it could not be read to its end.
struct Noted<'r> {
    text: Box<dyn Read + 'r>,
    bytes: u64,
    broken: Rc<RefCell<Option<io::Error>>>,
}

impl Read for Noted<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(into).inspect_err(|error| {
            let noted = io::Error::new(error.kind(), error.to_string());
            self.broken.borrow_mut().get_or_insert(noted);
        })?;
        self.bytes += read as u64;
        Ok(read)
    }
}
