// The server is killed in the middle of everything, and started again on its data: whatever was confirmed is there, nothing
// is there twice or half, who was there is not there any more, and the same clients go on as if nothing had been.
//
// Why real kills: the simulated disk of the log's own tests knows every order in which sectors may arrive, but not this
// binary. Checkpoints are written and the log is trimmed all the time, and some kills are aimed at each part of that: a
// moment that nobody has chosen seldom falls into it. HEARTH_CRASHES=200 kills it so often with each store.

import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as after } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { deleteApp, initializeApp, setLogLevel } from 'firebase/app';
import {
  getDatabase, goOffline, goOnline, onChildAdded, onDisconnect, onValue, push, ref, remove, runTransaction, set, update,
} from 'firebase/database';
import { OFTEN, PARTS, Tally } from './checkpoints.js';
import { Server } from './server.js';
import { within } from './within.js';

const CRASHES = Number(process.env.HEARTH_CRASHES ?? 10);
/** Writes of one client that are not answered yet. */
const UNDER_WAY_MAX = 20;
/** Of the long texts of one client so many stay; older ones are deleted. */
const LONG_MAX = 12;

/** What fills the log: the n-th long text. */
const long = (n) => `${n} `.repeat(2_000 + ((n * 37) % 3_000));

setLogLevel('silent');

