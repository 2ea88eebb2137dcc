//! One request, one answer: a write, or other rules, of somebody who has no connection.

use super::changes::edits_of;
use crate::database::{Database, Stopped};
use crate::log::Staged;
use crate::threads::{SessionMessage, outbox};
use hearth_engine::{
    Accepted, Act, Answer, Delivery, Identity, Item, Listen, Refusal, Request, SessionId, Ticket,
};
use hearth_tree::{Change, Path, Query, Snapshot};

/// Deliveries that wait. Full, it is told one difference instead.
const OUTBOX: usize = 16;
const LISTEN: Ticket = Ticket(0);
const WRITE: Ticket = Ticket(1);

/// What is to be decided, and for whom.
pub(super) struct Exchange {
    pub(super) database: Database,
    /// Never used before.
    pub(super) session: SessionId,
    pub(super) identity: Identity,
    pub(super) act: Act,
    /// What of it is on the disk already.
    pub(super) staged: Option<Staged>,
    /// Where to look what the write has made of the place.
    pub(super) watched: Option<Path>,
}

/// What became of it.
pub(super) type Outcome = Result<Done, Refusal>;

/// Something that was accepted.
pub(super) struct Done {
    pub(super) accepted: Accepted,
    /// The tree as it left it, as far as it was watched.
    pub(super) seen: Snapshot,
}

impl Exchange {
    /// Has it decided, and returns when the outcome is published. In a task of its own: a client that goes away in the
    /// midst must not leave its session behind.
    ///
    /// # Errors
    /// [`Stopped`] at the end of the server.
    pub(super) async fn run(self) -> Result<Outcome, Stopped> {
        tokio::spawn(self.run_here()).await.unwrap_or(Err(Stopped))
    }

    async fn run_here(self) -> Result<Outcome, Stopped> {
        let Self { database, session, identity, act, staged, watched } = self;
        let (outbox, mut deliveries) = outbox(OUTBOX);
        // What it watches is what its own write has made, which it may know even if it may not read.
        database.open(session, Identity::Admin, outbox).await?;
        if let Some(at) = watched {
            // The publisher takes this before anything that is decided later.
            let listen =
                Listen { at, query: Query::EVERYTHING, tag: None, known: None, held: None, left: None };
            database.tell(session, SessionMessage::Listen(LISTEN, Box::new(listen))).await?;
        }
        if let Some(staged) = &staged {
            staged.asked_by(session, WRITE);
        }
        let takes_turns = matches!(act, Act::WriteIf { .. });
        let request = Request { session, ticket: Some(WRITE), identity: identity.clone(), act };
        database.decide(request).await?;
        let mut seen = Snapshot::default();
        let outcome = loop {
            let delivery = deliveries.next().await.ok_or(Stopped)?;
            if let Some(outcome) = follow(delivery, &mut seen) {
                break outcome.map(|accepted| Done { accepted, seen });
            }
            if deliveries.has_caught_up() {
                database.tell(session, SessionMessage::Drained).await?;
            }
        };
        if let Some(staged) = staged {
            database.let_go(staged);
        }
        if takes_turns {
            // Nobody will come back under this name to use a turn that was kept for it.
            database.decide(Request { session, ticket: None, identity, act: Act::End }).await?;
        }
        database.tell(session, SessionMessage::Close).await?;
        Ok(outcome)
    }
}

/// Keeps up with what is told, and says what became of the write when that comes.
fn follow(delivery: Delivery, seen: &mut Snapshot) -> Option<Result<Accepted, Refusal>> {
    for item in delivery.items {
        match item {
            Item::Push(push) => {
                let change = Change::new(edits_of(&push.body)).expect("the parts of one body lie apart");
                *seen = seen.apply(&change);
            }
            Item::Answer(Answer::Write(WRITE, outcome)) => return Some(outcome),
            // An admin is refused nothing.
            Item::Answer(Answer::Write(..) | Answer::Listen(..) | Answer::Read(..)) | Item::Revoked(_) => {}
        }
    }
    None
}
