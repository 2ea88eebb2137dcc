// Who I am. There are no accounts here: a name is asked for once, an id is made for it, and both stay in this browser.

import type { Uid } from './layout';

export interface Identity {
  uid: Uid;
  name: string;
}

const STORED_AS = 'hearth-chat-identity';

export function storedIdentity(): Identity | undefined {
  const stored = localStorage.getItem(STORED_AS);
  return stored === null ? undefined : (JSON.parse(stored) as Identity);
}

export function newIdentity(name: string): Identity {
  // Not `randomUUID`: browsers only have it on https and localhost, and a phone in the same network opens neither.
  const bytes = crypto.getRandomValues(new Uint8Array(10));
  const uid = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('') as Uid;
  const identity = { uid, name };
  localStorage.setItem(STORED_AS, JSON.stringify(identity));
  return identity;
}

export function forgetIdentity(): void {
  localStorage.removeItem(STORED_AS);
}
