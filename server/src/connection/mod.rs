//! One client's connection, whatever carries its messages: from what it sends to what it is told.
//!
//! Why requests queue here: writes are pipelined, but whoever reads, listens or changes its identity after a write must
//! see that write, so such a request waits until the writes before it are answered (wire reference 3.5). And why answers
//! have slots: they leave in the order in which the requests came.
//!
//! What one client can make a connection hold: requests up to [`REQUEST_BYTES_MAX`] and one message more, one text of a
//! mebibyte that goes out, and two trees of other times: what waits to go out is spelled when it goes, what is long while it
//! goes, and a read is begun when the one before has left.

mod failure;
mod long;
mod news;
mod spelled;
mod timed;
mod watched;
mod window;

pub(crate) use failure::failure_of_denial;
pub(crate) use long::{Long, Told};
pub(crate) use news::bytes_told;
pub(crate) use window::Credit;

use crate::auth::{CredentialError, Expiry, Gate, Proof, acting_as};
use crate::database::{Database, Databases, StageError, Stopped};
use crate::limits::{Line, OverLimit, Who};
use crate::log::{Staged, WRITE_BYTES_MIN};
use crate::profile::{Operation, Record};
use crate::threads::{Inbox, SessionMessage};
use crate::transport::{BYTES_FREE, BodyShare, Coming, NoRoom};
use crate::unhurried::unhurried;
use failure::{failure_of_limit, failure_of_listen, failure_of_write};
use hearth_engine::{
    Act, Answer as EngineAnswer, Begun, Delivery, Denied, Identity, Item, Listen, ListenRefusal, Onlooker,
    Published, Push as EnginePush, Refusal, Request, Revoked, SessionId, Tag, Ticket, is_heavy,
};
use hearth_tree::{
    ControlCharacters, DEPTH_MAX, Hash, NODE_BYTES, Node, Path, ReadOptions, View, Write, weight_of_nodes,
};
use hearth_wire::{
    ActingAs, Answer, Assembled, Auth, ClientControl, ClientMessage, Failure, Get, Held, ListenKind,
    OnDisconnect, Push, Put, Refused, RequestBody, RequestNumber, Response, ServerControl, Status, TooLong,
    number_of,
};
use spelled::Spelled;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use timed::{Timed, Waited};
use watched::{Watched, Writing};
use window::Window;

/// Most requests of one connection that are not answered yet; its socket is not read meanwhile.
const REQUESTS_MAX: usize = 1_024;
/// Most text of requests of one connection that are not answered yet, in bytes; at this its socket is not read. One largest
/// message always finds room, so that a connection holds less than two of them.
const REQUEST_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Most nodes of one request, the keys of an update's paths among them. An array of ones has a node in two bytes of text,
/// and one of this size takes 300 MB while it is written. The worst that was found within this bound is an update of short
/// keys at one place: 1.4 million of them, which is all that 16 MB have room for, take 460 MB. An ordinary message of 16 MB
/// (8 bytes to a node, or more) is taken.
pub(crate) const REQUEST_NODES_MAX: usize = 2_000_000;
const REQUEST: ReadOptions = ReadOptions {
    depth_max: DEPTH_MAX,
    nodes_max: REQUEST_NODES_MAX,
    control_characters: ControlCharacters::Allow,
};

/// A client's connection.
pub(crate) struct Connection {
    databases: Arc<Databases>,
    database: Database,
    gate: Gate,
    session: SessionId,
    /// Where its client is.
    address: IpAddr,
    identity: Identity,
    /// Until when it is proved.
    expiry: Arc<Expiry>,
    /// Requests that have not been begun, those that are refused already among them: an answer has its turn too.
    queued: VecDeque<Queued>,
    /// One for each request that was begun and whose answer has not left.
    slots: VecDeque<Slot>,
    writes_under_way: usize,
    tickets_made: u64,
    spelled: Spelled,
    /// The text of all requests that are queued or have a slot, in bytes.
    request_bytes: usize,
    /// What these take of the memory for what all clients send: their text, and what was made of it.
    share: BodyShare,
    outgoing: VecDeque<Outgoing>,
    /// How many of these are reads.
    reads_outgoing: usize,
    /// News that the client cannot receive.
    untold: Vec<EnginePush>,
    /// What is under way while somebody looks on.
    watched: Watched,
    /// What it may have wait for the threads; nothing, while it has not asked for anything.
    window: Option<Window>,
}

