//! The folder that a server keeps its data in.
//!
//! ```text
//! DIR/lock     held by the process that uses the data
//! DIR/format   says that this is a folder of data, and which log belongs to it
//! DIR/log/     the segments
//! DIR/checkpoints/  where reading the log need not begin at its beginning ([`crate::checkpoint`])
//! ```
//!
//! Why `format` is written last: a folder without it has never held anything, and one with it has a log. So a log whose
//! files are all gone is not taken for a new one.

use super::files::{FILE_MODE, Folder, make_folder, sync_folder};
use super::recovery::{PUT_BACK, RecoverError, Recovered, recover, recover_behind};
use super::replay::{Kept, Replay};
use super::segment::{HEAD_BYTES, LogId, UNFINISHED, VERSION, VERSION_MIN, name_of, sequence_of};
use super::segment_log::{KeptLog, SegmentLog, Sizes};
use crate::checkpoint::{Capture, Checkpoints, Restored, StoreKind, Stores};
use crate::checkpoint_log::CheckpointLog;
use crate::random::random_number;
use hearth_engine::{DatabaseId, Door, LogError, LogStep, MemoryLog};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const LOCK: &str = "lock";
pub(super) const FORMAT: &str = "format";
const FORMAT_UNFINISHED: &str = "format.unfinished";
pub(super) const LOG: &str = "log";
pub(super) const CHECKPOINTS: &str = "checkpoints";
/// What a file system may have put there.
const NOT_OURS: &[&str] = &["lost+found"];

/// The data of a server, and the right to use them.
pub(crate) struct Data {
    /// Held as long as the data are used.
    pub(crate) lock: Option<File>,
    pub(crate) log: Box<dyn KeptLog + Send>,
    pub(crate) databases: BTreeMap<DatabaseId, Kept>,
    /// Who writes checkpoints; nothing, where nothing is kept, or nowhere to keep them.
    pub(crate) checkpointing: Option<Checkpointing>,
    /// How often a server has begun on these data, this one included.
    pub(crate) starts: u64,
    pub(crate) found: Found,
}

/// What is needed to write checkpoints while the data are used.
pub(crate) struct Checkpointing {
    pub(crate) writer: Stores,
    /// Of the log, which is trimmed when checkpoints stand for its beginning.
    pub(crate) log: Folder,
    /// How often a server has begun on these data, this one included.
    pub(crate) starts: u64,
    /// Of the log, that no checkpoint stands for yet.
    pub(crate) log_bytes: u64,
}

/// What was there, for who starts the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing is kept, so nothing is found.
    Memory,
    /// A folder, which is new.
    New { folder: PathBuf },
    /// A folder with data.
    Kept {
        folder: PathBuf,
        databases: u64,
        commits: u64,
        /// Whether a checkpoint stood for the beginning of the log.
        has_checkpoint: bool,
        log_bytes: u64,
        sessions: u64,
        is_stopped: bool,
        took: Duration,
    },
}

/// Why the data cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// Somebody else does.
    #[error("the data in `{}` are in use by another hearth; end it, or take another folder with `--data DIR`", .folder.display())]
    InUse {
        /// Where.
        folder: PathBuf,
    },
    /// It holds something else.
    #[error("`{}` holds `{name}` and no data of hearth; `--data DIR` takes an empty folder, or one that hearth has made", .folder.display())]
    Foreign {
        /// Where.
        folder: PathBuf,
        /// The first name there.
        name: String,
    },
    /// What says that it has data is gone.
    #[error("the data in `{}` cannot be used: `{FORMAT}` is missing, and there is a log; {PUT_BACK}", .folder.display())]
    NoFormat {
        /// Where.
        folder: PathBuf,
    },
    /// It cannot be read or written.
    #[error("`{}` cannot be used for data: {error}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Somebody has changed `format`, or another program has.
    #[error("the data in `{}` cannot be used: `{FORMAT}` says `{found}`, and this program knows `hearth data {VERSION_MIN}` to `hearth data {VERSION}`", .folder.display())]
    Format {
        /// Where.
        folder: PathBuf,
        /// Its first line.
        found: String,
    },
    /// The log cannot be read.
    #[error("the data in `{}` cannot be used: {error}", .folder.display())]
    Log {
        /// Where.
        folder: PathBuf,
        /// What is wrong.
        error: LogMistake,
    },
    /// What the log began with was trimmed, and there is nothing in its place.
    #[error("the data in `{}` cannot be used: the log begins with group {first} in `log/{file}`, and no checkpoint stands for all before that: {reasons}; {PUT_BACK}", .folder.display())]
    NoCheckpoint {
        /// Where.
        folder: PathBuf,
        /// The first file of the log.
        file: String,
        /// What it begins with.
        first: u64,
        /// What is wrong with the checkpoints.
        reasons: String,
    },
    /// The other store cannot be filled.
    #[error("the checkpoints in `{}` cannot be moved to the store `{store}`: {reason}; they are still what they were", .folder.display())]
    Convert {
        /// Where.
        folder: PathBuf,
        /// What `--store` says.
        store: StoreKind,
        /// What it says.
        reason: String,
    },
    /// The log cannot be written.
    #[error("the data in `{}` cannot be used: {error}", .folder.display())]
    Unwritable {
        /// Where.
        folder: PathBuf,
        /// What the system says.
        error: LogError,
    },
}

