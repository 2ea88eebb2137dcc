//! Sessions by the name that their client knows, so that a client that comes back can end its old one.
//!
//! Why: where a network has changed, the old connection may look alive for minutes. Its armed writes ("offline") would
//! then come after those of the new one ("online"). So they are made before the new one is served (wire reference 10.3).

use dashmap::DashMap;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Notify, watch};

/// The living sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_name: DashMap<Arc<str>, Arc<Life>>,
    /// Becomes true at the end of the server. Who has something to finish until then holds a [`Stay`].
    closing: watch::Sender<bool>,
}

/// Keeps the server from ending, and tells when it wants to.
#[derive(Debug)]
pub(crate) struct Stay(watch::Receiver<bool>);

impl Stay {
    /// Returns when the server wants to end.
    pub(crate) async fn closing(&mut self) {
        // Without a server it has ended, too.
        drop(self.0.wait_for(|&is_closing| is_closing).await);
    }
}

/// What is shared of a session's life. As little as will do: there are as many as connections.
#[derive(Debug, Default)]
struct Life {
    stop: Notify,
    is_ended: AtomicBool,
    ended: Notify,
}

impl Life {
    async fn ended(&self) {
        let mut ended = pin!(self.ended.notified());
        // Before the look, so that an end after it is noticed.
        ended.as_mut().enable();
        if !self.is_ended.load(Ordering::Acquire) {
            ended.await;
        }
    }
}

/// A session's own end of it. Dropped when the session is over.
#[derive(Debug)]
pub(crate) struct Entry {
    sessions: Arc<Sessions>,
    name: Arc<str>,
    life: Arc<Life>,
}

impl Sessions {
    /// A session begins.
    pub(crate) fn enter(self: &Arc<Self>, name: &str) -> Entry {
        let (name, life) = (Arc::<str>::from(name), Arc::<Life>::default());
        self.by_name.insert(name.clone(), life.clone());
        Entry { sessions: self.clone(), name, life }
    }

    /// Ends a session, if it lives, and returns when its armed writes are made.
    pub(crate) async fn end(&self, name: &str) {
        let Some(life) = self.by_name.get(name).map(|life| life.clone()) else { return };
        life.stop.notify_one();
        // It ends too where its task is gone.
        life.ended().await;
    }

    /// Lets somebody finish what they do before the server ends.
    pub(crate) fn stay(&self) -> Stay {
        Stay(self.closing.subscribe())
    }

    /// Tells everybody that the server ends, and returns when all have finished.
    pub(crate) async fn close(&self) {
        self.closing.send_replace(true);
        self.closing.closed().await;
    }
}

impl Entry {
    /// Somebody asks for the end of this session.
    pub(crate) async fn stopped(&self) {
        self.life.stop.notified().await;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.sessions.by_name.remove(&self.name);
        self.life.is_ended.store(true, Ordering::Release);
        self.life.ended.notify_waiters();
    }
}