/// What waits to go out. It is spelled when it goes.
enum Outgoing {
    Text(String),
    News(EnginePush),
    /// What is there where a listen begins, and how long that was waited for.
    First(EnginePush, Option<Box<Waited>>),
    Answer(RequestNumber, Outcome),
}

/// What an answer is made of.
enum Outcome {
    Answer(Answer),
    Data(Box<Reading>, Arc<Published>, Option<Box<Waited>>),
}

/// A request is large, and its place in the queue stays when it has gone: so only a pointer stands there.
struct Queued {
    number: RequestNumber,
    size: Size,
    body: Result<Box<RequestBody>, Failure>,
}

/// How large a request is.
#[derive(Clone, Copy, Default)]
struct Size {
    /// The length of its text.
    bytes: usize,
    /// What that and what was made of it take at the most, in bytes.
    weight: usize,
}

struct Slot {
    number: RequestNumber,
    /// Of its request.
    size: Size,
    /// Until it is answered; nothing, if it was refused at once.
    timed: Option<Timed>,
    state: SlotState,
}

enum SlotState {
    /// For a write, which may be on the disk already.
    Waiting(Ticket, Option<Box<Staged>>),
    Listening(Ticket, Path, Option<Tag>),
    Reading(Ticket, Box<Reading>),
    /// The answer, which leaves when all has left that was told before what was asked for was done.
    Settling(Ticket, Answer),
    Ready(Outcome),
}

/// A read whose turn has not come, and who it is for: by then the connection may be somebody else.
#[derive(Clone)]
struct Reading {
    identity: Identity,
    get: Get,
}

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    GoOn,
    Close,
}

impl Connection {
    /// Of a session of nobody yet, and where its client is.
    pub(crate) fn new(
        databases: Arc<Databases>,
        database: Database,
        gate: Gate,
        (session, address): (SessionId, IpAddr),
    ) -> Self {
        database.profile(|| Record::new(Operation::Connect));
        Self {
            share: databases.bodies().share(Coming::Message),
            databases,
            database,
            gate,
            session,
            address,
            identity: Identity::nobody(),
            expiry: Arc::new(Expiry::new(None)),
            queued: VecDeque::new(),
            slots: VecDeque::new(),
            writes_under_way: 0,
            tickets_made: 0,
            spelled: Spelled::default(),
            request_bytes: 0,
            outgoing: VecDeque::new(),
            reads_outgoing: 0,
            untold: Vec::new(),
            watched: Watched::default(),
            window: None,
        }
    }

    /// Whether it can take another message.
    pub(crate) fn has_room(&self) -> bool {
        self.queued.len() + self.slots.len() < REQUESTS_MAX && self.request_bytes < REQUEST_BYTES_MAX
    }

    /// Whether any request waits for an answer.
    pub(crate) fn waits(&self) -> bool {
        !self.slots.is_empty()
    }

    /// Whether it can take more news before those that it has have gone out: a read holds on to a whole tree.
    pub(crate) const fn takes_more(&self) -> bool {
        self.reads_outgoing == 0
    }

    /// The next message to the client. A long one is to be written to its end before the next is asked for.
    pub(crate) fn next_outgoing(&mut self) -> Option<Told> {
        loop {
            let Some(outgoing) = self.outgoing.pop_front() else {
                // A connection mostly idles, and there are many: no room is kept for what seldom is there.
                self.outgoing = VecDeque::new();
                if self.slots.is_empty() {
                    self.slots = VecDeque::new();
                    self.window = None;
                }
                return None;
            };
            return Some(match outgoing {
                Outgoing::Text(text) => Told::Text(text.into()),
                Outgoing::News(push) => match self.spell(push, false) {
                    Some(told) => told,
                    None => continue,
                },
                Outgoing::First(push, waited) => {
                    let began = Instant::now();
                    let told = self.spell(push, true);
                    self.took(waited.map(|waited| waited.spelled_since(began)));
                    match told {
                        Some(told) => told,
                        None => continue,
                    }
                }
                Outgoing::Answer(number, Outcome::Answer(answer)) => {
                    Told::Text(Response { number, answer }.to_text().into())
                }
                Outgoing::Answer(number, Outcome::Data(reading, published, waited)) => {
                    self.reads_outgoing -= 1;
                    let began = Instant::now();
                    let is_heavy = is_heavy(published.tree.get(&reading.get.at));
                    let told = || self.answer_to_read(number, &reading, published);
                    let told = if is_heavy { unhurried(told) } else { told() };
                    self.took(waited.map(|waited| waited.spelled_since(began)));
                    told
                }
            });
        }
    }

