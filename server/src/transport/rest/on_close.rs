//! What a stream leaves behind: a write that is made when its client has gone, as onDisconnect is for an SDK. So devices that
//! know nothing but HTTP can say that they are away. Beyond the official service.

use super::Asked;
use super::refused::Refused;
use crate::database::{Database, Stopped};
use crate::threads::{Inbox, SessionMessage};
use hearth_engine::{Act, Answer, Identity, Item, Refusal, Request, SessionId, Ticket};
use hearth_tree::{Path, ReadOptions, Write, read_update};

/// The parameter: an object, whose keys are places of the database and whose values are what is to be there.
const PARAM: &str = "onClose";
const ARM: Ticket = Ticket(1);
const MAKE: Ticket = Ticket(2);

/// The write that a request wants to leave behind.
pub(super) fn on_close_of<T>(asked: &Asked<T>) -> Result<Option<Write>, Refused> {
    // curl and forms write a space as `+`.
    let Some(text) = asked.params.query_text(PARAM)? else { return Ok(None) };
    let update = read_update(text.as_bytes(), &Path::root(), &ReadOptions::default());
    update
        .map(|update| Some(Write::Update(update)))
        .map_err(|error| Refused::bad(format!("{PARAM}: {error}")))
}

/// Refuses it where nothing would be left behind.
pub(super) fn needs_stream<T>(asked: &Asked<T>) -> Result<(), Refused> {
    match asked.params.text(PARAM)? {
        None => Ok(()),
        Some(_) => Err(Refused::bad(format!("{PARAM} needs an event stream: Accept: text/event-stream"))),
    }
}

/// A session that leaves something behind, while it listens to nothing.
pub(super) struct Leaving<'a> {
    pub(super) database: &'a Database,
    pub(super) session: SessionId,
    pub(super) deliveries: &'a mut Inbox,
}

impl Leaving<'_> {
    /// Arms the write. It is judged now, and again when it is made.
    pub(super) async fn arm(self, identity: Identity, write: Write) -> Result<Result<(), Refusal>, Stopped> {
        self.decide(ARM, identity, Act::Arm(write)).await
    }

    /// Makes what was armed.
    pub(super) async fn make(self, identity: Identity) -> Result<(), Stopped> {
        match self.decide(MAKE, identity, Act::End).await? {
            Ok(()) => {}
            // Whoever it would be told has gone.
            Err(refusal) => tracing::debug!(%refusal, "what a stream has left behind could not be made"),
        }
        Ok(())
    }

    async fn decide(
        self,
        ticket: Ticket,
        identity: Identity,
        act: Act,
    ) -> Result<Result<(), Refusal>, Stopped> {
        let Self { database, session, deliveries } = self;
        database.decide(Request { session, ticket: Some(ticket), identity, act }).await?;
        loop {
            if deliveries.has_caught_up() {
                database.tell(session, SessionMessage::Drained).await?;
            }
            let delivery = deliveries.next().await.ok_or(Stopped)?;
            for item in delivery.items {
                if let Item::Answer(Answer::Write(own, outcome)) = item
                    && own == ticket
                {
                    return Ok(outcome.map(|_| ()));
                }
            }
        }
    }
}
