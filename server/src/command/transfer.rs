//! What export and import have in common: compression, progress, and what can go wrong.

use super::chunked::{Fault, Faulty, Unresumable};
use crate::backup::BackupError;
use crate::log::RestoringError;
use flate2::write::GzEncoder;
use hearth_tree::OneLine;
use std::fmt;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use zstd::stream::write::Encoder;

/// Why data could not be brought in or out. What was there before is there.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// Not the address of a place in a database.
    #[error("`{url}` is not the address of a server: {what}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        what: String,
    },
    /// Nobody asks a server elsewhere without one.
    #[error(
        "there is no admin credential for `{host}`: `--admin-credential-file FILE` or the variable `HEARTH_ADMIN_CREDENTIAL` has it; only on this machine a server for development is asked without"
    )]
    NoCredential {
        /// Of the server.
        host: String,
    },
    /// The network, or what is at its other end.
    #[error("the server at `{server}` cannot be asked: {}", reason(.error))]
    Network {
        /// Scheme, host and port.
        server: String,
        /// What went wrong.
        error: Box<ureq::Error>,
    },
    /// The server does not want to.
    #[error("the server at `{server}` has refused with {status}: {said}{advice}")]
    Refused {
        /// Scheme, host and port.
        server: String,
        /// Of HTTP.
        status: u16,
        /// In its words.
        said: String,
        /// What would help, after a `; `; often nothing.
        advice: &'static str,
    },
    /// A file whose data did not get there.
    #[error("`{}` is not imported: {error}", .file.display())]
    NotImported {
        /// Its name.
        file: PathBuf,
        /// Why not.
        error: Box<Self>,
    },
    /// A file in which something is wrong.
    #[error(transparent)]
    Faulty(Box<Faulty>),
    /// A file of which some is written.
    #[error("`{}` is imported up to {written} and no further: {error}{}", .file.display(), advice(.error))]
    InPart {
        /// Its name.
        file: PathBuf,
        /// How far.
        written: String,
        /// Why no further.
        error: Box<Self>,
    },
    /// A part of a file.
    #[error("the step from `{}` to `{}` is not written: {error}", OneLine(.first), OneLine(.last))]
    Step {
        /// The first of its places, from the place of the import on.
        first: String,
        /// The last.
        last: String,
        /// Why not.
        error: Box<Self>,
    },
    /// What was begun before is not what is there now.
    #[error(
        "`{}` cannot go on behind {written}, which `{}` says is written: {why}; {}, and removes what is at the place",
        .file.display(), .notes.display(), anew(.file)
    )]
    Unresumable {
        /// Its name.
        file: PathBuf,
        /// What says how far it was.
        notes: PathBuf,
        /// How far.
        written: String,
        /// What is otherwise.
        why: Box<Unresumable>,
    },
    /// Nobody has given up what is there.
    #[error(
        "there are data at `{place}`; `--force` removes them before the first step, and without `--chunked` they are replaced at once, at the end"
    )]
    NotEmpty {
        /// Its address.
        place: String,
    },
    /// Standard input has no name.
    #[error("`--chunked` with standard input wants `--progress-file NOTES`, to keep there how far it is")]
    NoProgressFile,
    /// It has stopped in the middle.
    #[error("the server has sent {found} of {expected} bytes and then stopped: {error}; nothing was kept")]
    Cut {
        /// How many have come.
        found: u64,
        /// How many it has said.
        expected: u64,
        /// What the network says.
        error: io::Error,
    },
    /// What was to be a backup.
    #[error("`{}` cannot be used: {error}", .file.display())]
    Backup {
        /// Its name.
        file: PathBuf,
        /// What is wrong with it.
        error: BackupError,
    },
    /// What a server has sent for a backup.
    #[error("the server at `{server}` has not sent a whole backup, and nothing is kept: {error}")]
    NoBackup {
        /// Scheme, host and port.
        server: String,
        /// What is wrong with it.
        error: BackupError,
    },
    /// Data that cannot be restored there.
    #[error(transparent)]
    Restoring(#[from] RestoringError),
    /// A file that nobody has given up.
    #[error("`{}` is there; `--force` replaces it", .file.display())]
    Exists {
        /// Its name.
        file: PathBuf,
    },
    /// No name of a file.
    #[error("`{}` is a folder; name a file in it", .file.display())]
    Folder {
        /// Its name.
        file: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("`{}` cannot be {act}: {error}", .file.display())]
    File {
        /// Its name.
        file: PathBuf,
        /// Read or written.
        act: &'static str,
        /// What the system says.
        error: io::Error,
    },
}

/// How an import in steps begins anew.
fn anew(file: &Path) -> &'static str {
    if file == Path::new("standard input") {
        "without that file `--force` begins anew"
    } else {
        "`--force` begins anew"
    }
}

/// What would help with an import in steps.
fn advice(error: &TransferError) -> &'static str {
    if matches!(error, TransferError::Faulty(faulty) if matches!(faulty.fault, Fault::Problem(_))) {
        "; correct it, and begin anew with `--force`"
    } else {
        "; the same command goes on from there"
    }
}

/// In words for people. What the library says of the rest is short.
fn reason(error: &ureq::Error) -> String {
    use ureq::Error::{HostNotFound, Io, Protocol, Rustls};
    if let Io(error) = error {
        io_reason(error)
    } else if matches!(error, HostNotFound) {
        "there is no host of that name".into()
    } else if matches!(error, Protocol(_)) {
        "what answers there is no HTTP server; an encrypted one is `https://`".into()
    } else if let Rustls(error) = error {
        format!("it cannot be trusted: {error}")
    } else {
        error.to_string()
    }
}

