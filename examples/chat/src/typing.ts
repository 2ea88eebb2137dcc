// Who is writing just now.

import { onDisconnect, onValue, ref, remove, set, type DatabaseReference, type Unsubscribe } from 'firebase/database';
import { place, type RoomId, type Uid } from './layout';
import { refused, taken } from './refusal';
import type { Session } from './session';

const PAUSE_MS = 4000;

/** My own side of it, in one room. Two requests when a sentence begins and one when it ends, none for each key. */
export class Typing {
  readonly #place: DatabaseReference;
  #pause: ReturnType<typeof setTimeout> | undefined;

  constructor({ database, me }: Session, room: RoomId) {
    this.#place = ref(database, place.typist(room, me.uid));
  }

  keyPressed(): void {
    if (this.#pause === undefined) {
      // Every time anew, because the server forgets it with the connection and connections come and go.
      void taken('Typing', onDisconnect(this.#place).remove());
      void taken('Typing', set(this.#place, true));
    }
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.stop(), PAUSE_MS);
  }

  stop(): void {
    if (this.#pause === undefined) {
      return;
    }
    clearTimeout(this.#pause);
    this.#pause = undefined;
    void taken('Typing', remove(this.#place));
  }
}

/** Everybody but me. */
export function watchTypists({ database, me }: Session, room: RoomId, show: (uids: Uid[]) => void): Unsubscribe {
  return onValue(
    ref(database, place.typists(room)),
    (typists) => show(Object.keys(typists.val() ?? {}).filter((uid) => uid !== me.uid) as Uid[]),
    (reason) => refused('Typing', reason),
  );
}
