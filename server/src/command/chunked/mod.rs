//! `hearth import --chunked`: a file of any length, written in steps.
//!
//! Why steps: what is written at once is held at once, by the server and whatever stands before it, and an import that is cut
//! begins again. Each step is an update of its own, whole or not at all; how far the file is written is noted behind each, and
//! who comes back passes over that.

mod fault;
mod steps;
mod text;
mod written;

#[cfg(test)]
mod tests;

pub(super) use fault::Fault;
pub use fault::Faulty;
pub use written::Unresumable;

use super::import::{Opened, named};
use super::remote::Remote;
use super::transfer::{Progress, TransferError};
use hearth_tree::{ReadOptions, read_node};
use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use steps::{Step, Steps};
use ureq::SendBody;
use written::{Source, Written};

const WRITES: &str = "print=silent&writeSizeLimit=unlimited";
const MEGABYTE: f64 = 1e6;
const STEP_MB_MIN: f64 = 0.001;
const STEP_MB_MAX: f64 = 64.0;

/// The option for how long a step is.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in bounds")]
pub(super) fn step_bytes(megabytes: &str) -> Result<usize, String> {
    let found: Option<f64> = megabytes.parse().ok();
    let found = found.filter(|megabytes| (STEP_MB_MIN..=STEP_MB_MAX).contains(megabytes));
    found.map(|megabytes| (megabytes * MEGABYTE) as usize).ok_or_else(|| {
        format!("so many megabytes make no step; {STEP_MB_MIN} to {STEP_MB_MAX} do, and 8 if nothing is said")
    })
}

/// How to do it.
pub(super) struct Chunked {
    pub(super) step_bytes: usize,
    /// Whether what is there is removed.
    pub(super) force: bool,
    pub(super) progress_file: Option<PathBuf>,
}

/// Writes a file, which is opened again where it is read from its beginning again. How long its text is, and who tells how far
/// it is.
pub(super) fn import(remote: &Remote, file: &Path, how: Chunked) -> Result<(u64, Progress), TransferError> {
    let Chunked { step_bytes, force, progress_file } = how;
    let notes = match progress_file {
        Some(notes) => notes,
        None if file == Path::new("-") => return Err(TransferError::NoProgressFile),
        None => {
            let mut notes = file.as_os_str().to_owned();
            notes.push(".import-progress");
            notes.into()
        }
    };
    let open = || -> Result<_, TransferError> {
        let Opened { text, metadata, progress } = Opened::open(file)?;
        let steps = Steps::new(text, step_bytes, remote.depth());
        let faulty = |error| TransferError::NotImported { file: named(file), error: Box::new(error) };
        let steps = steps.map_err(|error| faulty(TransferError::Faulty(Box::new(error))))?;
        Ok((steps, Source::new(remote.place(), metadata.as_ref()), progress))
    };
    let (mut steps, source, mut progress) = open()?;
    let mut import = Import { remote, file, notes, written: Written::nothing(source.clone()) };
    match Written::read(&import.notes)? {
        None => import.begin(force)?,
        // Nothing is known to be written, so it does not matter of what.
        Some(before) if before.text_bytes == 0 && before.is_of(&source).is_err() => import.begin(force)?,
        Some(before) => {
            import.written = before;
            match import.pass(&mut steps, &source)? {
                Ok(()) => {}
                // Standard input cannot be read from its beginning again.
                Err(_) if force && file != Path::new("-") => {
                    drop(steps);
                    (steps, _, progress) = open()?;
                    import.written = Written::nothing(source);
                    import.begin(true)?;
                }
                Err(why) => return Err(import.unresumable(why)),
            }
        }
    }
    import.go_on(&mut steps)?;
    Written::remove(&import.notes)?;
    let text_bytes = steps.position();
    drop(steps);
    let progress = Rc::into_inner(progress).map(RefCell::into_inner);
    Ok((text_bytes, progress.expect("whoever reads is dropped")))
}

struct Import<'i> {
    remote: &'i Remote,
    file: &'i Path,
    /// The file that says how far it is.
    notes: PathBuf,
    written: Written,
}

impl Import<'_> {
    /// Looks at the place, before anything is written.
    fn begin(&self, force: bool) -> Result<(), TransferError> {
        if force {
            self.remote.put(WRITES, SendBody::from_reader(&mut &b"null"[..]))?;
        } else if !self.remote.is_empty()? {
            return Err(TransferError::NotEmpty { place: self.remote.place() });
        }
        self.written.keep(&self.notes)
    }

    /// Passes over what is written, if it is what the file has and what is there.
    fn pass<R: Read>(
        &self,
        steps: &mut Steps<R>,
        source: &Source,
    ) -> Result<Result<(), Unresumable>, TransferError> {
        if let Err(why) = self.written.is_of(source) {
            return Ok(Err(why));
        }
        let bytes = self.written.text_bytes;
        if bytes == 0 {
            return Ok(Ok(()));
        }
        let last =
            steps.pass_to(bytes).map_err(|error| self.stopped(TransferError::Faulty(Box::new(error))))?;
        let Some(last) = last.filter(|_| steps.sum() == self.written.sum) else {
            return Ok(Err(Unresumable::Text { bytes }));
        };
        if let Some((path, value)) = last.last()
            && let Ok(written) = read_node(value, &ReadOptions::default())
        {
            let found = self.remote.get_below(path)?;
            if read_node(&found, &ReadOptions::default()).ok() != Some(written) {
                return Ok(Err(Unresumable::Place { path: path.into() }));
            }
        }
        let passed = self.written.to_string();
        // With no standard error there is nobody to tell.
        drop(writeln!(io::stderr(), "going on behind {passed}, which is written"));
        Ok(Ok(()))
    }

    fn go_on<R: Read>(&mut self, steps: &mut Steps<R>) -> Result<(), TransferError> {
        while let Some(step) = self.read(steps)? {
            self.write(&step).map_err(|error| self.stopped(error))?;
            self.written.add(steps.position(), steps.sum());
            self.written.keep(&self.notes)?;
        }
        Ok(())
    }

    fn read<R: Read>(&self, steps: &mut Steps<R>) -> Result<Option<Step>, TransferError> {
        let read = steps.next_step();
        if read.is_err() && self.written.text_bytes == 0 {
            Written::remove(&self.notes)?;
        }
        read.map_err(|error| self.stopped(TransferError::Faulty(Box::new(error))))
    }

    fn write(&self, step: &Step) -> Result<(), TransferError> {
        let body = step.body();
        match step {
            Step::Whole(_) => self.remote.put(WRITES, SendBody::from_reader(&mut &*body)).map(drop),
            Step::Part { places, .. } if places.is_empty() => Ok(()),
            Step::Part { places, .. } => self.remote.patch(WRITES, &body).map(drop).map_err(|error| {
                let name = |place: Option<&(String, _)>| place.map(|(path, _)| format!("/{path}"));
                let (first, last) = (name(places.first()), name(places.last()));
                let error = Box::new(error);
                TransferError::Step {
                    first: first.unwrap_or_default(),
                    last: last.unwrap_or_default(),
                    error,
                }
            }),
        }
    }

    fn stopped(&self, error: TransferError) -> TransferError {
        let (file, error) = (named(self.file), Box::new(error));
        if self.written.text_bytes == 0 {
            return TransferError::NotImported { file, error };
        }
        TransferError::InPart { file, written: self.written.to_string(), error }
    }

    fn unresumable(&self, why: Unresumable) -> TransferError {
        let (file, notes) = (named(self.file), self.notes.clone());
        let why = Box::new(why);
        TransferError::Unresumable { file, notes, written: self.written.to_string(), why }
    }
}
