// The binary, running: started, ended in order, or killed and started again on the same data.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { within } from './within.js';

const BINARY = process.env.HEARTH_BIN ?? fileURLToPath(new URL('../../target/debug/hearth', import.meta.url));
/** A server that keeps nothing, or with a folder one that keeps its data there. */
export class Server {
  #folder;
  #child;
  #ended;
  #port = '0';

  /** Starts it, and resolves when it listens. */
  static async start(folder) {
    const server = new Server();
    server.#folder = folder;
    process.once('exit', () => server.#child.kill('SIGKILL'));
    await server.startAgain();
    return server;
  }

  /** After its end: where it was, with what it has kept. */
  async startAgain() {
    const keeping = this.#folder ? ['--data', this.#folder] : ['--memory'];
    const child = spawn(BINARY, ['dev', ...keeping, '--port', this.#port], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.said = '';
    child.stderr.on('data', (piece) => {
      this.said += piece;
    });
    this.#ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
    const address = new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`${BINARY} ended at once, with ${code}: ${this.said}`)));
      createInterface({ input: child.stdout }).on('line', (line) => {
        const found = /^listening on (http:\S+)$/.exec(line);
        if (found) resolve(found[1]);
      });
    });
    this.url = await within(address, 'the address of the server');
    this.#port = new URL(this.url).port;
  }

  /** Leaves it no time for anything. */
  async kill() {
    this.#child.kill('SIGKILL');
    assert.equal(await within(this.#ended, 'the end of a killed server'), 'SIGKILL');
  }

  /** Ends it in order. */
  async stop() {
    this.#child.kill('SIGTERM');
    assert.equal(await within(this.#ended, 'the end of the server'), 0, `how the server ended: ${this.said}`);
  }
}