/** An app that writes without a pause and remembers what it was told. */
class Writer {
  /** What must be there, whatever happens: places and values. */
  confirmed = new Map();
  /** Long texts that must be there, by number, and those that must not be there any more. */
  long = new Set();
  deleted = new Set();
  /** How many writes were begun, and how many of them confirmed. */
  begun = 0;
  answered = 0;
  /** Transactions of which each has counted one more, and those of which nobody knows. */
  counted = 0;
  uncertain = 0;
  /** What listeners have shown: the number of times that each pushed message was added. */
  added = new Map();
  /** Why a write was refused. None may be: what was cut off is sent again. */
  refusal;
  #underWay = new Set();
  #made = 0;
  #isWriting = true;
  #isGone = false;

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
      for (const begin of [this.#set, this.#push, this.#update, this.#count, this.#long]) {
        this.begun += 1;
        const write = begin.call(this).finally(() => this.#underWay.delete(write));
        write.then(
          () => {
            this.answered += 1;
          },
          (error) => {
            if (!this.#isGone) this.refusal ??= error;
          },
        );
        this.#underWay.add(write);
      }
      if (UNDER_WAY_MAX < this.#underWay.size) await Promise.race(this.#underWay).catch(() => {});
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

  async #long() {
    const n = this.#next();
    await set(this.#at(`long/${this.name}/${n}`), long(n));
    this.long.add(n);
    if (this.long.size <= LONG_MAX) return;
    const [oldest] = this.long;
    this.long.delete(oldest);
    this.begun += 1;
    await remove(this.#at(`long/${this.name}/${oldest}`));
    this.answered += 1;
    this.deleted.add(oldest);
  }

  async #count() {
    try {
      const { committed } = await runTransaction(this.#at('counter'), (count) => (count ?? 0) + 1);
      if (committed) this.counted += 1;
    } catch {
      // Cut off: it has counted or it has not.
      this.uncertain += 1;
      this.answered -= 1;
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

  /** Ends it, whatever it was at; what it still awaits means nothing any more. */
  async leave() {
    this.#isWriting = false;
    this.#isGone = true;
    await deleteApp(this.app);
  }
}

const at = (tree, path) => path.split('/').reduce((node, key) => node?.[key], tree);

/** What must hold of the data that a server has found. */
function check(tree, writers, when) {
  for (const writer of writers) {
    assert.ifError(writer.refusal);
    for (const [path, value] of writer.confirmed) {
      assert.equal(at(tree, path), value, `${when}: confirmed at ${path}`);
    }
    const there = tree.long?.[writer.name] ?? {};
    for (const n of writer.long) assert.ok(there[n] === long(n), `${when}: the long text ${n} of ${writer.name}`);
    for (const n of writer.deleted) assert.equal(there[n], undefined, `${when}: ${n} of ${writer.name} was deleted`);
  }
  const { left, right } = tree.halves ?? {};
  assert.deepEqual(left, right, `${when}: both halves of every update or none`);
  const counted = writers.reduce((sum, writer) => sum + writer.counted, 0);
  assert.ok(counted <= (tree.counter ?? 0), `${when}: ${counted} transactions were confirmed, ${tree.counter} are there`);
}

const read = async (url) => (await fetch(`${url}/.json?ns=crash`)).json();

/** Lives of a server until one of them is to be ended: at random, or where a part of a checkpoint begins. */
async function untilTheEnd(server, part) {
  if (part) await server.hears(PARTS[part]);
  else await after(20 + Math.random() * 1_000);
}

for (const [report, store] of [['R089', 'fjall'], ['R089', 'sled']]) {
  test(`${CRASHES} times killed with ${store}, and nothing is lost`, { timeout: 60_000 + CRASHES * 20_000 }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'hearth-crash-'));
    const options = [...OFTEN.options, '--store', store];
    const server = await Server.start(folder, { ...OFTEN, options });
    const writers = ['ada', 'bob'].map((name) => new Writer(server.url, `${name}-${store}`));
    const presence = (value) => Object.fromEntries(writers.map(({ name }) => [name, value]));
    const tally = new Tally();
    const parts = Object.keys(PARTS);
    try {
      await Promise.all(writers.map((writer) => writer.comeBack()));
      for (let crash = 1; crash <= CRASHES || (!tally.isEnough(CRASHES) && crash <= 4 * CRASHES); crash += 1) {
        // Every second one at a moment that nobody has chosen, and more than that only where none has fallen yet.
        const aimed = crash % 2 === 0 ? parts[(crash / 2) % parts.length] : undefined;
        await untilTheEnd(server, crash <= CRASHES ? aimed : tally.missing[0]);
        await server.kill();
        tally.add(server.said);
        for (const { database } of writers) goOffline(database);
        await server.startAgain();
        const tree = await read(server.url);
        check(tree, writers, `${report}, after crash ${crash}`);
        // Both had confirmed their arrival, so both were armed.
        assert.deepEqual(tree.presence, presence('offline'), `who is there after crash ${crash}`);
        assert.match(server.said, /the last server was cut off; 2 sessions ended with it/);
        await Promise.all(writers.map((writer) => writer.comeBack()));
      }
      await Promise.all(writers.map((writer) => writer.rest()));
      const tree = await read(server.url);
      check(tree, writers, `${report}, in the end`);
      const sum = (of) => writers.reduce((sum, writer) => sum + of(writer), 0);
      const most = sum(({ counted, uncertain }) => counted + uncertain);
      assert.ok(tree.counter <= most, `${tree.counter} counted, by ${most} transactions`);
      for (const writer of writers) {
        await writer.shows(tree);
        assert.deepEqual([...writer.added.keys()].sort(), Object.keys(tree.messages).sort());
        assert.ok([...writer.added.values()].every((times) => times === 1), 'a message was added twice');
      }
      assert.ok(CRASHES <= writers[0].confirmed.size, 'lives in which nothing happens');
      await server.stop();
      tally.add(server.said);
      await server.startAgain();
      assert.deepEqual(await read(server.url), { ...tree, presence: presence('offline') });
      assert.doesNotMatch(server.said, /cut off/);
      assert.match(server.said, /recovered from a checkpoint/);
      t.diagnostic(`${sum(({ begun }) => begun)} writes, ${sum(({ answered }) => answered)} of them confirmed; ${tally}`);
      assert.ok(CRASHES / 5 <= tally.checkpoints, 'hardly any checkpoints');
      assert.notEqual(tally.segments, 0, 'the log was never trimmed');
      assert.ok(tally.isEnough(CRASHES), `no life ended ${tally.missing.join(', nor ')}`);
    } finally {
      await Promise.all(writers.map((writer) => writer.leave()));
      await server.kill().catch(() => {});
      await rm(folder, { recursive: true });
    }
  });
}
