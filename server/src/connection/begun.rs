//! How requests are begun: what the threads are asked for each.

use super::failure::failure_of_limit;
use super::queued::Queued;
use super::reading::Reading;
use super::slots::{Outcome, Slot, SlotState};
use super::timed::Timed;
use super::watched::Writing;
use super::window::Window;
use super::{Connection, Credit};
use crate::database::{StageError, Stopped};
use crate::limits::OverLimit;
use crate::log::{Staged, WRITE_BYTES_MIN};
use crate::profile::{Operation, Record};
use crate::threads::SessionMessage;
use hearth_engine::{Act, Identity, Listen, Request, Tag, Ticket};
use hearth_tree::{Hash, Path, Write};
use hearth_wire::{Answer, Held, ListenKind, OnDisconnect, Put, RequestBody, Status};

impl Connection {
    /// Begins what can be begun, and lets go what is answered.
    pub(super) async fn proceed(&mut self) -> Result<(), Stopped> {
        self.expire().await?;
        self.let_go();
        if self.queued.is_empty() {
            return Ok(());
        }
        // In a box, since most connections mostly have nothing to begin and should not be as large as if they had.
        Box::pin(self.begin_queued()).await
    }

    async fn begin_queued(&mut self) -> Result<(), Stopped> {
        while let Some(Queued { number, size, body }) = self.queued.pop_front_if(|queued| {
            (self.writes_under_way == 0 || !queued.waits_for_writes())
                && (self.slots.is_empty() || !queued.is_alone())
        }) {
            let timed = body.as_ref().ok().map(|body| Timed::begin(body));
            let state = match body {
                Ok(body) => self.begin(*body, size.bytes).await?,
                Err(failure) => SlotState::Ready(Outcome::Answer(Answer::Failed(failure))),
            };
            self.slots.push_back(Slot { number, size, timed, state });
            self.let_go();
        }
        Ok(())
    }

    pub(super) async fn begin(&mut self, body: RequestBody, bytes: usize) -> Result<SlotState, Stopped> {
        match body {
            RequestBody::Put(Put { set, expected }) => {
                let at = set.at().clone();
                let condition = expected.map(|held| match held {
                    Held::Nothing => (at, None),
                    Held::Hash(hash) => (at, Some(hash)),
                });
                self.begin_staged(Write::Set(set), condition, bytes).await
            }
            RequestBody::Merge(merge) => self.begin_staged(Write::Update(merge.update), None, bytes).await,
            RequestBody::OnDisconnect(OnDisconnect::Set(set)) => {
                self.begin_arming(Write::Set(set), bytes).await
            }
            RequestBody::OnDisconnect(OnDisconnect::Update(update)) => {
                self.begin_arming(Write::Update(update), bytes).await
            }
            RequestBody::OnDisconnect(OnDisconnect::Cancel(at)) => {
                let watched = Writing::new(&self.database, Operation::OnDisconnectCancel, &at, 0);
                self.begin_write(Act::Disarm(at), None, watched).await
            }
            RequestBody::Listen(listen) => self.begin_listen(listen).await,
            RequestBody::Unlisten(unlisten) => {
                let tag = unlisten.kind.tag().map(|tag| Tag(tag.0));
                self.database.profile(|| Record::new(Operation::Unlisten).at(&unlisten.at));
                if let Some(tag) = tag {
                    drop(self.spelled.remove(&unlisten.at, tag));
                }
                self.tell(SessionMessage::Unlisten(unlisten.at, tag)).await?;
                self.settle(Answer::Done).await
            }
            RequestBody::Get(get) => {
                if let Err(over) = self.databases.limiter().read(&self.who(), &get.at) {
                    return Ok(refused(&over));
                }
                let ticket = self.new_ticket();
                self.tell(SessionMessage::Read(ticket)).await?;
                Ok(SlotState::Reading(ticket, Box::new(Reading { identity: self.identity.clone(), get })))
            }
            RequestBody::Auth(auth) => {
                let answer = self.authenticate(auth).await?;
                self.settle(answer).await
            }
            RequestBody::Unauth => {
                self.become_somebody(Identity::nobody(), None).await?;
                self.settle(Answer::Unauthenticated).await
            }
            RequestBody::Stats(_) | RequestBody::AppCheck(_) | RequestBody::UnAppCheck => {
                Ok(SlotState::Ready(Outcome::Answer(Answer::Done)))
            }
        }
    }

