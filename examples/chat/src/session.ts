// The connection to Hearth, and who speaks on it.

import { initializeApp } from 'firebase/app';
import { connectDatabaseEmulator, getDatabase, onValue, ref, type Database } from 'firebase/database';
import type { Identity } from './identity';

export interface Session {
  database: Database;
  me: Identity;
}

const NAMESPACE = 'chat';
/** Hearth serves the page that is built (`--public`); the one that is being worked on is Vite's. */
const USUAL = import.meta.env.PROD ? window.location.origin : 'http://127.0.0.1:9000';

export function openSession(me: Identity): Session {
  const hearth = new URL(import.meta.env.VITE_HEARTH_URL || USUAL);
  const app = initializeApp({ projectId: NAMESPACE, databaseURL: `${hearth.origin}?ns=${NAMESPACE}` });
  const database = getDatabase(app);
  // `hearth dev` believes unsigned tokens, and this call is how the SDK makes one: rules see `auth.uid`. `hearth serve`
  // believes only signed ones; there this line goes, and the SDK sends the token of whoever is signed in.
  connectDatabaseEmulator(database, hearth.hostname, Number(hearth.port || 80), { mockUserToken: { sub: me.uid } });
  return { database, me };
}

/** Calls back with false at once, and then with every change. */
export function watchConnected({ database }: Session, show: (connected: boolean) => void): void {
  onValue(ref(database, '.info/connected'), (connected) => show(connected.val() === true));
}
