//! The thread that shows what was kept, and answers those who listen.

use super::indexer::Wanted;
use super::{Next, Outbox, Reclaim, SessionMessage, ToPublisher, next};
use crate::clock::now_ms;
use crate::connection::bytes_told;
use crate::meters::{DatabaseMeters, Meters};
use crate::profile::{Operation, Record};
use crate::rule_watch::RuleWatch;
use crate::study::Studies;
use arc_swap::ArcSwap;
use hearth_engine::{
    DatabaseId, Delivery, Durable, Item, Outboxes, Published, Publisher, SessionId, Verdict, WantedIndex,
};
use hearth_tree::Path;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, TrySendError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// How often permissions that depend on the time are looked at, however much else there is to do.
const TICK: Duration = Duration::from_secs(1);

/// Most groups that are shown in one step: what else waits for this thread has its turn then.
const GROUPS_JOINED_MAX: usize = 16;

/// Who wants to know what this thread does.
pub(super) struct Watching {
    pub(super) studies: Option<Arc<Studies>>,
    pub(super) meters: Arc<Meters>,
}

/// Who does what would take too long here.
pub(super) struct Elsewhere {
    pub(super) reclaim: Reclaim,
    pub(super) indexer: SyncSender<Wanted>,
}

/// A database as this thread has it.
struct Own {
    id: DatabaseId,
    publisher: Publisher,
    queues: Queues,
    /// Indexes for which the indexer had no room.
    wanted: VecDeque<WantedIndex>,
}

impl Own {
    fn new(id: DatabaseId, published: Arc<ArcSwap<Published>>, watching: &Watching) -> Self {
        let mut publisher = Publisher::new(Published::clone(&published.load()));
        publisher.seen_by(Arc::new(RuleWatch::new(watching.studies.as_deref(), &watching.meters, id)));
        let meters = watching.meters.of(id);
        meters.begin(publisher.published().revision);
        let queues = Queues { by_session: HashMap::new(), published, meters, broadcast: None };
        Self { id, publisher, queues, wanted: VecDeque::new() }
    }

    /// Hands over what others do.
    fn hand_over(&mut self, elsewhere: &Elsewhere) {
        for outdated in self.publisher.take_outdated() {
            elsewhere.reclaim.let_go(outdated);
        }
        self.wanted.extend(self.publisher.take_wanted());
        while let Some(index) = self.wanted.pop_front() {
            let wanted = Wanted { database: self.id, published: self.queues.published.clone(), index };
            if let Err(TrySendError::Full(wanted) | TrySendError::Disconnected(wanted)) =
                elsewhere.indexer.try_send(wanted)
            {
                // It is tried again with whatever comes next, at the latest with the next tick.
                self.wanted.push_front(wanted.index);
                return;
            }
        }
    }
}

struct Queues {
    by_session: HashMap<SessionId, Outbox>,
    /// Where readers find what is published.
    published: Arc<ArcSwap<Published>>,
    meters: Arc<DatabaseMeters>,
    /// How many are told what of a place, and how much that is, while somebody looks on.
    broadcast: Option<BTreeMap<Path, (usize, usize)>>,
}

impl Queues {
    /// Counts what somebody is told.
    fn count(&mut self, delivery: &Delivery) {
        let Some(broadcast) = &mut self.broadcast else { return };
        for item in &delivery.items {
            if let Item::Push(push) = item {
                let (clients, bytes) = broadcast.entry(push.body.at.clone()).or_default();
                *clients += 1;
                *bytes += bytes_told(&push.body);
            }
        }
    }
}

impl Outboxes for Queues {
    fn offer(&mut self, session: SessionId, delivery: Delivery) -> Result<(), Delivery> {
        self.count(&delivery);
        let Some(outbox) = self.by_session.get(&session) else {
            return Ok(()); // It is gone.
        };
        outbox.offer(delivery).inspect_err(|_| self.meters.resyncs.add(1))
    }

    fn is_taking(&self, session: SessionId) -> bool {
        self.by_session.get(&session).is_some_and(Outbox::is_taking)
    }

    fn cut(&mut self, session: SessionId) {
        // With its sender the queue ends, and with the queue the connection.
        self.by_session.remove(&session);
        self.meters.cut.add(1);
        tracing::info!(
            session = session.0,
            cut = self.meters.cut.get(),
            "a connection is closed because it takes too little of what it is told"
        );
    }

    fn show(&mut self, published: &Arc<Published>) {
        self.published.store(published.clone());
    }
}

