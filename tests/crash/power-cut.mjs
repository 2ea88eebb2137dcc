// Power cuts: a server writes to a file system of its own, and at a moment that nobody has chosen everything that has not
// reached the device is gone. A second server begins on what the device held, and everything that was confirmed is there.
//
//   node tests/crash/power-cut.mjs [ROUNDS]     5 if nothing is said; as root, on Linux
//
// How: the file system is in an image behind a loop device. What the server has written and not synced is in the memory of
// the system and not in the image, so a copy of the image is what a cut leaves. The server is stopped while the copy is
// made: what it has in the kernel may still arrive, in any order, and nothing comes after it. Then the copy is mounted,
// and goes through the recovery of the file system and of the server. Each round goes on with what the one before has left.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as after } from 'node:timers/promises';
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
  static async start(folder) {
    const server = new Server();
    server.program = await start(HEARTH, ['dev', '--port', '0', '--data', folder]);
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

/** What has been confirmed: by writer, how far it has come. Each write of a writer is at two places at once. */
const confirmed = Array(WRITERS).fill(0);
/** The next write of each; one that was not confirmed may be there all the same, and is never made again. */
const made = Array(WRITERS).fill(0);

const text = (writer, n) => `${writer}.${n} `.repeat((n * 37) % 300);

async function write(server, writer) {
  for (;;) {
    made[writer] += 1;
    const n = made[writer];
    const body = { [`left/${writer}/k${n}`]: text(writer, n), [`right/${writer}/k${n}`]: n };
    try {
      await server.ask('PATCH', '/.json?print=silent', JSON.stringify(body));
    } catch {
      return;
    }
    confirmed[writer] = n;
  }
}

/** Everything confirmed is there and nothing is half there. Returns what is there. */
function check(tree, lost, when) {
  const there = {};
  for (let writer = 0; writer < WRITERS; writer += 1) {
    const left = tree?.left?.[writer] ?? {};
    const right = tree?.right?.[writer] ?? {};
    const keys = Object.keys(right);
    for (let n = 1; n <= made[writer]; n += 1) {
      const isThere = right[`k${n}`] === n;
      assert.ok(isThere || lost[writer].has(n), `${when}: write ${n} of ${writer} was confirmed and is gone`);
      if (isThere) assert.equal(left[`k${n}`], text(writer, n), `${when}: half of write ${n} of ${writer}`);
      if (!isThere) assert.equal(left[`k${n}`], undefined, `${when}: half of write ${n} of ${writer}`);
    }
    assert.ok(keys.length <= made[writer], `${when}: more than was ever written`);
    there[writer] = keys.length;
  }
  return there;
}

async function main() {
  const why = obstacle();
  if (why) {
    console.log(`power-cut: left out: ${why}`);
    return;
  }
  const folder = mkdtempSync(join(tmpdir(), 'hearth-power-'));
  const [image, copy, first, second] = ['image', 'copy', 'first', 'second'].map((name) => join(folder, name));
  const lost = Array.from({ length: WRITERS }, () => new Set());
  let cuts = 0;
  let server;
  let again;
  [first, second].forEach((at) => mkdirSync(at));
  run('truncate', '-s', '256M', image);
  run('mkfs.ext4', '-q', '-F', image);
  try {
    for (let round = 1; round <= ROUNDS; round += 1) {
      run('mount', '-o', 'loop', image, first);
      server = await Server.start(join(first, 'data'));
      const writing = confirmed.map((_, writer) => write(server, writer));
      await after(30 + Math.random() * 1_200);
      server.program.signal('SIGSTOP');
      const confirmedThen = [...confirmed];
      const madeThen = [...made];
      run('cp', '--sparse=always', image, copy);
      await server.kill();
      await Promise.all(writing);
      run('umount', first);

      run('mount', '-o', 'loop', copy, second);
      again = await Server.start(join(second, 'data'));
      cuts += /is cut/.test(again.program.said()) ? 1 : 0;
      const tree = JSON.parse(await again.ask('GET', '/.json'));
      for (let writer = 0; writer < WRITERS; writer += 1) {
        for (let n = confirmedThen[writer] + 1; n <= made[writer]; n += 1) lost[writer].add(n);
        confirmed[writer] = made[writer];
      }
      const there = check(tree, lost, `round ${round}`);
      // What was found is shown, and stays: after an end without warning it is the same again.
      await again.kill();
      again = await Server.start(join(second, 'data'));
      assert.deepEqual(JSON.parse(await again.ask('GET', '/.json')), tree, `round ${round}: read twice`);
      for (let writer = 0; writer < WRITERS; writer += 1) {
        for (const n of [...lost[writer]]) if (tree?.right?.[writer]?.[`k${n}`] === n) lost[writer].delete(n);
      }
      await again.kill();
      run('umount', second);
      renameSync(copy, image);
      console.log(`power-cut: round ${round}: ${Object.values(there).reduce((sum, each) => sum + each, 0)} writes are there, of ${madeThen.reduce((sum, each) => sum + each, 0)}`);
    }
    assert.ok(WRITERS < confirmed.reduce((sum, each) => sum + each, 0), 'rounds in which nothing happens');
    console.log(`power-cut: ${ROUNDS} power cuts, nothing that was confirmed is lost; ${cuts} unfinished groups were cut`);
  } finally {
    server?.program.signal('SIGKILL');
    again?.program.signal('SIGKILL');
    for (const at of [first, second]) {
      try {
        run('umount', '-l', at);
      } catch {
        // It was not mounted any more.
      }
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

await main();