/// What is wrong with a log.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct LogMistake(Box<RecoverError>);

impl Data {
    /// Data that end with the process.
    pub(crate) fn in_memory() -> Self {
        let log = Box::new(MemoryLog);
        let databases = BTreeMap::new();
        Self { lock: None, log, databases, checkpointing: None, starts: 0, found: Found::Memory }
    }

    /// Opens a folder of data, made if it is not there: reads the newest checkpoint that can be read and the log behind it,
    /// and makes the writes that were armed for the end of sessions, which have all ended. Checkpoints move to `store`, if
    /// they are in another one, and are written for so much log.
    ///
    /// # Errors
    /// [`DataError`]. What was kept is kept then; unless the log could not be written, nothing was changed at all.
    pub(crate) fn open(
        folder: &Path,
        door: Door,
        now_ms: i64,
        store: Option<StoreKind>,
        checkpoint_log: CheckpointLog,
    ) -> Result<Self, DataError> {
        let place = Place(folder);
        let sizes = Sizes::between(checkpoint_log);
        make_folder(folder).map_err(|error| {
            let is_file = folder.exists() && !folder.is_dir();
            let words =
                || io::Error::new(ErrorKind::NotADirectory, "it is a file, and `--data DIR` names a folder");
            place.io(".", if is_file { words() } else { error })
        })?;
        if place.format()?.is_none() {
            place.check_empty()?;
        }
        let lock = place.lock()?;
        let began = Instant::now();
        // Read again: until now it could still be made by another process.
        let (Format { id, version }, is_new) = match place.format()? {
            None => (Format { id: place.make(sizes)?, version: VERSION }, true),
            Some(format) => (format, false),
        };
        let Begun { mut log, log_bytes, mut replay, mut checkpoints, has_checkpoint } =
            place.begin(id, door, store, sizes)?;
        if version < VERSION {
            // Before anything is written that an older program would not know.
            place.write_format(id).map_err(|error| place.io(FORMAT, error))?;
        }
        let unwritable = |error| DataError::Unwritable { folder: folder.into(), error };
        let is_stopped = replay.is_stopped;
        let starts = replay.starts + 1;
        log.start(starts).map_err(unwritable)?;
        let mut step = LogStep::new(log);
        let sessions = replay.end_sessions(now_ms, &mut step).map_err(unwritable)?;
        let log = step.into_log();
        if let Some(store) = store.filter(|&store| checkpoints.is_in_another(store)) {
            let captured = replay.databases.iter().map(|(&id, kept)| (id, kept.captured())).collect();
            let converted =
                checkpoints.convert(store, log.position(), Capture { starts, databases: captured });
            converted.map_err(|reason| DataError::Convert { folder: folder.into(), store, reason })?;
        }
        let (databases, commits) = (replay.databases, replay.commits);
        let checkpointing = checkpoints.into_stores().map(|writer| Checkpointing {
            writer,
            log: Folder::new(folder.join(LOG)),
            starts,
            log_bytes,
        });
        let found = if is_new {
            Found::New { folder: folder.into() }
        } else {
            Found::Kept {
                folder: folder.into(),
                databases: databases.len() as u64,
                commits,
                has_checkpoint,
                log_bytes,
                sessions: sessions as u64,
                is_stopped,
                took: began.elapsed(),
            }
        };
        Ok(Self { lock: Some(lock), log: Box::new(log), databases, checkpointing, starts, found })
    }
}

/// Data that were read.
struct Begun {
    log: SegmentLog<Folder>,
    log_bytes: u64,
    replay: Replay,
    checkpoints: Checkpoints,
    has_checkpoint: bool,
}

/// What a folder says that it is.
pub(super) struct Format {
    /// Which log belongs to it.
    id: LogId,
    version: u32,
}

/// A folder of data, before it is known whether it is one.
#[derive(Clone, Copy)]
pub(super) struct Place<'a>(pub(super) &'a Path);

