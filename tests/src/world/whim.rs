//! What clients do of their own accord.

use super::client::{Ask, Deed};
use super::history::hash_of;
use super::mirror::Mirror;
use super::wish::{self, Wish};
use super::{SENT_MAX, World};
use crate::naive::{self, Doubles, OrderBy, Query};
use hearth_engine::{Tag, Ticket};
use hearth_tree::Hash;

/// A hash that nothing here has.
const FOREIGN: &str = "z6sRbrNLwbHX5fdjpvsTtWgXUFc=";

impl World {
    /// A client sends a request.
    pub(super) fn ask(&mut self) {
        let Some(who) = self.any_client() else { return };
        if SENT_MAX <= self.clients[who].sent.len() {
            return;
        }
        match self.dice.below(100) {
            0..35 => {
                let deed = Deed::Write(Wish::random(&mut self.dice));
                self.ask_to_decide(who, deed);
            }
            35..50 => {
                let wish = Wish::random(&mut self.dice);
                let at = wish.place().to_string();
                let hash = self.any_hash(&at);
                self.ask_to_decide(who, Deed::WriteIf(at, hash, wish));
            }
            50..58 => {
                let deed = Deed::Arm(Wish::random(&mut self.dice));
                self.ask_to_decide(who, deed);
            }
            58..62 => {
                let deed = Deed::Disarm(wish::path(&mut self.dice, 2));
                self.ask_to_decide(who, deed);
            }
            62..82 => self.ask_to_listen(who),
            82..88 => self.ask_again(who),
            88..96 => self.ask_to_forget(who),
            _ => {
                let identity = self.laws.now().identity(&mut self.dice);
                self.clients[who].send(Ask::Identify(identity));
            }
        }
    }

    /// Somebody writes.
    pub(super) fn ask_to_write(&mut self) {
        let Some(who) = self.any_client() else { return };
        let deed = Deed::Write(Wish::random(&mut self.dice));
        self.ask_to_decide(who, deed);
    }

    fn ask_to_decide(&mut self, who: usize, deed: Deed) {
        let ticket = self.ticket();
        self.clients[who].send(Ask::Decide(ticket, deed));
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets_made += 1;
        Ticket(self.tickets_made)
    }

    /// The hash of a place, right or of some time ago, or none, or a foreign one.
    fn any_hash(&mut self, at: &str) -> Option<Hash> {
        let newest = self.history.newest();
        let revision = match self.dice.below(10) {
            0..6 => newest,
            6..8 => newest - self.dice.below(newest.min(4) + 1),
            8 => return None,
            _ => return Some(Hash::parse(FOREIGN).expect("a hash")),
        };
        let doubles = self.doubles();
        hash_of(self.history.at(revision).get(at), doubles)
    }

    fn doubles(&mut self) -> Doubles {
        *self.dice.pick(&[Doubles::True, Doubles::JavaScript])
    }

    fn ask_to_listen(&mut self, who: usize) {
        let (query, tag) = if self.dice.percent(50) {
            (Query::all(OrderBy::Priority), None)
        } else {
            self.tickets_made += 1;
            (wish::query(&mut self.dice), Some(Tag(self.tickets_made)))
        };
        let at = wish::path(&mut self.dice, 2);
        if self.clients[who].mirrors.contains_key(&(at.clone(), tag)) {
            return;
        }
        let newest = self.history.newest();
        let revision = newest - self.dice.below(newest.min(4) + 1);
        let had = self.history.answer(revision, &naive::split(&at), &query);
        let (known, had) = match self.dice.below(4) {
            0 => (None, None),
            1 => (Some(None), None),
            2 => (Some(Some(Hash::parse(FOREIGN).expect("a hash"))), None),
            _ => (Some(hash_of(had.as_ref(), self.doubles())), had),
        };
        let ticket = self.ticket();
        let mirror = Mirror::new(&at, query.clone(), had, ticket);
        self.clients[who].mirrors.insert((at.clone(), tag), mirror);
        self.clients[who].send(Ask::Listen { ticket, at, query, tag, known });
    }

    /// To listen to what it listens to, as Android does when its token is refreshed.
    fn ask_again(&mut self, who: usize) {
        let count = self.clients[who].mirrors.len();
        if count == 0 {
            return;
        }
        let ticket = self.ticket();
        let (which, doubles) = (self.dice.below(count), self.doubles());
        let (place, mirror) = self.clients[who].mirrors.iter_mut().nth(which).expect("there are more");
        let (at, tag) = place.clone();
        let known = match self.dice.below(3) {
            0 => None,
            1 => Some(Some(Hash::parse(FOREIGN).expect("a hash"))),
            _ => Some(hash_of(mirror.shown.as_ref(), doubles)),
        };
        mirror.asked_by.push(ticket);
        let query = mirror.query.clone();
        self.clients[who].send(Ask::Listen { ticket, at, query, tag, known });
    }

    fn ask_to_forget(&mut self, who: usize) {
        let count = self.clients[who].mirrors.len();
        if count == 0 {
            return;
        }
        let which = self.dice.below(count);
        let client = &mut self.clients[who];
        let place = client.mirrors.keys().nth(which).expect("there are more").clone();
        client.mirrors.remove(&place);
        client.send(Ask::Unlisten(place.0, place.1));
    }
}
