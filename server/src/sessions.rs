//! Sessions by the name that their client knows, so that a client that comes back can end its old one.
//!
//! Why: where a network has changed, the old connection may look alive for minutes. Its armed writes ("offline") would
//! then come after those of the new one ("online"). So they are made before the new one is served (wire reference 10.3).

use dashmap::DashMap;
use std::sync::Arc;
use tokio::sync::{Notify, watch};

/// The living sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_name: DashMap<String, Living>,
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

#[derive(Clone, Debug)]
struct Living {
    stop: Arc<Notify>,
    ended: watch::Receiver<bool>,
}

/// A session's own end of it. Dropped when the session is over.
#[derive(Debug)]
pub(crate) struct Entry {
    sessions: Arc<Sessions>,
    name: String,
    stop: Arc<Notify>,
    ended: watch::Sender<bool>,
}

impl Sessions {
    /// A session begins.
    pub(crate) fn enter(self: &Arc<Self>, name: &str) -> Entry {
        let (ended, is_ended) = watch::channel(false);
        let stop = Arc::new(Notify::new());
        self.by_name.insert(name.into(), Living { stop: stop.clone(), ended: is_ended });
        Entry { sessions: self.clone(), name: name.into(), stop, ended }
    }

    /// Ends a session, if it lives, and returns when its armed writes are made.
    pub(crate) async fn end(&self, name: &str) {
        let Some(Living { stop, mut ended }) = self.by_name.get(name).map(|living| living.clone()) else {
            return;
        };
        stop.notify_one();
        // It has ended too if its task is gone.
        drop(ended.wait_for(|&ended| ended).await);
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
        self.stop.notified().await;
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.sessions.by_name.remove(&self.name);
        self.ended.send_replace(true);
    }
}
