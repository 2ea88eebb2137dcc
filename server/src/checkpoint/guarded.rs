//! A store whose panics are errors: some damage makes the crates panic, and a checkpoint that cannot be used is no reason
//! to end.
//!
//! Why not `catch_unwind` alone: fjall, opened on some damage, panics with a lock in its hand, and panics again over that
//! lock while it is unwound, which aborts the process. So it is opened on a thread that stops where it panics, and is
//! neither unwound nor used any more. What has panicked later is not dropped, for the same reason.

use super::store::{Batch, Store, StoreError};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::mem;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Told why a thread has stopped.
type Tell = Box<dyn FnOnce(StoreError)>;

thread_local! {
    /// Whom the hook tells of a panic of this thread, before it stops it.
    static STOPS: RefCell<Option<Tell>> = const { RefCell::new(None) };
    /// Whether a panic of this thread is caught and told as an error, so that nobody need see it.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Not used any more after the first panic.
pub(super) struct Guarded<S> {
    /// There until it is dropped.
    store: Option<S>,
    has_panicked: Cell<bool>,
}

impl<S: Store + 'static> Guarded<S> {
    /// Opens a store.
    pub(super) fn open(
        open: impl FnOnce() -> Result<S, StoreError> + Send + 'static,
    ) -> Result<Self, StoreError> {
        install_hook();
        let (tell, told) = sync_channel(1);
        let opening = move || {
            let stopped = tell.clone();
            // Whoever asked waits for it.
            STOPS.set(Some(Box::new(move |error| drop(stopped.send(Err(error))))));
            let opened = open();
            STOPS.take();
            drop(tell.send(opened));
        };
        thread::Builder::new().name("store".into()).spawn(opening)?;
        let opened = told.recv().unwrap_or_else(|_| Err(failed(&())));
        Ok(Self { store: Some(opened?), has_panicked: Cell::new(false) })
    }
}

impl<S> Guarded<S> {
    fn store(&self) -> &S {
        self.store.as_ref().expect("it is there until it is dropped")
    }

    fn caught<T>(
        has_panicked: &Cell<bool>,
        act: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        IS_CAUGHT.set(true);
        let done = panic::catch_unwind(AssertUnwindSafe(act));
        IS_CAUGHT.set(false);
        done.unwrap_or_else(|panic| {
            has_panicked.set(true);
            Err(failed(&*panic))
        })
    }
}

impl<S: Store> Store for Guarded<S> {
    fn write(&mut self, batch: Batch) -> Result<(), StoreError> {
        let store = self.store.as_mut().expect("it is there until it is dropped");
        Self::caught(&self.has_panicked, || store.write(batch))
    }

    fn sync(&mut self) -> Result<(), StoreError> {
        let store = self.store.as_mut().expect("it is there until it is dropped");
        Self::caught(&self.has_panicked, || store.sync())
    }

    fn get(&self, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        Self::caught(&self.has_panicked, || self.store().get(key))
    }

    fn keys(&self, see: &mut dyn FnMut(&[u8])) -> Result<(), StoreError> {
        Self::caught(&self.has_panicked, || self.store().keys(see))
    }
}

impl<S> Drop for Guarded<S> {
    fn drop(&mut self) {
        let store = self.store.take();
        if self.has_panicked.get() {
            mem::forget(store);
            return;
        }
        let closed = Self::caught(&self.has_panicked, || {
            drop(store);
            Ok(())
        });
        if let Err(error) = closed {
            tracing::warn!(%error, "a store could not be closed");
        }
    }
}

/// Panics elsewhere are told as before.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if let Some(tell) = STOPS.take() {
                tell(failed(info.payload()));
                loop {
                    thread::park();
                }
            }
            if !IS_CAUGHT.get() {
                before(info);
            }
        }));
    });
}

fn failed(panic: &(dyn Any + Send)) -> StoreError {
    let text = panic.downcast_ref::<&str>().copied().or(panic.downcast_ref::<String>().map(String::as_str));
    let words = text.unwrap_or("nobody knows why").split_whitespace().collect::<Vec<_>>().join(" ");
    StoreError(format!("it failed: {words}"))
}
