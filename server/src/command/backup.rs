//! `hearth backup`.

use super::new_file::{NewFile, Standing};
use super::remote::{At, Remote};
use super::transfer::{Progress, TransferError};
use crate::auth::Secret;
use crate::backup::{BackupError, BackupReader, Counted};
use crate::clock;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The admin credential stands in a file or in HEARTH_ADMIN_CREDENTIAL, never on the command line."
)]
pub(super) struct Arguments {
    /// The server: `http://127.0.0.1:9000`.
    #[arg(value_name = "URL", required_unless_present = "verify", conflicts_with = "verify")]
    url: Option<String>,
    /// The file to write. `-` is standard output.
    #[arg(value_name = "FILE", required_unless_present = "verify")]
    file: Option<PathBuf>,
    /// Replaces the file if it is there.
    #[arg(long, conflicts_with = "verify")]
    force: bool,
    /// Looks whether a file is a whole backup, and at every byte of it, instead of making one. `-` is standard input.
    #[arg(long, value_name = "FILE")]
    verify: Option<PathBuf>,
    /// A file with the admin credential of the server.
    #[arg(long, value_name = "FILE", env = "HEARTH_ADMIN_CREDENTIAL_FILE")]
    pub(super) admin_credential_file: Option<PathBuf>,
}

impl Arguments {
    /// Has a server write a backup, and verifies it on its way; or verifies one that there is.
    pub(super) fn run(self, credential: Option<&Secret>) -> Result<(), TransferError> {
        let Self { url, file, force, verify: verified, .. } = self;
        if let Some(file) = verified {
            return verify(&file);
        }
        let (url, file) = (url.unwrap_or_default(), file.unwrap_or_default());
        let at = At::server(url.clone());
        if at.is_below() {
            let what = "a backup is of all databases of a server, so nothing follows host and port".into();
            return Err(TransferError::Url { url, what });
        }
        let standing = if file == Path::new("-") { None } else { Some(Standing::of(file, force)?) };
        let remote = at.open(credential)?;
        let (progress, found, name) = match standing {
            None => {
                let name = PathBuf::from("standard output");
                let (progress, found) = copy(&remote, io::stdout().lock(), &name)?;
                (progress, found, name)
            }
            Some(Standing::Stream(file)) => {
                let failed = |error| TransferError::File { file: file.clone(), act: "written", error };
                let own = OpenOptions::new().write(true).open(&file).map_err(failed)?;
                let (progress, found) = copy(&remote, own, &file)?;
                (progress, found, file)
            }
            Some(Standing::File(file)) => {
                let new = NewFile::begin(file.clone())?;
                let copied = copy(&remote, &new.own, &new.unfinished);
                let (progress, found) = new.end(copied)?;
                (progress, found, file)
            }
        };
        end(progress, &found, &format!("to {}", name.display()));
        Ok(())
    }
}

/// Reads a backup to its end, and changes nothing.
fn verify(file: &Path) -> Result<(), TransferError> {
    let (source, total) = open(file)?;
    let mut progress = Progress::begin("verified", total);
    let counted = Tee { from: source, into: io::sink(), progress: &mut progress, unwritten: &mut None };
    let found = BackupReader::new(counted).read(|_| Ok(()));
    let found = found.map_err(|error| TransferError::Backup { file: file.into(), error })?;
    end(progress, &found, &format!("in {}", file.display()));
    Ok(())
}

/// A file, and its length; or standard input.
pub(super) fn open(file: &Path) -> Result<(Box<dyn Read>, Option<u64>), TransferError> {
    if file == Path::new("-") {
        return Ok((Box::new(io::stdin().lock()), None));
    }
    let failed = |error| TransferError::File { file: file.into(), act: "read", error };
    let own = File::open(file).map_err(failed)?;
    let there = own.metadata().map_err(failed)?;
    if there.is_dir() {
        return Err(TransferError::Folder { file: file.into() });
    }
    Ok((Box::new(io::BufReader::new(own)), there.is_file().then_some(there.len())))
}

/// What it came to, for people.
pub(super) fn end(progress: Progress, found: &Counted, place: &str) {
    let Counted { at_ms, databases, items, bytes, .. } = *found;
    let noun = if databases == 1 { "database" } else { "databases" };
    let what = format!("{databases} {noun} with {items} values of {} {place}", clock::Moment(at_ms));
    progress.end(bytes, bytes, &what);
}

/// Writes what a server sends while it is verified.
fn copy(remote: &Remote, into: impl Write, name: &Path) -> Result<(Progress, Counted), TransferError> {
    let mut body = remote.get_backup()?.into_body();
    let mut progress = Progress::begin("backed up", None);
    let (mut unwritten, mut into) = (None, io::BufWriter::new(into));
    let from = body.with_config().limit(u64::MAX).reader();
    let tee = Tee { from, into: &mut into, progress: &mut progress, unwritten: &mut unwritten };
    let found = BackupReader::new(io::BufReader::new(tee)).read(|_| Ok::<_, BackupError>(()));
    let failed = |error| TransferError::File { file: name.into(), act: "written", error };
    // What is wrong with the file comes first: whoever reads only knows that nothing comes any more.
    if let Some(error) = unwritten {
        return Err(failed(error));
    }
    let found = found.map_err(|error| TransferError::NoBackup { server: remote.server().into(), error })?;
    into.flush().map_err(failed)?;
    drop(into);
    Ok((progress, found))
}

/// Writes what is read from something else, and tells how much it was.
pub(super) struct Tee<'p, R, W> {
    pub(super) from: R,
    pub(super) into: W,
    pub(super) progress: &'p mut Progress,
    /// Why it could not be written.
    pub(super) unwritten: &'p mut Option<io::Error>,
}

impl<R: Read, W: Write> Read for Tee<'_, R, W> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let bytes = self.from.read(into)?;
        if let Err(error) = self.into.write_all(&into[..bytes]) {
            *self.unwritten = Some(error);
            return Ok(0);
        }
        self.progress.add(bytes as u64);
        Ok(bytes)
    }
}
