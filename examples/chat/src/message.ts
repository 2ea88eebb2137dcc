// Messages of one room: sending one, following the newest, paging back.

import {
  endBefore, get, limitToLast, onValue, orderByKey, push, query, ref, serverTimestamp, update,
  type DataSnapshot, type Unsubscribe,
} from 'firebase/database';
import { place, readMessage, type Message, type MessageId, type RoomId } from './layout';
import { refused, taken } from './refusal';
import type { Session } from './session';

/** So many messages are followed live, and so many come with each step back. */
export const PAGE = 50;

export interface Sending {
  id: MessageId;
  /** Whether the server took it. */
  taken: Promise<boolean>;
}

// The message and the time that the list of rooms is ordered by, in one update: no list is ever behind its room.
export function sendMessage({ database, me }: Session, room: RoomId, text: string): Sending {
  // A push id begins with the time, so the order of the keys is the order of the conversation.
  const id = push(ref(database, place.messages(room))).key as MessageId;
  const written = update(ref(database), {
    [place.message(room, id)]: { from: me.uid, name: me.name, text, at: serverTimestamp() },
    [`${place.chat(room)}/lastAt`]: serverTimestamp(),
  });
  return { id, taken: taken('Not sent', written) };
}

export interface Page {
  /** Oldest first. */
  messages: Message[];
  /** Whether there may be more before it. */
  isFull: boolean;
}

/** The newest `PAGE` messages, whole at each change: one that is missing in between was taken out of the room. */
export function watchNewest({ database }: Session, room: RoomId, show: (window: Page) => void): Unsubscribe {
  return onValue(
    query(ref(database, place.messages(room)), orderByKey(), limitToLast(PAGE)),
    (window) => show(pageOf(window)),
    (reason) => refused('The messages cannot be read', reason),
  );
}

/** What was said last, for the list of rooms; as long as I am a member. */
export function watchLast({ database }: Session, room: RoomId, show: (last: Message) => void): Unsubscribe {
  return onValue(
    query(ref(database, place.messages(room)), orderByKey(), limitToLast(1)),
    (window) => pageOf(window).messages.forEach(show),
    () => {}, // Whoever left in another tab is told by the list itself.
  );
}

/** Up to `PAGE` messages before that one. Read once: what is this old does not change. */
export async function readOlder({ database }: Session, room: RoomId, than: MessageId): Promise<Page> {
  return pageOf(await get(query(ref(database, place.messages(room)), orderByKey(), endBefore(than), limitToLast(PAGE))));
}

function pageOf(snapshot: DataSnapshot): Page {
  const messages: Message[] = [];
  // `forEach` keeps the order of the query; the object that `val()` returns may not.
  snapshot.forEach((child) => {
    const message = readMessage(child.key ?? '', child.val());
    if (message !== undefined) {
      messages.push(message);
    }
  });
  return { messages, isFull: snapshot.size === PAGE };
}
