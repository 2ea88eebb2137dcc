// Power cuts: a server writes to a file system of its own, and at a moment that nobody has chosen everything that has not
// reached the device is gone. A second server begins on what the device held, and everything that was confirmed is there.
//
//   node tests/crash/power-cut.mjs [ROUNDS]     with each store, 5 if nothing is said; as root, on Linux
//
// How: the file system is in an image behind a loop device. What the server has written and not synced is in the memory of
// the system and not in the image, so a copy of the image is what a cut leaves. The server is stopped while the copy is
// made: what it has in the kernel may still arrive, in any order, and nothing comes after it. Then the copy is mounted,
// and goes through the recovery of the file system and of the server. Each round goes on with what the one before has left.
// Checkpoints are written and the log is trimmed all the time, and some cuts are aimed at each part of that.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { OFTEN, PARTS, Tally } from '../sdk-js/checkpoints.js';
import { HEARTH, start } from '../sdk-js/program.js';

const ROUNDS = Number(process.argv[2] ?? 5);
const WRITERS = 8;

const run = (command, ...args) => execFileSync(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });

/** Why it cannot be done here; nothing, if it can. */
function obstacle() {
  if (process.platform !== 'linux') return 'it takes Linux';
  if (process.getuid() !== 0) return 'it takes root, to mount a file system';
  if (!existsSync('/dev/loop-control')) return 'there are no loop devices here';
  for (const tool of ['mkfs.ext4', 'mount', 'umount']) {
    try {
      run('sh', '-c', `command -v ${tool}`);
    } catch {
      return `there is no ${tool} here`;
    }
  }
  return undefined;
}

/** A server on a folder. */
class Server {
  static async start(folder, store) {
    const server = new Server();
    const options = [...OFTEN.options, '--store', store, '--data', folder];
    server.program = await start(HEARTH, ['dev', '--port', '0', ...options], { env: OFTEN.env });
    server.agent = new Agent({ keepAlive: true });
    return server;
  }

  /** The body of an answer, once it is there; an error, if there is none. */
  ask(method, path, body) {
    return new Promise((resolve, reject) => {
      const { agent } = this;
      const asked = request(new URL(path, this.program.url), { agent, method }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (piece) => {
          text += piece;
        });
        answer.on('error', reject);
        answer.on('end', () => (answer.statusCode < 300 ? resolve(text) : reject(new Error(`${answer.statusCode} ${text}`))));
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }

  async kill() {
    await this.program.end('SIGKILL');
    this.agent.destroy();
  }
}

/** What one client writes, one after the other: each write is at three places at once, and fills the log. */
class Writer {
  /** Numbers of the writes that must be there; no others may be. */
  confirmed = new Set();
  /** The one of which nobody knows yet. */
  underWay = undefined;
  made = 0;

  constructor(name) {
    this.name = name;
  }

  #left(n) {
    return `${this.name}.${n} `.repeat((n * 37) % 300);
  }

  /** Overwritten by every write. */
  #newest(n) {
    return `${n} `.repeat(2_000 + ((n * 37) % 5_000));
  }