    /// Begins a write, of a request with so many bytes of text; what is large is on the disk first.
    pub(super) async fn begin_staged(
        &mut self,
        write: Write,
        condition: Option<(Path, Option<Hash>)>,
        bytes: usize,
    ) -> Result<SlotState, Stopped> {
        if let Err(over) = self.databases.limiter().write(&self.who(), &write) {
            self.database.let_go(write);
            return Ok(refused(&over));
        }
        let set = if condition.is_some() { Operation::Transaction } else { Operation::Write };
        let watched = Writing::of(&self.database, &write, (set, Operation::Update), bytes);
        let (write, staged) = if bytes < WRITE_BYTES_MIN {
            (write, None)
        } else {
            match self.database.stage(write).await {
                Ok(staged) => staged,
                Err(StageError::Disk { .. } | StageError::NoRoom { .. }) => {
                    let answer = Answer::Failed(Status::Unavailable.into());
                    return Ok(SlotState::Ready(Outcome::Answer(answer)));
                }
                Err(StageError::Stopped(stopped)) => return Err(stopped),
            }
        };
        let act = match condition {
            None => Act::Write(write),
            Some((at, hash)) => {
                self.database.prepare_hash(&at);
                Act::WriteIf { at, hash, write }
            }
        };
        self.begin_write(act, staged.map(Box::new), watched).await
    }

    /// Begins to arm a write. That counts as the write does; when it is made it does not count again.
    pub(super) async fn begin_arming(&mut self, write: Write, bytes: usize) -> Result<SlotState, Stopped> {
        match self.databases.limiter().write(&self.who(), &write) {
            Ok(()) => {
                self.watched.armed(bytes);
                let names = (Operation::OnDisconnectPut, Operation::OnDisconnectUpdate);
                let watched = Writing::of(&self.database, &write, names, bytes);
                self.begin_write(Act::Arm(write), None, watched).await
            }
            Err(over) => Ok(refused(&over)),
        }
    }

    pub(super) async fn begin_write(
        &mut self,
        act: Act,
        staged: Option<Box<Staged>>,
        watched: Option<Writing>,
    ) -> Result<SlotState, Stopped> {
        let ticket = self.new_ticket();
        self.watched.begin_write(watched, ticket);
        self.writes_under_way += 1;
        if let Some(staged) = &staged {
            staged.asked_by(self.session, ticket);
        }
        self.decide(Some(ticket), act).await?;
        Ok(SlotState::Waiting(ticket, staged))
    }

    pub(super) async fn begin_listen(&mut self, listen: hearth_wire::Listen) -> Result<SlotState, Stopped> {
        if let Err(over) = self.databases.limiter().read(&self.who(), &listen.at) {
            return Ok(refused(&over));
        }
        let ticket = self.new_ticket();
        if let ListenKind::Tagged { tag, spelled, .. } = &listen.kind
            && let Err(failure) = self.spelled.insert(&listen.at, Tag(tag.0), spelled.clone())
        {
            return Ok(SlotState::Ready(Outcome::Answer(Answer::Failed(failure))));
        }
        if let Some(Held::Hash(_)) = listen.held {
            self.database.prepare_hash(&listen.at);
        }
        let listen = Listen {
            query: listen.kind.query().clone(),
            tag: listen.kind.tag().map(|tag| Tag(tag.0)),
            known: listen.held.map(|held| match held {
                Held::Nothing => None,
                Held::Hash(hash) => Some(hash),
            }),
            held: listen
                .held_ranges
                .map(|held| held.ranges().map(|(place, hash)| (place.clone(), hash)).collect()),
            left: None,
            at: listen.at,
        };
        self.watched.begin_listen(&self.database, ticket, &listen);
        let state = SlotState::Listening(ticket, listen.at.clone(), listen.tag);
        self.tell(SessionMessage::Listen(ticket, Box::new(listen))).await?;
        Ok(state)
    }

    /// Lets an answer wait for the news that are under way: what is told of a listener behind its end, or to whom the
    /// connection was before, would look as if it were told in spite of that.
    pub(super) async fn settle(&mut self, answer: Answer) -> Result<SlotState, Stopped> {
        let ticket = self.new_ticket();
        self.tell(SessionMessage::Read(ticket)).await?;
        Ok(SlotState::Settling(ticket, answer))
    }

    pub(super) async fn decide(&mut self, ticket: Option<Ticket>, act: Act) -> Result<(), Stopped> {
        let credit = self.credit().await;
        let (session, identity) = (self.session, self.identity.clone());
        self.database.decide_with(Request { session, ticket, identity, act }, credit).await
    }

    /// Tells the publisher what the client asks for.
    pub(super) async fn tell(&mut self, message: SessionMessage) -> Result<(), Stopped> {
        let credit = self.credit().await;
        self.database.tell_with(self.session, message, credit).await
    }

    pub(super) async fn credit(&mut self) -> Credit {
        self.window.get_or_insert_with(Window::new).credit().await
    }

    pub(super) const fn new_ticket(&mut self) -> Ticket {
        self.tickets_made += 1;
        Ticket(self.tickets_made)
    }
}

/// What is answered at once instead of done.
fn refused(over: &OverLimit) -> SlotState {
    SlotState::Ready(Outcome::Answer(Answer::Failed(failure_of_limit(over))))
}
