//! A store on a thread of its own, which may fail in any way.
//!
//! Why: sled waits for ever for a file that it could not write. That is no reason to wait with it: a store that does not
//! answer has failed, and is left alone with its thread.

use super::anchors::Anchors;
use super::store::{Batch, Store, StoreError};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// How long a store may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// To open, which reads what it has.
    pub(super) open: Duration,
    /// For one call, and to close.
    pub(super) call: Duration,
}

impl Patience {
    /// A disk that is busy syncs some hundred megabytes meanwhile.
    pub(super) const DEFAULT: Self = Self { open: Duration::from_secs(600), call: Duration::from_secs(30) };
}

/// Each store that does not answer keeps its memory. So many of them are left alone in one process.
const ABANDONED_MAX: usize = 4;
static ABANDONED: AtomicUsize = AtomicUsize::new(0);

type Call<S> = Box<dyn FnOnce(&mut S) + Send>;

/// A store by its calls. What it syncs counts only while its files are in their place.
pub(super) struct Apart<S> {
    /// There until it is dropped.
    calls: Option<Sender<Call<S>>>,
    /// Ends when the store is closed.
    closed: Receiver<()>,
    /// A call was given up.
    is_silent: Cell<bool>,
    patience: Patience,
    anchors: Anchors,
}

impl<S: Store + 'static> Apart<S> {
    /// Opens a store; `lasting` are those of its files that stay as long as it does.
    pub(super) fn open(
        folder: &Path,
        lasting: &[&str],
        patience: Patience,
        open: impl FnOnce(PathBuf) -> Result<S, StoreError> + Send + 'static,
    ) -> Result<Box<dyn Store>, StoreError> {
        if ABANDONED_MAX <= ABANDONED.load(Ordering::Relaxed) {
            let said =
                format!("{ABANDONED_MAX} stores have stopped answering, and only a restart tries again");
            return Err(StoreError(said));
        }
        let (calls, inbox) = channel::<Call<S>>();
        let (open_tell, opened) = channel();
        let (closing, closed) = channel::<()>();
        let own = folder.to_owned();
        let run = move || {
            match open(own) {
                Ok(mut store) => {
                    // Whoever has asked may have given up meanwhile: then there are no calls either.
                    drop(open_tell.send(Ok(())));
                    inbox.iter().for_each(|call| call(&mut store));
                }
                Err(error) => drop(open_tell.send(Err(error))),
            }
            drop(closing);
        };
        thread::Builder::new().name("store".into()).spawn(run)?;
        opened.recv_timeout(patience.open).unwrap_or_else(|_| {
            leave_alone();
            Err(silent(patience.open))
        })?;
        let anchors = Anchors::of(folder, lasting)?;
        Ok(Box::new(Self { calls: Some(calls), closed, is_silent: Cell::new(false), patience, anchors }))
    }

    fn call<T: Send + 'static>(
        &self,
        act: impl FnOnce(&mut S) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = channel();
        let call: Call<S> = Box::new(move |store| {
            // Who has given up does not want to know.
            drop(tell.send(act(store)));
        });
        let calls = self.calls.as_ref().expect("it is there until it is dropped");
        calls.send(call).map_err(|_| StoreError("it has ended".into()))?;
        let answered = told.recv_timeout(self.patience.call);
        self.is_silent.set(answered.is_err());
        answered.unwrap_or_else(|_| Err(silent(self.patience.call)))
    }
}

impl<S: Store + 'static> Store for Apart<S> {
    fn write(&mut self, batch: Batch) -> Result<(), StoreError> {
        self.call(|store| store.write(batch))
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        self.call(S::sync)?;
        self.anchors.check()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let key = key.to_owned();
        self.call(move |store| store.get(&key))
    }

    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        let keys = self.call(|store| {
            let mut keys = Vec::new();
            store.keys(&mut |key| keys.push(key.to_owned()))?;
            Ok(keys)
        })?;
        keys.iter().for_each(|key| see(key));
        Ok(())
    }
}

impl<S> Drop for Apart<S> {
    /// Returns when it is closed: then its folder can be opened again, or removed.
    fn drop(&mut self) {
        drop(self.calls.take());
        let patience = if self.is_silent.get() { Duration::ZERO } else { self.patience.call };
        if self.closed.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
            leave_alone();
        }
    }
}

fn leave_alone() {
    ABANDONED.fetch_add(1, Ordering::Relaxed);
    tracing::warn!("a store of checkpoints does not answer, and is left alone");
}

fn silent(patience: Duration) -> StoreError {
    let seconds = patience.as_secs();
    StoreError(format!(
        "their store has not answered for {seconds} s; if it goes on like this, only a restart helps"
    ))
}
