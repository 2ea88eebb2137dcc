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
        if let Some(file) = &file
            && !force
            && file.exists()
        {
            return Err(TransferError::Exists { file: file.clone() });
        }
        let mut body = remote.open(credential)?.get("format=export")?.into_body();
        let expected = body.content_length();
        let by_name = || file.as_deref().map_or(Compression::None, Compression::of_name);
        let compression = compress.unwrap_or_else(by_name);
        let Some(file) = file else {
            let name = PathBuf::from("standard output");
            let bytes = copy(&mut body, expected, compression, io::stdout().lock(), &name)?;
            bytes.end("standard output");
            return Ok(());
        };
        let mut unfinished = file.clone().into_os_string();
        unfinished.push(".unfinished");
        let unfinished = PathBuf::from(unfinished);
        let failed = |error| TransferError::File { file: unfinished.clone(), act: "written", error };
        // Whoever exports has read everything, and that is nobody else's.
        let mut options = OpenOptions::new();
        let own =
            options.write(true).create(true).truncate(true).mode(0o600).open(&unfinished).map_err(failed)?;
        let written = copy(&mut body, expected, compression, &own, &unfinished).and_then(|progress| {
            finish(&own, &unfinished, &file).map_err(failed)?;
            Ok(progress)
        });
        match written {
            Ok(progress) => {
                progress.end(&file.display().to_string());
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
) -> Result<Progress, TransferError> {
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
    writer.end().map_err(failed)?;
    Ok(progress)
}