/// Follows what it is told, one message after the other.
pub(super) fn run(
    timer: &Runtime,
    shown: BTreeMap<DatabaseId, Arc<ArcSwap<Published>>>,
    watching: &Watching,
    mut inbox: mpsc::Receiver<ToPublisher>,
    elsewhere: &Elsewhere,
) {
    let own = |(id, published)| (id, Own::new(id, published, watching));
    let mut databases: BTreeMap<_, _> = shown.into_iter().map(own).collect();
    let mut ticked = Instant::now();
    let mut following = None;
    loop {
        let is_settled = databases.values().all(|own| own.publisher.is_settled());
        let wait = if is_settled { TICK.saturating_sub(ticked.elapsed()) } else { Duration::ZERO };
        let message = match following.take() {
            Some(message) => Next::Message(message),
            None => next(timer, &mut inbox, Some(wait)),
        };
        match message {
            Next::End => return,
            Next::Deadline => {}
            Next::Message(ToPublisher::Open(id, published)) => {
                databases.insert(id, Own::new(id, published, watching));
            }
            Next::Message(ToPublisher::Publish(group)) => {
                let groups;
                (groups, following) = with_what_waits(group, &mut inbox);
                for (id, verdicts) in groups {
                    let own = opened(&mut databases, id);
                    let began = watching.meters.profiles.began();
                    own.queues.broadcast = began.map(|_| BTreeMap::new());
                    own.publisher.publish(now_ms(), verdicts, &mut own.queues);
                    if let (Some(began), Some(broadcast)) = (began, own.queues.broadcast.take()) {
                        for (at, (clients, bytes)) in broadcast {
                            let record = || Record::new(Operation::Broadcast).at(&at).bytes(bytes);
                            let record = || record().clients(clients).since(began);
                            watching.meters.profiles.tell(id, record);
                        }
                    }
                    own.hand_over(elsewhere);
                }
            }
            Next::Message(ToPublisher::Session(id, session, message, _credit)) => {
                let own = opened(&mut databases, id);
                follow(own, session, message);
                own.queues.meters.set_listeners(own.publisher.listeners_now());
                own.hand_over(elsewhere);
            }
            Next::Message(ToPublisher::Indexed(id, at, index)) => {
                let own = opened(&mut databases, id);
                own.publisher.indexed(now_ms(), &at, index, &mut own.queues);
                own.queues.meters.set_listeners(own.publisher.listeners_now());
                own.hand_over(elsewhere);
            }
        }
        let is_due = TICK <= ticked.elapsed();
        for own in databases.values_mut() {
            if is_due {
                own.publisher.tick(now_ms(), &mut own.queues);
                own.hand_over(elsewhere);
            } else if !own.publisher.is_settled() {
                own.publisher.settle_some(now_ms(), &mut own.queues);
                own.queues.meters.set_listeners(own.publisher.listeners_now());
            }
        }
        if is_due {
            ticked = Instant::now();
        }
    }
}

/// Joins the groups that wait behind one, by database: whoever is told of all of them is woken up once. Gives the message
/// behind them, too, if there is one.
fn with_what_waits(
    group: Vec<(DatabaseId, Durable<Vec<Verdict>>)>,
    inbox: &mut mpsc::Receiver<ToPublisher>,
) -> (BTreeMap<DatabaseId, Durable<Vec<Verdict>>>, Option<ToPublisher>) {
    let mut joined: BTreeMap<_, Durable<Vec<Verdict>>> = BTreeMap::new();
    let mut group = group;
    for _ in 0..GROUPS_JOINED_MAX {
        for (id, verdicts) in group {
            match joined.entry(id) {
                Entry::Vacant(place) => {
                    place.insert(verdicts);
                }
                Entry::Occupied(mut place) => place.get_mut().extend(verdicts),
            }
        }
        match inbox.try_recv() {
            Ok(ToPublisher::Publish(later)) => group = later,
            Ok(message @ (ToPublisher::Open(..) | ToPublisher::Session(..) | ToPublisher::Indexed(..))) => {
                return (joined, Some(message));
            }
            Err(_) => return (joined, None),
        }
    }
    (joined, Some(ToPublisher::Publish(group)))
}

fn opened(databases: &mut BTreeMap<DatabaseId, Own>, id: DatabaseId) -> &mut Own {
    databases.get_mut(&id).expect("a database is opened before it is used")
}

fn follow(own: &mut Own, session: SessionId, message: SessionMessage) {
    let Own { publisher, queues, id: _, wanted: _ } = own;
    match message {
        SessionMessage::Open(identity, outbox) => {
            queues.by_session.insert(session, outbox);
            publisher.open(session, identity);
        }
        SessionMessage::Close => {
            publisher.close(session);
            queues.by_session.remove(&session);
        }
        SessionMessage::Identify(identity, done) => {
            publisher.identify(now_ms(), session, identity, queues);
            if done.send(()).is_err() {
                tracing::debug!("a session ended while it became somebody else");
            }
        }
        SessionMessage::Listen(ticket, listen) => {
            publisher.listen(now_ms(), session, ticket, *listen, queues);
        }
        SessionMessage::Read(ticket) => publisher.read(session, ticket, queues),
        SessionMessage::Unlisten(at, tag) => publisher.unlisten(session, &at, tag),
        SessionMessage::GiveUp(at, tag) => publisher.end_listens_above(session, &at, tag, queues),
        SessionMessage::Drained => publisher.drained(now_ms(), session, queues),
    }
}