impl Place<'_> {
    pub(super) fn io(self, name: &str, error: io::Error) -> DataError {
        DataError::Io { path: if name == "." { self.0.into() } else { self.0.join(name) }, error }
    }

    /// What it says that it is; nothing, if it is no folder of data yet.
    pub(super) fn format(self) -> Result<Option<Format>, DataError> {
        let text = match fs::read_to_string(self.0.join(FORMAT)) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.io(FORMAT, error)),
        };
        let format = (VERSION_MIN..=VERSION).find_map(|version| {
            let id = text.strip_prefix(&format!("hearth data {version}\nlog "))?.strip_suffix('\n')?;
            Some(Format { id: LogId::of_hex(id)?, version })
        });
        let found = || text.lines().next().unwrap_or_default().chars().take(80).collect();
        format.map(Some).ok_or_else(|| DataError::Format { folder: self.0.into(), found: found() })
    }

    /// Nothing may be there but what is left where making it was interrupted.
    pub(super) fn check_empty(self) -> Result<(), DataError> {
        let foreign = |name: String| DataError::Foreign { folder: self.0.into(), name };
        let log = match names(&self.0.join(LOG)) {
            Ok(names) => names,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(self.io(LOG, error)),
        };
        for name in log.iter().filter(|name| *name != UNFINISHED) {
            if sequence_of(name).is_none() {
                return Err(foreign(format!("{LOG}/{name}")));
            }
            if *name != name_of(1) || self.is_used(name)? {
                return Err(DataError::NoFormat { folder: self.0.into() });
            }
        }
        let ours = |name: &str| name == LOCK || name == FORMAT_UNFINISHED || name == LOG;
        let mut names = names(self.0).map_err(|error| self.io(".", error))?.into_iter();
        match names.find(|name| !ours(name) && !NOT_OURS.contains(&&**name)) {
            None => Ok(()),
            Some(name) => Err(foreign(name)),
        }
    }

    /// Whether something was ever appended to a segment.
    fn is_used(self, name: &str) -> Result<bool, DataError> {
        let name = format!("{LOG}/{name}");
        let segment = fs::read(self.0.join(&name)).map_err(|error| self.io(&name, error))?;
        Ok(segment.iter().skip(HEAD_BYTES).any(|&byte| byte != 0))
    }

    pub(super) fn lock(self) -> Result<File, DataError> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(FILE_MODE);
        let file = options.open(self.0.join(LOCK)).map_err(|error| self.io(LOCK, error))?;
        match file.try_lock() {
            Ok(()) => Ok(file),
            Err(TryLockError::WouldBlock) => Err(DataError::InUse { folder: self.0.into() }),
            Err(TryLockError::Error(error)) => Err(self.io(LOCK, error)),
        }
    }

    /// Reads the newest checkpoint that can be read, and the log behind it; without any, the whole log.
    fn begin(
        self,
        id: LogId,
        door: Door,
        store: Option<StoreKind>,
        sizes: Sizes,
    ) -> Result<Begun, DataError> {
        let mut checkpoints = Checkpoints::open(self.0.join(CHECKPOINTS), id, store)
            .map_err(|error| self.io(CHECKPOINTS, error))?;
        let restored = checkpoints.restore();
        let has_checkpoint = restored.is_some();
        let (mut replay, position) = match restored {
            None => (Replay::new(door), None),
            Some(Restored { position, starts, databases }) => {
                let kept =
                    databases.into_iter().map(|(id, captured)| (id, Kept::new(captured, door.clone())));
                let kept = kept.collect();
                (Replay::resume(door, starts, kept), Some(position))
            }
        };
        let files = Folder::new(self.0.join(LOG));
        let see = |record| replay.see(record);
        let reached = position.map(|position| position.sequence);
        let recovered = match position {
            None => recover(files, id, sizes, see),
            Some(position) => recover_behind(files, id, sizes, position, see),
        };
        let Recovered { log, bytes, cut } = recovered.map_err(|error| {
            let folder = self.0.into();
            if let RecoverError::NoBeginning { file, first } = error {
                let reasons = checkpoints.missing(reached);
                DataError::NoCheckpoint { folder, file, first, reasons }
            } else {
                DataError::Log { folder, error: LogMistake(error.into()) }
            }
        })?;
        if let Some(cut) = &cut {
            tracing::warn!(
                file = %self.0.join(LOG).join(&cut.file).display(),
                at = cut.at,
                bytes = cut.bytes,
                "the last group of the log was never finished, so nobody was told of it; it is cut"
            );
        }
        // Everything is there without what could not be read.
        checkpoints.renew();
        replay.understand_rules();
        Ok(Begun { log, log_bytes: bytes, replay, checkpoints, has_checkpoint })
    }

    /// An empty log, and the file that says that there is one.
    fn make(self, sizes: Sizes) -> Result<LogId, DataError> {
        let log = self.0.join(LOG);
        make_folder(&log).map_err(|error| self.io(LOG, error))?;
        let id = random_number().map_err(|error| self.io(FORMAT, error.into()))?;
        let id = LogId(id.to_be_bytes());
        SegmentLog::begin(Folder::new(log), id, sizes).map_err(|error| self.io(LOG, error))?;
        self.write_format(id).map_err(|error| self.io(FORMAT, error))?;
        Ok(id)
    }

    pub(super) fn write_format(self, id: LogId) -> io::Result<()> {
        let unfinished = self.0.join(FORMAT_UNFINISHED);
        let mut options = OpenOptions::new();
        let mut file = options.write(true).create(true).truncate(true).mode(FILE_MODE).open(&unfinished)?;
        write!(file, "hearth data {VERSION}\nlog {}\n", id.to_hex())?;
        file.sync_all()?;
        fs::rename(unfinished, self.0.join(FORMAT))?;
        sync_folder(self.0)?;
        // The folder itself is a name in the one above.
        sync_folder(self.0.canonicalize()?.parent().unwrap_or(self.0))
    }
}

fn names(folder: &Path) -> io::Result<Vec<String>> {
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names = fs::read_dir(folder)?.map(name).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}
