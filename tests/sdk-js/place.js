// The real server, and for each test a database of its own in it, with official clients and bare sockets.
//
// Why nothing here sleeps: whoever waits says for what, and the deadline fails with those words and what was seen last.
// And why a witness stands before the server: it judges every message for every SDK, where this client alone forgives.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deleteApp, initializeApp, setLogLevel } from 'firebase/app';
import {
  connectDatabaseEmulator, getDatabase, onChildAdded, onChildChanged, onChildMoved, onChildRemoved, onValue, ref, set,
} from 'firebase/database';
import { HEARTH, WITNESS, start } from './program.js';
import { Socket } from './socket.js';
import { within } from './within.js';

export { within };

/** How long a whole test may take. The machine may be busy with other things. */
const TEST_MS = 60_000;

// The client warns about every refusal, and here most refusals are wanted.
setLogLevel('silent');

/** A server with these options, behind a witness, until the tests of this file are over. Resolves with its address. */
export async function serve(...options) {
  const started = (async () => {
    const server = await start(HEARTH, ['dev', '--memory', '--port', '0', ...options], { stderr: 'inherit' });
    return { server, witness: await start(WITNESS, [server.url], { stderr: 'inherit' }) };
  })();
  after(async () => {
    const { server, witness } = await started;
    assert.equal(await server.end('SIGTERM'), 0, 'how the server ended');
    assert.equal(await witness.end(), 0, 'the witness found that the server sent what an SDK cannot bear; see above');
  });
  return (await started).witness.url;
}

let placesMade = 0;
let clientsMade = 0;

/** One database of the server, and who is connected to it. */
export class Place {
  #apps = [];
  #sockets = [];
  #killed = [];
  #ends = [];

  constructor(server) {
    placesMade += 1;
    this.server = server;
    this.namespace = `place-${placesMade}`;
    this.url = `${server}?ns=${this.namespace}`;
  }

  /** Another app of the official SDK with its own connection: of nobody, of a user, or of the admin `owner`. */
  client(user) {
    clientsMade += 1;
    const app = initializeApp({ databaseURL: this.url }, `client-${clientsMade}`);
    this.#apps.push(app);
    const client = getDatabase(app);
    if (user) {
      const { hostname, port } = new URL(this.server);
      const mockUserToken = user === 'owner' ? user : { sub: user };
      connectDatabaseEmulator(client, hostname, Number(port), { mockUserToken });
    }
    return client;
  }

  /** That many of them. */
  clients(count) {
    return Array.from({ length: count }, () => this.client());
  }

  /** A connection that speaks the protocol by hand. `last` is the name of the session that it follows. */
  async socket(last) {
    const socket = await within(Socket.open(this.server, this.namespace, last), 'a handshake');
    this.#sockets.push(socket);
    return socket;
  }

  /** A request by HTTP. Names and values of `params` are not encoded yet. */
  fetch(at, { params = {}, ...rest } = {}) {
    const query = new URLSearchParams({ ns: this.namespace, ...params });
    return fetch(`${this.server}${at}.json?${query}`, rest);
  }

  /** An event stream. `next()` resolves with the next event, `close()` ends it. */
  async stream(at, params) {
    const leave = new AbortController();
    const answer = await this.fetch(at, { params, headers: { accept: 'text/event-stream' }, signal: leave.signal });
    const bytes = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const next = async () => {
      for (;;) {
        const found = /^event: (.*)\ndata: (.*)\n\n/m.exec(text);
        if (found) {
          text = text.slice(found.index + found[0].length);
          return { event: found[1], data: JSON.parse(found[2]) };
        }
        const { done, value } = await bytes.read();
        if (done) return { event: 'end', data: text };
        text += value;
      }
    };
    return { answer, next: () => within(next(), `an event of ${at}`), close: () => leave.abort() };
  }

  /**
   * Another app in a process of its own: a file of `apps`. Resolves with its first line; `stop()` lets it stand still,
   * and `kill()` leaves it no time.
   */
  async app(name) {
    const file = fileURLToPath(new URL(`apps/${name}.js`, import.meta.url));
    const child = spawn(process.execPath, [file, this.url], { stdio: ['ignore', 'pipe', 'inherit'] });
    const kill = () => child.kill('SIGKILL');
    this.#killed.push(kill);
    const line = new Promise((resolve) => createInterface({ input: child.stdout }).once('line', resolve));
    const stop = () => child.kill('SIGSTOP');
    return { line: await within(line, `a word of the app ${name}`), stop, kill };
  }

  /** Has this done when the test is over: the end of a client that is not made here. */
  atEnd(act) {
    this.#ends.push(act);
  }

  async leave() {
    for (const kill of this.#killed) kill();
    for (const socket of this.#sockets) socket.kill();
    await Promise.all(this.#ends.map((act) => act()));
    await Promise.all(this.#apps.map(deleteApp));
  }
}

/** The server of the tests that need no other. */
let usual;

/** A test in a place of its own, on the usual server or another one. */
export function subject(name, body, server = (usual ??= serve())) {
  test(name, { timeout: TEST_MS }, async () => {
    const place = new Place(await server);
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
