//! One session of long polling, from its start to its end or to the WebSocket that takes it over.
//!
//! Why news are taken only while a request waits for them: nothing is kept for a client that does not ask. What it has
//! missed waits in the session's bounded queue, and where that is full it gets one difference, as on a slow WebSocket.

use super::lines::{Lines, Place};
use super::take_over::{TakeOver, control};
use super::telling::Telling;
use crate::connection::{Next, Told};
use crate::database::Stopped;
use crate::meters::Transport;
use crate::random::session_name;
use crate::sessions::Stay;
use crate::transport::opening::Opening;
use crate::transport::session::{MESSAGE_BYTES_MAX, OpenError, SKIPPED_BYTES_MAX, Session};
use crate::transport::websocket::{self, Carrier};
use crate::transport::{BodyShare, Coming, NoRoom, Server};
use hearth_wire::{
    Assembled, Callback, ClientControl, FrameLimits, Script, Segment, SegmentError, Segments, ServerControl,
    Ticket,
};
use std::collections::VecDeque;
use std::mem;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// The answer to a request.
pub(super) type Answer = Result<Telling, SentAway>;

/// Why a session ends with what its client sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum SentAway {
    #[error(transparent)]
    Segment(#[from] SegmentError),
    #[error(transparent)]
    NoRoom(#[from] NoRoom),
}

/// What a session is asked.
pub(super) enum Call {
    /// Its client says something, and waits.
    Poll { segments: Vec<Segment>, answer: oneshot::Sender<Answer> },
    /// Its client leaves.
    Farewell,
    /// A WebSocket of its client may carry it from now on.
    TakeOver(Box<Carrier>),
}

/// How long a session waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// How long a request is held when there is nothing to tell. Clients ask again after 25 s anyway.
    hold: Duration,
    /// How long a client may ask nothing before its session ends (wire reference 14.3).
    silence: Duration,
    /// The same, where the connection of a request that waited is gone: its client has given up the session, or its
    /// browser asks again at once.
    grace: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            hold: Duration::from_secs(20),
            silence: Duration::from_secs(60),
            grace: Duration::from_secs(5),
        }
    }
}

/// Longest message that may say that long polling ends, with some room: others are not looked at twice.
const END_BYTES_MAX: usize = 64;

/// How a session begins.
pub(super) struct Beginning {
    pub(super) opening: Opening,
    pub(super) callback: Callback,
    /// Dropped, if there is no session.
    pub(super) answer: oneshot::Sender<Telling>,
    pub(super) patience: Patience,
}

