//! `hearth import`.

use super::chunked::{self, Chunked};
use super::remote::{At, Remote};
use super::transfer::{Progress, TransferError, plain};
use crate::auth::Secret;
use std::cell::RefCell;
use std::fs::{File, Metadata};
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
    /// Writes the file in steps, each seen when it is written, instead of all at once. The same command goes on where it was
    /// cut.
    #[arg(long)]
    chunked: bool,
    /// About how long a step is, in megabytes: 8 if nothing is said.
    #[arg(long, value_name = "MB", requires = "chunked", value_parser = chunked::step_bytes, default_value = "8", hide_default_value = true)]
    chunk_size: usize,
    /// Where to keep how far it is: FILE.import-progress if nothing is said. Removed at the end.
    #[arg(long, value_name = "NOTES", requires = "chunked")]
    progress_file: Option<PathBuf>,
    /// Removes what is at the place before the first step, and begins anew where it cannot go on.
    #[arg(long, requires = "chunked")]
    force: bool,
}

impl Arguments {
    /// Replaces what is at a place. Nobody sees anything of it before all of it is there, and checked; unless it is written in
    /// steps.
    pub(super) fn run(self, credential: Option<&Secret>) -> Result<(), TransferError> {
        let Self { remote, file, chunked, chunk_size, progress_file, force } = self;
        let name_of_data = remote.name();
        let remote = remote.open(credential)?;
        let (text_bytes, progress) = if chunked {
            chunked::import(&remote, &file, Chunked { step_bytes: chunk_size, force, progress_file })?
        } else {
            at_once(&remote, &file)?
        };
        let file_bytes = progress.bytes();
        progress.end(text_bytes, file_bytes, &format!("{} to {name_of_data}", named(&file).display()));
        Ok(())
    }
}

fn at_once(remote: &Remote, file: &Path) -> Result<(u64, Progress), TransferError> {
    let failed = |error| TransferError::File { file: named(file), act: "read", error };
    let Opened { text, progress, .. } = Opened::open(file)?;
    let broken = Rc::new(RefCell::new(None));
    let mut text = Noted { text, bytes: 0, broken: broken.clone() };
    let sent = remote.put("print=silent&writeSizeLimit=unlimited", SendBody::from_reader(&mut text));
    // What is wrong with the file comes first: the server only knows that it has stopped.
    if let Some(error) = broken.borrow_mut().take() {
        return Err(failed(error));
    }
    sent.map_err(|error| TransferError::NotImported { file: named(file), error: error.into() })?;
    let text_bytes = text.bytes;
    drop(text);
    let progress = Rc::into_inner(progress).map(RefCell::into_inner);
    Ok((text_bytes, progress.expect("whoever reads is dropped")))
}

/// The file, for people.
pub(super) fn named(file: &Path) -> PathBuf {
    if file == Path::new("-") { "standard input".into() } else { file.into() }
}

/// A file that is being read.
pub(super) struct Opened {
    pub(super) text: Box<dyn Read>,
    /// Of what has a length.
    pub(super) metadata: Option<Metadata>,
    pub(super) progress: Rc<RefCell<Progress>>,
}

impl Opened {
    /// From its beginning; or standard input.
    pub(super) fn open(file: &Path) -> Result<Self, TransferError> {
        let failed = |error| TransferError::File { file: named(file), act: "read", error };
        let (source, metadata): (Box<dyn Read>, _) = if file == Path::new("-") {
            (Box::new(io::stdin().lock()), None)
        } else {
            let own = File::open(file).map_err(failed)?;
            let metadata = own.metadata().ok().filter(Metadata::is_file);
            (Box::new(own), metadata)
        };
        let total = metadata.as_ref().map(Metadata::len);
        let progress = Rc::new(RefCell::new(Progress::begin("imported", total)));
        let text = plain(Counted { source, progress: progress.clone() }).map_err(failed)?;
        Ok(Self { text, metadata, progress })
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
struct Noted {
    text: Box<dyn Read>,
    bytes: u64,
    broken: Rc<RefCell<Option<io::Error>>>,
}

impl Read for Noted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.text.read(into).inspect_err(|error| {
            let noted = io::Error::new(error.kind(), error.to_string());
            self.broken.borrow_mut().get_or_insert(noted);
        })?;
        self.bytes += read as u64;
        Ok(read)
    }
}
