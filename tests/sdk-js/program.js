// Programs of ours, running.

import { spawn } from 'node:child_process';
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
 * told otherwise. `signal(name)` sends it a signal; `end(name)` closes its standard input, sends it one if there is a name,
 * and resolves with its exit code or the signal that ended it.
 */
export async function start(program, args, { stderr = 'pipe' } = {}) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', stderr] });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  let said = '';
  child.stderr?.on('data', (piece) => {
    said += piece;
  });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  ended.then(() => process.off('exit', kill));
  const address = new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended at once, with ${code}: ${said}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /^listening on (http:\S+)$/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  const signal = (name) => child.kill(name);
  const end = (name) => {
    child.stdin.end();
    if (name) signal(name);
    return within(ended, `the end of ${program}`);
  };
  return { url: await within(address, `the address of ${program}`), said: () => said, signal, end };
}