    /// A request was answered.
    fn took(&self, waited: Option<Waited>) {
        if waited.is_some_and(|waited| waited.tell(self.databases.slow(), &self.who())) {
            self.database.meters_of_server().slow_answers.add(1);
        }
    }

    /// The answer to a read, or what is said before it.
    fn answer_to_read(
        &mut self,
        number: RequestNumber,
        reading: &Reading,
        published: Arc<Published>,
    ) -> Told {
        let began = self.database.began();
        let judged = reading.judge(&published, &**self.database.rule_watch());
        let answer = match &judged {
            Ok(()) => reading.answer(&published, (&self.databases, &self.database)),
            Err(denied) => {
                self.database.meters().denied_reads.add(1);
                Answer::Failed(failure_of_denial(denied))
            }
        };
        let reasons = judged.as_ref().err().and_then(|denied| self.reasons_for_client(denied.reasons()));
        self.database.let_go_of_tree(published);
        if judged.is_err() {
            watched::read(&self.database, reading, began, None);
        }
        match reasons {
            None => self.told_of_answer(number, (reading, began), answer),
            Some(reasons) => {
                self.outgoing.push_front(Outgoing::Answer(number, Outcome::Answer(answer)));
                Told::Text(reasons.into())
            }
        }
    }

    /// The answer to a read that was at a place. Data that no client could receive are too big (wire reference 2.2).
    fn told_of_answer(
        &self,
        number: RequestNumber,
        (reading, began): (&Reading, Option<Instant>),
        answer: Answer,
    ) -> Told {
        let text = |answer| Told::Text(Response { number, answer }.to_text().into());
        let Answer::Data(node) = answer else { return text(answer) };
        match news::told_of_data(number, node.as_ref(), &self.database) {
            Ok((told, bytes)) => {
                self.given(&reading.get.at, bytes, node.as_ref());
                watched::read(&self.database, reading, began, Some(bytes));
                told
            }
            Err(TooLong) => text(Answer::Failed(Status::TooBig.into())),
        }
    }

    /// The message of a push; none, if the client cannot receive it.
    fn spell(&mut self, push: EnginePush, is_first: bool) -> Option<Told> {
        match news::told_of_push(&push, &self.database) {
            Ok((told, bytes)) => {
                // Nodes are counted once, and not with each change of a place.
                let node = is_first.then(|| news::node_of_push(&push)).flatten();
                self.given(&push.body.at, bytes, node);
                if is_first {
                    self.watched.listening(&self.database, &push, bytes);
                }
                Some(told)
            }
            Err(TooLong) => {
                self.untold.push(push);
                None
            }
        }
    }

    /// The client is given so much of what is at a place.
    fn given(&self, at: &Path, bytes: usize, node: Option<&Node>) {
        if self.databases.audit().given(&self.who(), at, bytes, node) {
            self.database.meters().bulk_reads.add(1);
        }
    }

    /// Ends the listens whose news the client cannot receive, as if they were no longer allowed: it must neither believe
    /// that it is up to date, nor come back and ask the same again.
    pub(crate) async fn give_up_untold(&mut self) -> Result<(), Stopped> {
        for EnginePush { body, tag } in std::mem::take(&mut self.untold) {
            tracing::warn!(at = %body.at, "a listen ends, because there is more than clients can receive");
            self.database.tell(self.session, SessionMessage::GiveUp(body.at.clone(), tag)).await?;
        }
        Ok(())
    }

    /// Tells the client something about the connection.
    pub(crate) fn say(&mut self, control: &ServerControl) {
        self.outgoing.push_back(Outgoing::Text(control.to_text()));
    }

    /// Takes a message of the client.
    pub(crate) async fn receive(&mut self, message: Assembled<'_>) -> Result<Next, Stopped> {
        match self.read_message(message) {
            Next::Close => Ok(Next::Close),
            Next::GoOn => self.proceed().await.map(|()| Next::GoOn),
        }
    }

