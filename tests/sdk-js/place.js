// The real server, and for each test a database of its own in it, with official clients and bare sockets.
//
// Why nothing here sleeps: whoever waits says for what, and the deadline fails with those words and what was seen last.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deleteApp, initializeApp, setLogLevel } from 'firebase/app';
import {
  getDatabase, onChildAdded, onChildChanged, onChildMoved, onChildRemoved, onValue, ref, set,
} from 'firebase/database';
import { Socket } from './socket.js';

const BINARY = process.env.HEARTH_BIN ?? fileURLToPath(new URL('../../target/debug/hearth', import.meta.url));
/** How long anything may take, and a whole test. The machine may be busy with other things. */
const DEADLINE_MS = 20_000;
const TEST_MS = 60_000;

// The client warns about every refusal, and here most refusals are wanted.
setLogLevel('silent');

/** The promise, or a failure that names what did not come. `last` may say what was there instead. */
export async function within(promise, what, last = () => '') {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${DEADLINE_MS} ms: ${what} ${last()}`)), DEADLINE_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function start() {
  const child = spawn(BINARY, ['dev', '--memory', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  process.once('exit', () => child.kill('SIGKILL'));
  after(async () => {
    child.kill('SIGTERM');
    assert.equal(await within(ended, 'the end of the server'), 0, 'how the server ended');
  });
  const address = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${BINARY} ended at once, with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /^listening on (http:\S+)$/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  return within(address, 'the address of the server');
}

const url = await start();
let placesMade = 0;
let clientsMade = 0;

/** One database of the server, and who is connected to it. */
export class Place {
  #apps = [];
  #sockets = [];
  #killed = [];

  constructor() {
    placesMade += 1;
    this.namespace = `place-${placesMade}`;
    this.url = `${url}?ns=${this.namespace}`;
  }

  /** Another app of the official SDK with its own connection. */
  client() {
    clientsMade += 1;
    const app = initializeApp({ databaseURL: this.url }, `client-${clientsMade}`);
    this.#apps.push(app);
    return getDatabase(app);
  }

  /** That many of them. */
  clients(count) {
    return Array.from({ length: count }, () => this.client());
  }

  /** A connection that speaks the protocol by hand. `last` is the name of the session that it follows. */
  async socket(last) {
    const socket = await within(Socket.open(url, this.namespace, last), 'a handshake');
    this.#sockets.push(socket);
    return socket;
  }

  /** Another app in a process of its own: a file of `apps`. Resolves with its first line; `kill()` leaves it no time. */
  async app(name) {
    const file = fileURLToPath(new URL(`apps/${name}.js`, import.meta.url));
    const child = spawn(process.execPath, [file, this.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    const kill = () => child.kill('SIGKILL');
    this.#killed.push(kill);
    const line = new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
    return { line: await within(line, `a word of the app ${name}`), kill };
  }

  async leave() {
    for (const kill of this.#killed) kill();
    for (const socket of this.#sockets) socket.kill();
    await Promise.all(this.#apps.map(deleteApp));
  }
}

/** A test in a place of its own. */
export function subject(name, body) {
  test(name, { timeout: TEST_MS }, async () => {
    const place = new Place();
    try {
      await body(place);
    } finally {
      await place.leave();
    }
  });
}

/** The first value at a query that fits, as its listener is told. */
export function until(query, fits, what = `a fitting value at ${query}`) {
  let last;
  let stop = () => {};
  const found = new Promise((resolve, reject) => {
    stop = onValue(query, (snapshot) => {
      last = snapshot.val();
      if (fits(last, snapshot)) resolve(last);
    }, reject);
  });
  return within(found, what, () => `(last: ${JSON.stringify(last)})`).finally(() => stop());
}

/** Waits until a client is connected. */
export const connected = (client) => until(ref(client, '.info/connected'), (is) => is === true, 'a connection');

let marksMade = 0;

/** Waits until a client has been told all that was acknowledged before: what is told comes in the order of commits. */
export async function settled(writer, reader) {
  marksMade += 1;
  const at = `marks/${marksMade}`;
  const seen = until(ref(reader, at), (is) => is === true, 'a mark');
  await set(ref(writer, at), true);
  await seen;
}

/** The value events of a query, all values in order. Resolves when the first has come. */
export async function values(query) {
  const seen = [];
  const first = new Promise((resolve, reject) => {
    onValue(query, (snapshot) => {
      seen.push(snapshot.val());
      resolve();
    }, reject);
  });
  await within(first, `a first value at ${query}`);
  return seen;
}

/** The child events of a query as short texts, in order: `added b after a`, `removed b`. */
export async function children(query) {
  const seen = [];
  const after = (kind) => (snapshot, previous) =>
    seen.push(`${kind} ${snapshot.key} after ${previous}`);
  onChildAdded(query, after('added'));
  onChildChanged(query, after('changed'));
  onChildMoved(query, after('moved'));
  onChildRemoved(query, (snapshot) => seen.push(`removed ${snapshot.key}`));
  // A value comes behind the children that it consists of.
  await values(query);
  return seen;
}

/** The keys of a snapshot's children, in their order. */
export function keysOf(snapshot) {
  const found = [];
  snapshot.forEach((child) => {
    found.push(child.key);
  });
  return found;
}

/** What has been collected since the last time. */
export function take(seen) {
  return seen.splice(0, seen.length);
}
