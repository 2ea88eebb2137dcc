//! `hearth export`.

use super::remote::At;
use super::transfer::{Compression, Progress, TransferError};
use crate::auth::Secret;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const PIECE_BYTES: usize = 128 * 1024;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The admin credential stands in a file or in HEARTH_ADMIN_CREDENTIAL, never on the command line."
)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub(super) remote: At,
    /// The file to write: compressed if its name ends in `.gz` or `.zst`. Standard output if nothing is said, or `-`.
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// How to compress, whatever the name of the file says.
    #[arg(long, value_name = "HOW")]
    compress: Option<Compression>,
    /// Replaces the file if it is there.
    #[arg(long)]
    force: bool,
}

impl Arguments {
    /// Writes all that is at a place, as it is at one moment. The file has its name when it is whole.
    pub(super) fn run(self, credential: Option<&Secret>) -> Result<(), TransferError> {
        let Self { remote, file, compress, force } = self;
        let file = file.filter(|file| file != Path::new("-"));
        // What a link leads to is meant, and what is no file (a device, a pipe) is written into and stays what it is.
        let file = file.map(|file| fs::canonicalize(&file).unwrap_or(file));
        let there = file.as_deref().and_then(|file| fs::metadata(file).ok());
        let is_stream = there.as_ref().is_some_and(|there| !there.is_file() && !there.is_dir());
        if let (Some(file), Some(there)) = (&file, &there) {
            if there.is_dir() {
                return Err(TransferError::Folder { file: file.clone() });
            }
            if !is_stream && !force {
                return Err(TransferError::Exists { file: file.clone() });
            }
        }
        let name_of_data = remote.name();
        let mut body = remote.open(credential)?.get("format=export")?.into_body();
        let expected = body.content_length();
        let by_name = || file.as_deref().map_or(Compression::None, Compression::of_name);
        let compression = compress.unwrap_or_else(by_name);
        let Some(file) = file else {
            let name = PathBuf::from("standard output");
            let copied = copy(&mut body, expected, compression, io::stdout().lock(), &name)?;
            copied.end(&format!("{name_of_data} to standard output"));
            return Ok(());
        };
        if is_stream {
            let failed = |error| TransferError::File { file: file.clone(), act: "written", error };
            let own = OpenOptions::new().write(true).open(&file).map_err(failed)?;
            copy(&mut body, expected, compression, own, &file)?
                .end(&format!("{name_of_data} to {}", file.display()));
            return Ok(());
        }
        // A name of its own, so that two exports to one file do not meet.
        let mut unfinished = file.clone().into_os_string();
        unfinished.push(format!(".{}.unfinished", std::process::id()));
        let unfinished = PathBuf::from(unfinished);
        let failed = |error| TransferError::File { file: unfinished.clone(), act: "written", error };
        // Whoever exports has read everything, and that is nobody else's.
        let mut options = OpenOptions::new();
        let own = options.write(true).create_new(true).mode(0o600).open(&unfinished).map_err(failed)?;
        let written = copy(&mut body, expected, compression, &own, &unfinished).and_then(|copied| {
            finish(&own, &unfinished, &file).map_err(failed)?;
            Ok(copied)
        });
        match written {
            Ok(copied) => {
                copied.end(&format!("{name_of_data} to {}", file.display()));
                Ok(())
            }
            Err(error) => {
                // It may be that it cannot be removed either, and what went wrong first is what counts.
                drop(fs::remove_file(&unfinished));
                Err(error)
            }
        }
    }
}

fn finish(own: &File, unfinished: &Path, file: &Path) -> io::Result<()> {
    own.sync_all()?;
    fs::rename(unfinished, file)
}

fn copy(
    body: &mut ureq::Body,
    expected: Option<u64>,
    compression: Compression,
    into: impl io::Write,
    name: &Path,
) -> Result<Copied, TransferError> {
    let failed = |error| TransferError::File { file: name.into(), act: "written", error };
    let mut writer = compression.writer(into).map_err(failed)?;
    let mut reader = body.with_config().limit(u64::MAX).reader();
    let mut progress = Progress::begin("exported", expected);
    let (mut piece, mut found) = (vec![0; PIECE_BYTES], 0);
    let cut = |found, error| TransferError::Cut { found, expected: expected.unwrap_or_default(), error };
    loop {
        let bytes = reader.read(&mut piece).map_err(|error| cut(found, error))?;
        if bytes == 0 {
            break;
        }
        found += bytes as u64;
        writer.write_all(&piece[..bytes]).map_err(failed)?;
        progress.add(bytes as u64);
    }
    if expected.is_some_and(|expected| found != expected) {
        return Err(cut(found, io::ErrorKind::UnexpectedEof.into()));
    }
    let file_bytes = writer.end().map_err(failed)?;
    Ok(Copied { progress, text_bytes: found, file_bytes })
}

/// What has come, and what it takes now.
struct Copied {
    progress: Progress,
    text_bytes: u64,
    file_bytes: u64,
}

impl Copied {
    fn end(self, what: &str) {
        self.progress.end(self.text_bytes, self.file_bytes, what);
    }
}