    /// Puts what a message asks for into the queue. No future: that would have room for a message as long as it lives.
    fn read_message(&mut self, message: Assembled<'_>) -> Next {
        let (message, size) = match message {
            Assembled::Message(message) => match self.weigh(&message) {
                Ok(size) => (ClientMessage::parse(&message, &REQUEST), size),
                Err(full) => {
                    let Some(number) = number_of(&message) else { return Next::Close };
                    let failure = Failure { status: Status::Unavailable, text: full.to_string() };
                    self.enqueue(number, Size::default(), Err(failure));
                    return Next::GoOn;
                }
            },
            Assembled::TooBig { start, .. } => {
                let Some(number) = number_of(&start) else { return Next::Close };
                self.enqueue(number, Size::default(), Err(Status::WriteTooBig.into()));
                return Next::GoOn;
            }
        };
        let next = match message {
            Ok(ClientMessage::Request(hearth_wire::Request { number, body })) => {
                self.enqueue(number, size, Ok(Box::new(body)));
                return Next::GoOn;
            }
            Ok(ClientMessage::Control(ClientControl::Ping)) => {
                self.say(&ServerControl::Pong);
                Next::GoOn
            }
            Ok(ClientMessage::Control(ClientControl::Upgraded | ClientControl::End)) => Next::GoOn,
            Err(Refused::Request { number, error }) => {
                let failure = Failure::from(&error);
                let size = Size { bytes: failure.text.len(), weight: 0 };
                self.enqueue(number, size, Err(failure));
                Next::GoOn
            }
            Err(Refused::Unknown { .. }) => Next::GoOn,
            Err(Refused::Broken { .. }) => Next::Close,
        };
        // Nothing is kept of it.
        self.give_back(size);
        next
    }

    /// Makes room for a message that is about to be read.
    fn weigh(&mut self, message: &[u8]) -> Result<Size, NoRoom> {
        let bytes = message.len();
        // A short one is not looked at as long as there is little under way, whatever stands in it.
        let most = bytes.saturating_mul(1 + 2 * NODE_BYTES);
        let is_little = self.share.bytes().saturating_add(most) <= BYTES_FREE;
        let weight =
            if is_little { most } else { bytes.saturating_add(weight_of_nodes(message, REQUEST_NODES_MAX)) };
        self.share.grow(weight)?;
        Ok(Size { bytes, weight })
    }

    fn give_back(&mut self, size: Size) {
        self.share.shrink_to(self.share.bytes() - size.weight);
    }

    /// Takes what the database has to say; the last answers in it are from that time. It may be that nothing true can be said
    /// to the client any more.
    pub(crate) async fn deliver(
        &mut self,
        delivery: Delivery,
        answered: Option<Instant>,
    ) -> Result<Next, Stopped> {
        // The reason before what comes of it.
        self.expire().await?;
        let mut items = delivery.items.into_iter().peekable();
        while let Some(item) = items.next() {
            match item {
                Item::Push(push) => {
                    let begins = matches!(items.peek(), Some(Item::Answer(EngineAnswer::Listen(_, Ok(_)))));
                    self.outgoing.push_back(if begins {
                        Outgoing::First(push, None)
                    } else {
                        Outgoing::News(push)
                    });
                }
                Item::Revoked(Revoked { at, tag, reasons, .. }) => {
                    self.tell_reasons(reasons.as_ref());
                    let query = tag.and_then(|tag| self.spelled.remove(&at, tag));
                    self.outgoing.push_back(Outgoing::Text(Push::Cancel { at, query }.to_text()));
                }
                // Neither yes nor no: clients send again what was not answered when they come back.
                Item::Answer(EngineAnswer::Write(_, Err(Refusal::InDoubt))) => return Ok(Next::Close),
                Item::Answer(EngineAnswer::Write(ticket, outcome)) => {
                    self.writes_under_way -= 1;
                    if let Err(Refusal::Denied(denied)) = &outcome {
                        self.database.meters().denied_writes.add(1);
                        self.tell_reasons(denied.reasons());
                    }
                    self.watched.written(&self.database, ticket, &outcome);
                    let answer = outcome
                        .map_or_else(|refusal| Answer::Failed(failure_of_write(&refusal)), |_| Answer::Done);
                    let waited = self.fill(ticket, answer, answered);
                    self.took(waited);
                    // Before the news of later writes, which may be in the same delivery.
                    self.let_go();
                }
                Item::Answer(EngineAnswer::Listen(ticket, outcome)) => {
                    if let Err(ListenRefusal::Denied(denied)) = &outcome {
                        self.database.meters().denied_reads.add(1);
                        self.tell_reasons(denied.reasons());
                    }
                    if let Ok(Begun { missing_index: Some(missing) }) = &outcome {
                        self.databases.unindexed().asked(&self.database, missing, None);
                    }
                    let is_told_first = matches!(self.outgoing.back(), Some(Outgoing::First(..)));
                    self.watched.listened(&self.database, ticket, &outcome, is_told_first);
                    let listening =
                        |begun: Begun| Answer::Listening { no_index: begun.missing_index.is_some() };
                    let answer =
                        outcome.map_or_else(|refusal| Answer::Failed(failure_of_listen(&refusal)), listening);
                    let waited = self.fill(ticket, answer, answered);
                    match self.outgoing.back_mut() {
                        Some(Outgoing::First(_, of_first)) => *of_first = waited.map(Box::new),
                        _ => self.took(waited),
                    }
                }
                Item::Answer(EngineAnswer::Read(ticket, published)) => {
                    let waited = self.read(ticket, &published, answered);
                    self.took(waited);
                }
            }
        }
        self.proceed().await.map(|()| Next::GoOn)
    }

