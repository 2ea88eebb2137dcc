//! `hearth export`.

use super::new_file::{NewFile, Standing};
use super::remote::At;
use super::transfer::{Compression, Progress, TransferError};
use crate::auth::Secret;
use std::fs::OpenOptions;
use std::io::{self, Read};
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
        let standing = file.map(|file| Standing::of(file, force)).transpose()?;
        let name_of_data = remote.name();
        let mut body = remote.open(credential)?.get("format=export")?.into_body();
        let expected = body.content_length();
        let name = match &standing {
            None => Path::new("standard output"),
            Some(Standing::File(file) | Standing::Stream(file)) => file,
        };
        let compression = compress.unwrap_or_else(|| Compression::of_name(name));
        let ended = format!("{name_of_data} to {}", name.display());
        let copied = match standing {
            None => copy(&mut body, expected, compression, io::stdout().lock(), name)?,
            Some(Standing::Stream(ref file)) => {
                let failed = |error| TransferError::File { file: file.clone(), act: "written", error };
                let own = OpenOptions::new().write(true).open(file).map_err(failed)?;
                copy(&mut body, expected, compression, own, file)?
            }
            Some(Standing::File(ref file)) => {
                let new = NewFile::begin(file.clone())?;
                let copied = copy(&mut body, expected, compression, &new.own, &new.unfinished);
                new.end(copied)?
            }
        };
        copied.end(&ended);
        Ok(())
    }
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
