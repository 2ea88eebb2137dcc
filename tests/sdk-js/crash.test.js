// The server is killed in the middle of everything, and started again on its data: whatever was confirmed is there, nothing
// is there twice or half, who was there is not there any more, and the same clients go on as if nothing had been.
//
// Why real kills: the simulated disk of the log's own tests knows every order in which sectors may arrive, but not this
// binary. HEARTH_CRASHES=200 kills it so often.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as after } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { deleteApp, initializeApp, setLogLevel } from 'firebase/app';
import {
  getDatabase, goOffline, goOnline, onChildAdded, onDisconnect, onValue, push, ref, runTransaction, set, update,
} from 'firebase/database';
import { Server } from './server.js';
import { within } from './within.js';

const CRASHES = Number(process.env.HEARTH_CRASHES ?? 10);
/** Writes of one client that are not answered yet. */
const UNDER_WAY_MAX = 20;

setLogLevel('silent');

/** An app that writes without a pause and remembers what it was told. */
class Writer {
  /** What must be there, whatever happens: places and values. */
  confirmed = new Map();
  /** Transactions of which each has counted one more, and those of which nobody knows. */
  counted = 0;
  uncertain = 0;
  /** What listeners have shown: the number of times that each pushed message was added. */
  added = new Map();
  #underWay = new Set();
  #made = 0;
  #isWriting = true;

  constructor(url, name) {
    this.name = name;
    this.app = initializeApp({ databaseURL: `${url}?ns=crash` }, name);
    this.database = getDatabase(this.app);
    // Stands through all crashes; what it shows is asked for in the end.
    onValue(ref(this.database), () => {});
    onChildAdded(this.#at('messages'), ({ key }) => this.added.set(key, 1 + (this.added.get(key) ?? 0)));
    // As the guides say: armed anew with every connection, and only then online.
    const presence = this.#at(`presence/${name}`);
    onValue(this.#at('.info/connected'), async (snapshot) => {
      if (!snapshot.val()) return;
      await onDisconnect(presence).set('offline');
      await set(presence, 'online');
      this.arrived?.();
    });
    this.#write();
  }

  #at(path) {
    return ref(this.database, path);
  }

  async #write() {
    while (this.#isWriting) {
      for (const begin of [this.#set, this.#push, this.#update, this.#count]) {
        const write = begin.call(this).finally(() => this.#underWay.delete(write));
        this.#underWay.add(write);
      }
      if (UNDER_WAY_MAX < this.#underWay.size) await Promise.race(this.#underWay);
      await after(1);
    }
  }

  #next() {
    this.#made += 1;
    return this.#made;
  }

  async #set() {
    const n = this.#next();
    await set(this.#at(`sets/${this.name}/${n}`), { n, text: 'x'.repeat(n % 300) });
    this.confirmed.set(`sets/${this.name}/${n}/n`, n);
  }

  async #push() {
    const n = this.#next();
    const { key } = await push(this.#at('messages'), { by: this.name, n });
    this.confirmed.set(`messages/${key}/n`, n);
  }

  async #update() {
    const n = this.#next();
    await update(this.#at('halves'), { [`left/${this.name}/${n}`]: n, [`right/${this.name}/${n}`]: n });
    this.confirmed.set(`halves/left/${this.name}/${n}`, n);
  }

  async #count() {
    try {
      const { committed } = await runTransaction(this.#at('counter'), (count) => (count ?? 0) + 1);
      if (committed) this.counted += 1;
    } catch {
      // Cut off: it has counted or it has not.
      this.uncertain += 1;
    }
  }

  /** Connects again now, instead of when it feels like it, and resolves when it has said that it is there. */
  async comeBack() {
    const back = new Promise((resolve) => {
      this.arrived = resolve;
    });
    goOnline(this.database);
    await within(back, `${this.name} back online`);
  }

  /** Resolves when the listener at the root shows this. */
  async shows(tree) {
    let last;
    const shown = new Promise((resolve) => {
      onValue(ref(this.database), (snapshot) => {
        last = snapshot.val();
        if (isDeepStrictEqual(last, tree)) resolve();
      });
    });
    await within(shown, `the tree of the server, shown to ${this.name}`, () => JSON.stringify(last).slice(0, 2_000));
  }

  async rest() {
    this.#isWriting = false;
    await within(Promise.allSettled([...this.#underWay]), `answers for ${this.name}`);
  }
}

const at = (tree, path) => path.split('/').reduce((node, key) => node?.[key], tree);

/** What must hold of the data that a server has found. */
function check(tree, writers, when) {
  for (const writer of writers) {
    for (const [path, value] of writer.confirmed) {
      assert.equal(at(tree, path), value, `${when}: confirmed at ${path}`);
    }
  }
  const { left, right } = tree.halves ?? {};
  assert.deepEqual(left, right, `${when}: both halves of every update or none`);
  const counted = writers.reduce((sum, writer) => sum + writer.counted, 0);
  assert.ok(counted <= (tree.counter ?? 0), `${when}: ${counted} transactions were confirmed, ${tree.counter} are there`);
}

const read = async (url) => (await fetch(`${url}/.json?ns=crash`)).json();

test(`${CRASHES} times killed, and nothing is lost`, { timeout: 60_000 + CRASHES * 20_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'hearth-crash-'));
  const server = await Server.start(folder);
  const writers = ['ada', 'bob'].map((name) => new Writer(server.url, name));
  try {
    await Promise.all(writers.map((writer) => writer.comeBack()));
    for (let crash = 1; crash <= CRASHES; crash += 1) {
      // A moment that nobody has chosen.
      await after(20 + Math.random() * 300);
      await server.kill();
      for (const { database } of writers) goOffline(database);
      await server.startAgain();
      const tree = await read(server.url);
      check(tree, writers, `after crash ${crash}`);
      // Both had confirmed their arrival, so both were armed.
      assert.deepEqual(tree.presence, { ada: 'offline', bob: 'offline' }, `who is there after crash ${crash}`);
      assert.match(server.said, /the last server was cut off; 2 sessions ended with it/);
      await Promise.all(writers.map((writer) => writer.comeBack()));
    }
    await Promise.all(writers.map((writer) => writer.rest()));
    const tree = await read(server.url);
    check(tree, writers, 'in the end');
    const most = writers.reduce((sum, { counted, uncertain }) => sum + counted + uncertain, 0);
    assert.ok(tree.counter <= most, `${tree.counter} counted, by ${most} transactions`);
    for (const writer of writers) {
      await writer.shows(tree);
      assert.deepEqual([...writer.added.keys()].sort(), Object.keys(tree.messages).sort());
      assert.ok([...writer.added.values()].every((times) => times === 1), 'a message was added twice');
    }
    assert.ok(CRASHES <= writers[0].confirmed.size, 'lives in which nothing happens');
    await server.stop();
    await server.startAgain();
    assert.deepEqual(await read(server.url), { ...tree, presence: { ada: 'offline', bob: 'offline' } });
    assert.doesNotMatch(server.said, /cut off/);
  } finally {
    await Promise.all(writers.map(({ app }) => deleteApp(app)));
    await server.kill().catch(() => {});
    await rm(folder, { recursive: true });
  }
});