    /// Ends the session: makes the writes that it has armed, and forgets its listeners. What `drain` takes off the
    /// session's queue is thrown away; the end is the last answer there.
    pub(crate) async fn end(&mut self, queue: &mut Inbox) -> Result<(), Stopped> {
        let ticket = self.new_ticket();
        let began = self.database.began();
        self.decide(Some(ticket), Act::End).await?;
        let is_end =
            |item: &Item| matches!(item, Item::Answer(EngineAnswer::Write(own, _)) if *own == ticket);
        loop {
            if queue.has_caught_up() {
                self.database.tell(self.session, SessionMessage::Drained).await?;
            }
            match queue.next().await {
                Some(delivery) if !delivery.items.iter().any(is_end) => {}
                Some(_) | None => break,
            }
        }
        if let Some(began) = began {
            if let Some(bytes) = self.watched.armed_bytes() {
                self.database.profile(|| Record::new(Operation::RunOnDisconnect).bytes(bytes).since(began));
            }
            self.database.profile(|| Record::new(Operation::Disconnect).since(began));
        }
        self.database.tell(self.session, SessionMessage::Close).await
    }

    /// Tells a client that asked for it why something is denied, before that is answered.
    fn tell_reasons(&mut self, reasons: Option<&Arc<str>>) {
        if let Some(text) = self.reasons_for_client(reasons) {
            self.outgoing.push_back(Outgoing::Text(text));
        }
    }

    /// The message that says why; none for a page of somebody else.
    fn reasons_for_client(&self, reasons: Option<&Arc<str>>) -> Option<String> {
        let reasons = reasons.filter(|_| !self.gate.is_foreign())?;
        Some(Push::SecurityDebug { text: reasons.to_string() }.to_text())
    }

    fn enqueue(&mut self, number: RequestNumber, size: Size, body: Result<Box<RequestBody>, Failure>) {
        self.request_bytes += size.bytes;
        self.queued.push_back(Queued { number, size, body });
    }

    /// Begins what can be begun, and lets go what is answered.
    async fn proceed(&mut self) -> Result<(), Stopped> {
        self.expire().await?;
        self.let_go();
        while let Some(Queued { number, size, body }) = self.queued.pop_front_if(|queued| {
            (self.writes_under_way == 0 || !queued.waits_for_writes())
                && (self.slots.is_empty() || !queued.is_alone())
        }) {
            let timed = body.as_ref().ok().map(|body| Timed::begin(body));
            let state = match body {
                // In a box, since most connections mostly have nothing to begin and should not be as large as if they had.
                Ok(body) => Box::pin(self.begin(*body, size.bytes)).await?,
                Err(failure) => SlotState::Ready(Outcome::Answer(Answer::Failed(failure))),
            };
            self.slots.push_back(Slot { number, size, timed, state });
            self.let_go();
        }
        Ok(())
    }