/// The same of what the system says.
fn io_reason(error: &io::Error) -> String {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionRefused, ConnectionReset};
    let kind = error.kind();
    if kind == ConnectionRefused {
        "nothing listens there; is it running, and is the port right?".into()
    } else if matches!(kind, BrokenPipe | ConnectionAborted | ConnectionReset) {
        "it has ended the connection before it had everything, as it does with what comes too slowly".into()
    } else {
        error.to_string()
    }
}

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Compression {
    /// Not at all.
    None,
    /// As `gzip` does.
    Gzip,
    /// As `zstd` does: faster and smaller.
    Zstd,
}

const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

impl Compression {
    /// What the name of a file says.
    pub(super) fn of_name(file: &Path) -> Self {
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            Some(_) | None => Self::None,
        }
    }

    /// What is compressed like this goes on compressed.
    pub(super) fn writer<'w>(self, into: impl Write + 'w) -> io::Result<Compressed<'w>> {
        let into = Counted { into: Box::new(into), bytes: 0 };
        Ok(match self {
            Self::None => Compressed::None(into),
            Self::Gzip => Compressed::Gzip(GzEncoder::new(into, flate2::Compression::default())),
            Self::Zstd => Compressed::Zstd(Encoder::new(into, 0)?),
        })
    }
}

/// Something that is written, perhaps compressed.
pub(super) enum Compressed<'w> {
    None(Counted<'w>),
    Gzip(GzEncoder<Counted<'w>>),
    Zstd(Encoder<'static, Counted<'w>>),
}

/// Where it goes, and how much of it has gone there.
pub(super) struct Counted<'w> {
    into: Box<dyn Write + 'w>,
    bytes: u64,
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.into.write(bytes)?;
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

impl Compressed<'_> {
    pub(super) fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::None(own) => own.write_all(bytes),
            Self::Gzip(own) => own.write_all(bytes),
            Self::Zstd(own) => own.write_all(bytes),
        }
    }

    /// Writes what it has kept back. How many bytes there are now.
    pub(super) fn end(self) -> io::Result<u64> {
        let mut own = match self {
            Self::None(own) => own,
            Self::Gzip(own) => own.finish()?,
            Self::Zstd(own) => own.finish()?,
        };
        own.flush()?;
        Ok(own.bytes)
    }
}

/// The text of something that may be compressed, which its first bytes say.
pub(super) fn plain<'r>(mut from: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut first = Vec::new();
    from.by_ref().take(ZSTD.len() as u64).read_to_end(&mut first)?;
    let (is_gzip, is_zstd) = (first.starts_with(GZIP), first.starts_with(ZSTD));
    let whole = io::Cursor::new(first).chain(from);
    Ok(if is_gzip {
        Box::new(flate2::read::MultiGzDecoder::new(io::BufReader::new(whole)))
    } else if is_zstd {
        Box::new(zstd::stream::read::Decoder::new(whole)?)
    } else {
        Box::new(whole)
    })
}

/// Tells how far it is: in one line that changes on a terminal, in lines now and then elsewhere.
pub(super) struct Progress {
    /// `exported`
    done: &'static str,
    bytes: u64,
    total: Option<u64>,
    began: Instant,
    told: Instant,
    is_terminal: bool,
}

const TERMINAL_PAUSE: Duration = Duration::from_millis(200);
const PAUSE: Duration = Duration::from_secs(10);

impl Progress {
    pub(super) fn begin(done: &'static str, total: Option<u64>) -> Self {
        let (began, is_terminal) = (Instant::now(), io::stderr().is_terminal());
        Self { done, bytes: 0, total, began, told: began, is_terminal }
    }

    pub(super) fn add(&mut self, bytes: u64) {
        self.bytes += bytes;
        let pause = if self.is_terminal { TERMINAL_PAUSE } else { PAUSE };
        if pause <= self.told.elapsed() {
            self.told = Instant::now();
            let (start, end) = if self.is_terminal { ("\r\x1b[K", "") } else { ("", "\n") };
            // With no standard error there is nobody to tell.
            drop(write!(io::stderr(), "{start}{self}{end}"));
        }
    }

    /// How much there was so far.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Tells how it ended: how long the text was, and how long the file if it is compressed.
    pub(super) fn end(self, text_bytes: u64, file_bytes: u64, what: &str) {
        let start = if self.is_terminal { "\r\x1b[K" } else { "" };
        let (done, seconds) = (self.done, self.began.elapsed().as_secs_f64());
        let text = Size(text_bytes);
        let compressed = if file_bytes == text_bytes {
            String::new()
        } else {
            format!(", {} compressed,", Size(file_bytes))
        };
        drop(writeln!(io::stderr(), "{start}{done} {text}{compressed} in {seconds:.1} s: {what}"));
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.began.elapsed().as_secs_f64().max(0.001);
        let rate = megabytes(self.bytes) / seconds;
        write!(f, "{} {}", self.done, Size(self.bytes))?;
        if let Some(total) = self.total.filter(|&total| self.bytes <= total && 0 < self.bytes) {
            let left = (megabytes(total - self.bytes) / rate).ceil();
            let percent = 100 * self.bytes / total;
            write!(f, " of {} ({percent} %), {rate:.1} MB/s, {left:.0} s left", Size(total))
        } else {
            write!(f, ", {rate:.1} MB/s")
        }
    }
}

/// So many bytes, for people.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("1 byte"),
            bytes @ 0..1_000 => write!(f, "{bytes} bytes"),
            bytes @ 1_000..1_000_000 => write!(f, "{:.1} kB", megabytes(bytes) * 1e3),
            bytes => write!(f, "{:.1} MB", megabytes(bytes)),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "for people, who read three digits")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
