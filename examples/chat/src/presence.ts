// Who is there. The server keeps the last word: what is queued by `onDisconnect` happens when the connection ends, also
// when the battery did and nobody could say goodbye.

import { onDisconnect, onValue, push, ref, serverTimestamp, set, type Unsubscribe } from 'firebase/database';
import { place, type Uid } from './layout';
import { refused, taken } from './refusal';
import { watchConnected, type Session } from './session';

export function announcePresence(session: Session): void {
  const { database, me } = session;
  watchConnected(session, (connected) => {
    if (!connected) {
      return;
    }
    // A new place for every connection, since what the server still does for the old one must not undo this. First the
    // goodbye, then the greeting: the other way round, a connection that ends in between would leave a ghost.
    const here = push(ref(database, place.connections(me.uid)));
    void taken('Presence', onDisconnect(here).remove());
    void taken('Presence', set(here, serverTimestamp()));
  });
}

/** One listener for each member shown: listening to all of `presence` would cost every client the whole world. */
export function watchOnline({ database }: Session, uid: Uid, show: (online: boolean) => void): Unsubscribe {
  return onValue(
    ref(database, place.connections(uid)),
    (connections) => show(connections.exists()),
    (reason) => refused('Presence', reason),
  );
}