  /** Until the server does not answer any more. */
  async write(server) {
    for (;;) {
      this.made += 1;
      const n = this.made;
      this.underWay = n;
      const { name } = this;
      const body = { [`left/${name}/k${n}`]: this.#left(n), [`right/${name}/k${n}`]: n, [`newest/${name}`]: this.#newest(n) };
      try {
        await server.ask('PATCH', '/.json?print=silent', JSON.stringify(body));
      } catch {
        return;
      }
      this.confirmed.add(n);
      this.underWay = undefined;
    }
  }

  /** Everything confirmed is there, whatever else was not, and nothing is half there. */
  check(tree, when) {
    const [left, right] = [tree?.left?.[this.name] ?? {}, tree?.right?.[this.name] ?? {}];
    if (this.underWay !== undefined && right[`k${this.underWay}`] !== undefined) this.confirmed.add(this.underWay);
    this.underWay = undefined;
    const numbers = [...this.confirmed];
    const expected = (value) => Object.fromEntries(numbers.map((n) => [`k${n}`, value(n)]));
    const newest = numbers.length === 0 ? undefined : this.#newest(Math.max(...numbers));
    const isWhole = isDeepStrictEqual(right, expected((n) => n)) && isDeepStrictEqual(left, expected((n) => this.#left(n)));
    if (isWhole && tree?.newest?.[this.name] === newest) return;
    const there = (side) => (n) => side[`k${n}`] !== undefined;
    assert.fail(
      `${when}: of ${this.name} ${numbers.length} writes should be there; missing: `
        + `left ${numbers.filter((n) => !there(left)(n))}, right ${numbers.filter((n) => !there(right)(n))}; `
        + `there are ${Object.keys(left).length} left, ${Object.keys(right).length} right, `
        + `and the newest is ${tree?.newest?.[this.name]?.slice(0, 10)} instead of ${newest?.slice(0, 10)}`,
    );
  }
}

/** Cuts the power under a server with this store. */
async function cut(store, folder) {
  const [image, copy, first, second] = ['image', 'copy', 'first', 'second'].map((name) => join(folder, name));
  const writers = Array.from({ length: WRITERS }, (_, at) => new Writer(`w${at}`));
  const tally = new Tally();
  const parts = Object.keys(PARTS);
  let unfinished = 0;
  let rounds = 0;
  let server;
  [first, second].forEach((at) => mkdirSync(at));
  run('truncate', '-s', '512M', image);
  run('mkfs.ext4', '-q', '-F', image);
  try {
    while (rounds < ROUNDS || (!tally.isEnough(ROUNDS) && rounds < 4 * ROUNDS)) {
      rounds += 1;
      run('mount', '-o', 'loop', image, first);
      server = await Server.start(join(first, 'data'), store);
      const writing = writers.map((writer) => writer.write(server));
      // Every second one at a moment that nobody has chosen, and more than that only where none has fallen yet.
      const aimed = rounds % 2 === 0 ? parts[(rounds / 2) % parts.length] : undefined;
      const part = rounds <= ROUNDS ? aimed : tally.missing[0];
      if (part) await server.program.hears(PARTS[part]);
      else await after(30 + Math.random() * 1_200);
      server.program.signal('SIGSTOP');
      // What is answered was sent before, so it must be in the copy.
      run('cp', '--sparse=always', image, copy);
      await server.kill();
      await Promise.all(writing);
      const fell = tally.add(server.program.said());
      run('umount', first);

      run('mount', '-o', 'loop', copy, second);
      server = await Server.start(join(second, 'data'), store);
      unfinished += /is cut/.test(server.program.said()) ? 1 : 0;
      const tree = JSON.parse(await server.ask('GET', '/.json'));
      writers.forEach((writer) => writer.check(tree, `${store}, round ${rounds}`));
      // What was found is shown, and stays: after an end without warning it is the same again.
      await server.kill();
      server = await Server.start(join(second, 'data'), store);
      assert.deepEqual(JSON.parse(await server.ask('GET', '/.json')), tree, `${store}, round ${rounds}: read twice`);
      await server.kill();
      run('umount', second);
      renameSync(copy, image);
      const [there, made] = [writers.reduce((sum, { confirmed }) => sum + confirmed.size, 0), sum(writers)];
      console.log(`power-cut: ${store}, round ${rounds}, cut ${fell ?? 'elsewhere'}: ${there} writes are there, of ${made}`);
    }
    console.log(`power-cut: ${store}: ${rounds} power cuts, ${sum(writers)} writes, nothing that was confirmed is lost; ${unfinished} unfinished groups were cut; ${tally}`);
    assert.ok(ROUNDS * WRITERS < sum(writers), 'rounds in which nothing happens');
    assert.notEqual(tally.segments, 0, 'the log was never trimmed');
    assert.ok(tally.isEnough(ROUNDS), `no cut fell ${tally.missing.join(', nor ')}`);
  } finally {
    server?.program.signal('SIGKILL');
    for (const at of [first, second]) {
      try {
        run('umount', '-l', at);
      } catch {
        // It was not mounted any more.
      }
    }
  }
}

const sum = (writers) => writers.reduce((sum, { made }) => sum + made, 0);

async function main() {
  const why = obstacle();
  if (why) {
    console.log(`power-cut: left out: ${why}`);
    return;
  }
  for (const store of ['fjall', 'sled']) {
    const folder = mkdtempSync(join(tmpdir(), 'hearth-power-'));
    try {
      await cut(store, folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

await main();