    async fn begin(&mut self, body: RequestBody, bytes: usize) -> Result<SlotState, Stopped> {
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
    async fn begin_staged(
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
    async fn begin_arming(&mut self, write: Write, bytes: usize) -> Result<SlotState, Stopped> {
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

    fn who(&self) -> Who<'_> {
        Who {
            database: self.database.name(),
            identity: &self.identity,
            address: self.address,
            line: Line::Session(self.session),
        }
    }

    async fn begin_write(
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

    async fn decide(&mut self, ticket: Option<Ticket>, act: Act) -> Result<(), Stopped> {
        let credit = self.credit().await;
        let (session, identity) = (self.session, self.identity.clone());
        self.database.decide_with(Request { session, ticket, identity, act }, credit).await
    }

    /// Tells the publisher what the client asks for.
    async fn tell(&mut self, message: SessionMessage) -> Result<(), Stopped> {
        let credit = self.credit().await;
        self.database.tell_with(self.session, message, credit).await
    }

    async fn credit(&mut self) -> Credit {
        self.window.get_or_insert_with(Window::new).credit().await
    }

    async fn begin_listen(&mut self, listen: hearth_wire::Listen) -> Result<SlotState, Stopped> {
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
    async fn settle(&mut self, answer: Answer) -> Result<SlotState, Stopped> {
        let ticket = self.new_ticket();
        self.tell(SessionMessage::Read(ticket)).await?;
        Ok(SlotState::Settling(ticket, answer))
    }

    /// Answers, from what was published in its turn, what waits for that. How long that took, unless it is yet to be spelled.
    fn read(
        &mut self,
        ticket: Ticket,
        published: &Arc<Published>,
        answered: Option<Instant>,
    ) -> Option<Waited> {
        for slot in &mut self.slots {
            let Slot { timed, state, .. } = slot;
            let mut waited = || Some(timed.take()?.answered(answered?));
            let (outcome, waited) = match state {
                SlotState::Reading(own, reading) if *own == ticket => {
                    (Outcome::Data(reading.clone(), published.clone(), waited().map(Box::new)), None)
                }
                SlotState::Settling(own, answer) if *own == ticket => {
                    (Outcome::Answer(answer.clone()), waited())
                }
                SlotState::Reading(..)
                | SlotState::Settling(..)
                | SlotState::Waiting(..)
                | SlotState::Listening(..)
                | SlotState::Ready(_) => continue,
            };
            slot.state = SlotState::Ready(outcome);
            return waited;
        }
        None
    }

    async fn authenticate(&mut self, auth: Auth) -> Result<Answer, Stopped> {
        let judged = self.gate.identify(auth.credential.as_str()).await.and_then(|proof| {
            let Proof { identity, auth: value, expires_ms } = proof;
            let (identity, auth) = match (identity, auth.acting) {
                (Identity::Admin, ActingAs::Nobody) => (Identity::nobody(), Arc::default()),
                (Identity::Admin, ActingAs::Other(auth)) => {
                    (acting_as(auth.clone())?, Arc::new(serde_json::Value::Object(auth)))
                }
                // Who is no admin cannot act as somebody else.
                (identity, ActingAs::Itself | ActingAs::Nobody | ActingAs::Other(_)) => (identity, value),
            };
            Ok(Proof { identity, auth, expires_ms })
        });
        match judged {
            Ok(Proof { identity, auth, expires_ms }) => {
                self.become_somebody(identity, expires_ms).await?;
                let auth = Arc::unwrap_or_clone(auth);
                Ok(Answer::Authenticated { auth, expires_s: expires_ms.map(|ms| ms.div_euclid(1000)) })
            }
            Err(error) => Ok(Answer::Failed(failure_of_credential(&error))),
        }
    }

    async fn become_somebody(&mut self, identity: Identity, expires_ms: Option<i64>) -> Result<(), Stopped> {
        self.identity = identity.clone();
        // First: who watches it says only of a time that holds still that it is over.
        self.expiry.set(expires_ms);
        self.database.identify(self.session, identity).await
    }

    /// Until when it is proved who the client is.
    pub(crate) const fn expiry(&self) -> &Arc<Expiry> {
        &self.expiry
    }

    /// Takes a client for nobody whose token has expired, and tells it so (wire reference 4.8).
    pub(crate) async fn expire(&mut self) -> Result<(), Stopped> {
        if !self.expiry.is_over() {
            return Ok(());
        }
        self.outgoing.push_back(Outgoing::Text(Push::AuthRevoked(Status::ExpiredToken.into()).to_text()));
        // In a box, since this seldom happens and every connection would have room for it.
        Box::pin(self.become_somebody(Identity::nobody(), None)).await
    }

    const fn new_ticket(&mut self) -> Ticket {
        self.tickets_made += 1;
        Ticket(self.tickets_made)
    }

    /// Answers what waits for that. How long that took.
    fn fill(&mut self, ticket: Ticket, answer: Answer, answered: Option<Instant>) -> Option<Waited> {
        let waits = |slot: &&mut Slot| matches!(slot.state, SlotState::Waiting(own, _) | SlotState::Listening(own, ..) if own == ticket);
        let slot = self.slots.iter_mut().find(waits)?;
        if let (SlotState::Listening(_, at, Some(tag)), Answer::Failed(_)) = (&slot.state, &answer) {
            drop(self.spelled.remove(at, *tag));
        }
        let ready = SlotState::Ready(Outcome::Answer(answer));
        if let SlotState::Waiting(_, Some(staged)) = std::mem::replace(&mut slot.state, ready) {
            self.database.let_go(staged);
        }
        Some(slot.timed.take()?.answered(answered?))
    }

    fn let_go(&mut self) {
        while let Some(Slot { state: SlotState::Ready(_), .. }) = self.slots.front() {
            if let Some(Slot { number, size, state: SlotState::Ready(outcome), .. }) = self.slots.pop_front()
            {
                self.request_bytes -= size.bytes;
                self.give_back(size);
                self.reads_outgoing += usize::from(matches!(outcome, Outcome::Data(..)));
                self.outgoing.push_back(Outgoing::Answer(number, outcome));
            }
        }
    }
}

impl Queued {
    /// Whether it must see the writes before it answered.
    const fn waits_for_writes(&self) -> bool {
        match &self.body {
            Ok(body) => !is_write(body),
            Err(_) => false,
        }
    }

    /// Whether nothing else may be under way when it begins: what is published in its turn is kept for it, and one
    /// connection must not keep a thousand trees.
    fn is_alone(&self) -> bool {
        self.body.as_ref().is_ok_and(|body| match **body {
            RequestBody::Get(_) | RequestBody::Unlisten(_) | RequestBody::Auth(_) | RequestBody::Unauth => {
                true
            }
            RequestBody::Put(_)
            | RequestBody::Merge(_)
            | RequestBody::OnDisconnect(_)
            | RequestBody::Listen(_)
            | RequestBody::Stats(_)
            | RequestBody::AppCheck(_)
            | RequestBody::UnAppCheck => false,
        })
    }
}

impl Reading {
    fn judge(&self, published: &Published, onlooker: &dyn Onlooker) -> Result<(), Denied> {
        let Self { identity, get: Get { at, query } } = self;
        let door = published.door().seen_by(Some(onlooker));
        door.read(identity, crate::clock::now_ms(), &published.tree, at, query).map(|_| ())
    }

    /// The answer to a read that is allowed.
    fn answer(&self, published: &Published, (databases, database): (&Databases, &Database)) -> Answer {
        let Get { at, query } = &self.get;
        if let Some(missing) = published.door().missing_index(at, query) {
            databases.unindexed().asked(database, &missing, None);
            return Answer::Failed(Failure { status: Status::Failure, text: missing.to_string() });
        }
        let node = published.tree.get(at);
        if query.is_everything() {
            return Answer::Data(node.cloned());
        }
        let found = database.index_for(query, at, node);
        let index = found.as_ref().map(|found| &found.index);
        let view = View::new(query, node, index).expect("the index that it needs was found");
        Answer::Data(view.to_node())
    }
}

/// What is answered at once instead of done.
fn refused(over: &OverLimit) -> SlotState {
    SlotState::Ready(Outcome::Answer(Answer::Failed(failure_of_limit(over))))
}

fn failure_of_credential(error: &CredentialError) -> Failure {
    if matches!(error, CredentialError::Expired) {
        Status::ExpiredToken.into()
    } else {
        // Clients come back with a token that they are not told is wrong.
        let status = if error.may_pass() { Status::Unavailable } else { Status::InvalidToken };
        Failure { status, text: error.to_string() }
    }
}

const fn is_write(body: &RequestBody) -> bool {
    match body {
        RequestBody::Put(_) | RequestBody::Merge(_) | RequestBody::OnDisconnect(_) => true,
        RequestBody::Stats(_)
        | RequestBody::Auth(_)
        | RequestBody::Unauth
        | RequestBody::AppCheck(_)
        | RequestBody::UnAppCheck
        | RequestBody::Listen(_)
        | RequestBody::Unlisten(_)
        | RequestBody::Get(_) => false,
    }
}
