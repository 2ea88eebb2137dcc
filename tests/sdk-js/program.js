// Programs of ours, running.

import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { within } from './within.js';

/** The server. */
export const HEARTH = process.env.HEARTH_BIN ?? fileURLToPath(new URL('../../target/debug/hearth', import.meta.url));
/** What judges every message that a server sends. */
export const WITNESS = path.join(path.dirname(HEARTH), 'hearth-witness');

/**
 * Starts a program, and resolves when it has said where it listens. `stderr` is where its words go: to `said()` unless
 * told otherwise. `env` is added to the environment. `hears(text)` resolves when it has said that since. `signal(name)`
 * sends it a signal; `end(name)` closes its standard input, sends it one if there is a name, and resolves with its exit
 * code or the signal that ended it, when all that it has said has arrived.
 */
export async function start(program, args, { stderr = 'pipe', env = {} } = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', stderr], env: { ...process.env, ...env } });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let said = '';
  const words = new EventEmitter();
  child.stderr?.on('data', (piece) => {
    said += piece;
    words.emit('more');
  });
  const ended = new Promise((resolve) => child.once('close', (code, signal) => resolve(signal ?? code)));
  ended.then(() => process.off('exit', kill));
  const address = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended at once, with ${code}: ${said}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /^listening on (https?:\S+)$/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  const hears = async (text) => {
    const before = said.length;
    while (!said.includes(text, before)) await within(once(words, 'more'), `\`${text}\``, () => said);
  };
  const signal = (name) => child.kill(name);
  const end = (name) => {
    child.stdin.end();
    if (name) signal(name);
    return within(ended, `the end of ${program}`);
  };
  return { url: await within(address, `the address of ${program}`), said: () => said, hears, signal, end };
}
