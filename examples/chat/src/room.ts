// Rooms: making, joining and leaving them, and the list of them.

import {
  limitToLast, onValue, orderByChild, push, query, ref, serverTimestamp, update, type Unsubscribe,
} from 'firebase/database';
import { parseRoomId, place, readRoom, type Room, type RoomId } from './layout';
import { watchLast } from './message';
import { refused, taken } from './refusal';
import type { Session } from './session';

const OTHERS_MAX = 30;

export interface Rooms {
  mine: Room[];
  others: Room[];
  /** False until the server has said which rooms are mine. */
  known: boolean;
}

export function createRoom(session: Session, title: string): RoomId {
  const { database } = session;
  const room = push(ref(database, place.chats)).key as RoomId;
  void taken('The room was not made', update(ref(database), {
    [place.chat(room)]: { title, lastAt: serverTimestamp() },
    ...membership(session, room),
  }));
  return room;
}

export function joinRoom(session: Session, room: RoomId): void {
  void taken('Not joined', update(ref(session.database), membership(session, room)));
}

export function leaveRoom({ database, me }: Session, room: RoomId): void {
  void taken('Not left', update(ref(database), {
    [place.member(room, me.uid)]: null,
    [place.roomOfUser(me.uid, room)]: null,
    [place.typist(room, me.uid)]: null,
  }));
}

// Both sides of a membership, to be written together: either both are true afterwards or neither is.
function membership({ me }: Session, room: RoomId): Record<string, unknown> {
  return {
    [place.member(room, me.uid)]: { name: me.name, joinedAt: serverTimestamp() },
    [place.roomOfUser(me.uid, room)]: true,
  };
}

/** One room by itself, for somebody who was sent a link to it; undefined when there is no such room. */
export function watchRoom({ database }: Session, id: RoomId, show: (room: Room | undefined) => void): Unsubscribe {
  return onValue(
    ref(database, place.chat(id)),
    (chat) => show(readRoom(id, chat.val())),
    (reason) => refused('The room cannot be read', reason),
  );
}

/** My rooms, however many, and the liveliest of the others; newest message first. */
export function watchRooms(session: Session, show: (rooms: Rooms) => void): void {
  const { database, me } = session;
  const watched = new Map<RoomId, Unsubscribe>();
  const mine = new Map<RoomId, Room>();
  const last = new Map<RoomId, string>();
  let liveliest: Room[] = [];
  let known = false;

  const tell = (): void => {
    show({
      mine: [...mine.values()]
        .map((room) => ({ ...room, lastMessage: last.get(room.id) ?? '' }))
        .sort((one, other) => other.lastAt - one.lastAt),
      others: liveliest.filter((room) => !watched.has(room.id)),
      known,
    });
  };

  const follow = (id: RoomId): void => {
    const ends: Unsubscribe[] = [];
    watched.set(id, () => ends.forEach((end) => end())); // First: a listener may call back before it has returned.
    ends.push(watchRoom(session, id, (room) => {
      if (room === undefined) {
        mine.delete(id);
      } else {
        mine.set(id, room);
      }
      tell();
    }));
    ends.push(watchLast(session, id, ({ name, text }) => {
      last.set(id, `${name}: ${text}`);
      tell();
    }));
  };

  const unfollow = (id: RoomId): void => {
    watched.get(id)?.();
    watched.delete(id);
    mine.delete(id);
    last.delete(id);
  };

  onValue(ref(database, place.roomsOfUser(me.uid)), (rooms) => {
    const ids = new Set(Object.keys(rooms.val() ?? {}).flatMap((id) => parseRoomId(id) ?? []));
    [...watched.keys()].filter((id) => !ids.has(id)).forEach(unfollow);
    [...ids].filter((id) => !watched.has(id)).forEach(follow);
    known = true;
    tell();
  }, (reason) => refused('Your rooms cannot be read', reason));

  // Ordered by the server, which wants an index for it: `.indexOn` in rules.json.
  const newest = query(ref(database, place.chats), orderByChild('lastAt'), limitToLast(OTHERS_MAX));
  onValue(newest, (chats) => {
    liveliest = [];
    chats.forEach((chat) => {
      const room = readRoom(chat.key ?? '', chat.val());
      if (room !== undefined) {
        liveliest.unshift(room);
      }
    });
    tell();
  }, (reason) => refused('The rooms cannot be read', reason));
}