/// Why a session ended before its time.
#[derive(Debug, thiserror::Error)]
pub(super) enum LineError {
    #[error(transparent)]
    Open(#[from] OpenError),
    #[error("the system has no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error(transparent)]
    Socket(#[from] websocket::ServeError),
}

/// Lives a session from its start to its end.
pub(super) async fn live(
    server: &Server,
    lines: &std::sync::Arc<Lines>,
    beginning: Beginning,
    stay: Stay,
) -> Result<(), LineError> {
    let Beginning { opening, callback, answer, patience } = beginning;
    let password = session_name()?;
    let (session, mut leash) = Session::open(server, opening, stay).await?;
    let ticket = Ticket { id: session.name().clone(), password };
    let share = server.databases.bodies().share(Coming::Message);
    let mut line = Line::new(session, share, patience);
    let Some((place, mut calls)) = lines.enter(ticket) else {
        drop(line.session.end(leash).await?);
        return Ok(());
    };
    let present = line.session.enter(Transport::LongPoll);
    let ended = if line.start(&callback, &place, answer) {
        tokio::select! {
            ended = line.carry(&mut calls) => ended?,
            _ = leash.pulled() => End::Over,
        }
    } else {
        End::Over
    };
    match ended {
        End::TakenOver { carrier, last } => {
            place.move_away(last);
            drop((calls, present));
            websocket::carry(carrier, Box::new(line.session), leash).await?;
        }
        End::Over => {
            let stay = line.session.end(leash).await?;
            // Whoever waits is told to begin anew: they find the place empty.
            drop((place, calls, line.held));
            drop(stay);
        }
    }
    Ok(())
}

/// How long polling ends.
enum End {
    /// The session is over.
    Over,
    /// A WebSocket goes on with it; `last` is the number of the last message here.
    TakenOver { carrier: Box<Carrier>, last: u64 },
}

/// A session that is polled.
struct Line {
    session: Session,
    patience: Patience,
    segments: Segments,
    /// Messages that wait until the session has room.
    unread: VecDeque<Assembled<'static>>,
    /// The room that these and the segments take.
    share: BodyShare,
    /// The number of the next message to the client.
    number: u64,
    /// What nobody has taken yet.
    untold: Telling,
    /// The request that waits.
    held: Option<oneshot::Sender<Answer>>,
    /// When a request that waits has waited long enough, or a client that does not ask is no more.
    deadline: Instant,
    take_over: TakeOver,
}

impl Line {
    fn new(session: Session, share: BodyShare, patience: Patience) -> Self {
        let limits =
            FrameLimits { message_bytes_max: MESSAGE_BYTES_MAX, skipped_bytes_max: SKIPPED_BYTES_MAX };
        Self {
            session,
            patience,
            segments: Segments::new(limits),
            unread: VecDeque::new(),
            share,
            number: 0,
            untold: Telling::default(),
            held: None,
            deadline: Instant::now() + patience.silence,
            take_over: TakeOver::default(),
        }
    }

    /// Hands out the ticket and the handshake; false if nobody is there to take them.
    fn start(&mut self, callback: &Callback, place: &Place, answer: oneshot::Sender<Telling>) -> bool {
        *self.untold.script() = Script::start(callback, place.ticket());
        self.collect();
        answer.send(mem::take(&mut self.untold)).is_ok()
    }

    async fn carry(&mut self, calls: &mut mpsc::Receiver<Call>) -> Result<End, Stopped> {
        loop {
            if let Some(end) = self.read().await? {
                return Ok(end);
            }
            let is_told = self.tell();
            if is_told || (self.held.is_some() && self.untold.is_empty()) {
                self.session.drained().await?;
            }
            let is_held = self.held.is_some();
            tokio::select! {
                // With a request at hand and messages unread, others wait: so no more than theirs are kept.
                call = calls.recv(), if !is_held || self.unread.is_empty() => {
                    match call {
                        None | Some(Call::Farewell) => return Ok(End::Over),
                        Some(Call::TakeOver(carrier)) => self.take_over = TakeOver::begin(carrier).await,
                        Some(Call::Poll { segments, answer }) => {
                            if !self.hold(segments, answer) {
                                return Ok(End::Over);
                            }
                        }
                    }
                }
                news = self.session.news(), if is_held => {
                    let Some(news) = news else { return Ok(End::Over) };
                    if self.session.take(news).await? == Next::Close {
                        return Ok(End::Over);
                    }
                }
                () = gone(&mut self.held), if is_held => {
                    self.held = None;
                    self.wait(self.patience.grace);
                }
                heard = self.take_over.heard() => {
                    self.take_over = mem::take(&mut self.take_over).go_on(heard).await;
                }
                () = sleep_until(self.deadline) => {
                    if !is_held {
                        tracing::debug!("a client asks no more");
                        return Ok(End::Over);
                    }
                    self.release();
                }
            }
        }
    }

    /// Lets a request wait instead of the one that waits by now, and takes what it brings; false if that ends the session.
    fn hold(&mut self, segments: Vec<Segment>, answer: oneshot::Sender<Answer>) -> bool {
        self.release();
        if let Err(error) = self.keep(segments) {
            tracing::debug!(%error, "a client is sent away");
            // The client may be gone already.
            drop(answer.send(Err(error)));
            return false;
        }
        self.held = Some(answer);
        self.wait(self.patience.hold);
        true
    }

    /// Keeps what the client says until it can be read, if there is room for it.
    fn keep(&mut self, segments: Vec<Segment>) -> Result<(), SentAway> {
        for segment in segments {
            self.share.grow(segment.data.len())?;
            self.unread.extend(self.segments.push(segment)?);
        }
        self.settle();
        Ok(())
    }

    /// Takes only the room for what is kept.
    fn settle(&mut self) {
        let length = |message: &Assembled<'_>| match message {
            Assembled::Message(text) | Assembled::TooBig { start: text, .. } => text.len(),
        };
        let unread: usize = self.unread.iter().map(length).sum();
        self.share.shrink_to(self.segments.kept_bytes() + unread);
    }

    /// Reads what the client has said, as far as there is room and somebody to tell what comes of it.
    async fn read(&mut self) -> Result<Option<End>, Stopped> {
        while self.session.has_room() && (self.held.is_some() || self.untold.is_empty()) {
            let Some(message) = self.unread.pop_front() else { return Ok(None) };
            self.settle();
            if let Assembled::Message(text) = &message
                && text.len() <= END_BYTES_MAX
                && control(text) == Some(ClientControl::End)
            {
                return Ok(Some(self.switch()));
            }
            if self.session.receive(message).await? == Next::Close {
                return Ok(Some(End::Over));
            }
        }
        Ok(None)
    }

    /// Ends long polling where a WebSocket takes over: what there is, then the last message, then nothing.
    fn switch(&mut self) -> End {
        let Some(carrier) = mem::take(&mut self.take_over).finish() else { return End::Over };
        self.session.say(&ServerControl::End);
        while self.collect() {}
        let last = self.number - 1;
        self.untold.script().close_after(last);
        if self.tell() { End::TakenOver { carrier, last } } else { End::Over }
    }

    /// Takes what goes out, up to something long: that holds on to a tree, and one at a time is enough. Whether there was
    /// anything.
    fn collect(&mut self) -> bool {
        let mut messages = Vec::new();
        while let Some(told) = self.session.next_outgoing() {
            let taking = matches!(told, Told::Long(_)).then(|| self.session.taking());
            let is_long = taking.is_some();
            if let Told::Text(text) = &told {
                self.session.told(text.len());
            }
            messages.push((told, taking));
            if is_long {
                break;
            }
        }
        let is_any = !messages.is_empty();
        if is_any {
            self.untold.tell(self.number, messages);
            self.number += 1;
        }
        is_any
    }

    /// Tells what there is to the request that waits; false if there is nothing, or nobody.
    fn tell(&mut self) -> bool {
        // What is long goes by itself.
        if !self.untold.is_long() {
            self.collect();
        }
        if self.untold.is_empty() {
            return false;
        }
        let Some(held) = self.held.take() else { return false };
        self.wait(self.patience.silence);
        match held.send(Ok(mem::take(&mut self.untold))) {
            Ok(()) => true,
            // Its client is gone or asks anew, and the numbers must have no gap.
            Err(untold) => {
                self.untold = untold.unwrap_or_default();
                self.wait(self.patience.grace);
                false
            }
        }
    }

    /// Lets the request go that waits, with nothing if there is nothing.
    fn release(&mut self) {
        if self.held.as_ref().is_some_and(|held| !held.is_closed()) && !self.tell() && self.held.is_some() {
            self.untold.tell(self.number, Vec::new());
            self.number += 1;
            self.tell();
        }
        self.held = None;
        self.wait(self.patience.silence);
    }

    fn wait(&mut self, time: Duration) {
        self.deadline = Instant::now() + time;
    }
}

/// Returns when the request that waits does so no more.
async fn gone(held: &mut Option<oneshot::Sender<Answer>>) {
    match held {
        Some(held) => held.closed().await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::Gate;
    use crate::database::{self, Databases};
    use crate::keep_alive::KeepAlive;
    use crate::mode::{Dev, Mode, Reach};
    use crate::threads::Threads;
    use crate::transport::EventSecret;
    use axum::http::{Extensions, HeaderMap};
    use hearth_tree::Path;
    use hearth_wire::ConnectParams;
    use std::sync::Arc;

    /// A session of a client that has armed a write at `/a`.
    struct Armed {
        calls: mpsc::Sender<Call>,
        database: database::Database,
        /// The number of the next messages to the client.
        number: u64,
    }

    impl Armed {
        fn is_made(&self) -> bool {
            self.database.published().tree.get(&Path::parse("/a").unwrap()).is_some()
        }

        /// What a request is told that is let go.
        fn nothing(&self) -> String {
            format!("pRTLPCB({},[]);\n", self.number)
        }
    }

    async fn armed(patience: Patience) -> Armed {
        let (threads, _running) = Threads::in_memory();
        let mode = Arc::new(Mode::Dev(Dev {
            reach: Reach::Loopback,
            allowed: Vec::new(),
            rules: None,
            public: None,
            explain: false,
        }));
        let databases =
            Arc::new(Databases::new(threads, database::Beginning::default(), mode.door(), mode.naming()));
        let keep_alive = KeepAlive::DEFAULT;
        let (sessions, event_secret) = (Arc::default(), EventSecret::random().unwrap());
        let server =
            Server { databases, sessions, mode: mode.clone(), keep_alive, event_secret, is_encrypted: false };
        let params = ConnectParams::parse("v=5&ns=demo").unwrap();
        let asked = (&HeaderMap::new(), &Extensions::new());
        let opening = Opening::find(&server, Gate::of_program(mode), params, asked).await.unwrap();
        let database = opening.database.clone();
        let (answer, is_started) = oneshot::channel();
        let callback = Callback::parse("7").unwrap();
        let beginning = Beginning { opening, callback, answer, patience };
        let lines = Arc::new(Lines::default());
        let (stay, own) = (server.sessions.stay(), lines.clone());
        tokio::spawn(async move { live(&server, &own, beginning, stay).await });
        is_started.await.unwrap();
        let calls = lines.only().unwrap();
        let arm = Segment {
            number: 0,
            of: 1,
            // {"t":"d","d":{"r":1,"a":"o","b":{"p":"/a","d":1}}}
            data: "eyJ0IjoiZCIsImQiOnsiciI6MSwiYSI6Im8iLCJiIjp7InAiOiIvYSIsImQiOjF9fX0.".into(),
        };
        let (mut number, mut segments) = (1, vec![arm]);
        loop {
            // On a busy machine it may be let go before it is answered.
            let script = poll(&calls, mem::take(&mut segments))
                .await
                .await
                .unwrap()
                .unwrap()
                .into_text()
                .ok()
                .unwrap();
            number += 1;
            if script.contains(r#""s":"ok""#) {
                return Armed { calls, database, number };
            }
            assert_eq!(script, format!("pRTLPCB({},[]);\n", number - 1));
        }
    }

    async fn poll(calls: &mpsc::Sender<Call>, segments: Vec<Segment>) -> oneshot::Receiver<Answer> {
        let (answer, is_answered) = oneshot::channel();
        assert!(calls.send(Call::Poll { segments, answer }).await.is_ok());
        is_answered
    }

    const LONG: Duration = Duration::from_secs(600);
    const SHORT: Duration = Duration::from_millis(20);

    #[tokio::test]
    async fn a_request_is_let_go_before_the_client_asks_anew() {
        let armed = armed(Patience { hold: SHORT, silence: LONG, grace: LONG }).await;
        let script = poll(&armed.calls, Vec::new()).await.await.unwrap().unwrap();
        assert_eq!(script.into_text().ok().unwrap(), armed.nothing());
    }

    #[tokio::test]
    async fn a_client_that_asks_no_more_has_left() {
        // Long enough for a busy machine to arm the write.
        let silence = Duration::from_secs(2);
        let armed = armed(Patience { hold: LONG, silence, grace: LONG }).await;
        armed.calls.closed().await;
        assert!(armed.is_made());
    }

    #[tokio::test]
    async fn a_client_whose_request_is_gone_may_ask_again() {
        let armed = armed(Patience { hold: LONG, silence: LONG, grace: LONG }).await;
        drop(poll(&armed.calls, Vec::new()).await);
        let again = poll(&armed.calls, Vec::new()).await;
        let _newer = poll(&armed.calls, Vec::new()).await;
        assert_eq!(again.await.unwrap().unwrap().into_text().ok().unwrap(), armed.nothing());
        assert!(!armed.is_made());
    }

    #[tokio::test]
    async fn a_client_whose_request_is_gone_and_who_does_not_ask_again_has_left() {
        let armed = armed(Patience { hold: LONG, silence: LONG, grace: SHORT }).await;
        drop(poll(&armed.calls, Vec::new()).await);
        armed.calls.closed().await;
        assert!(armed.is_made());
    }
}
