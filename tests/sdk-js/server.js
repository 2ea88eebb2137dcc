// The server, ended in order, or killed and started again on the same data.

import assert from 'node:assert/strict';
import { HEARTH, start } from './program.js';

/** A server that keeps nothing, or with a folder one that keeps its data there. */
export class Server {
  #folder;
  #running;
  #port = '0';

  /** Starts it, and resolves when it listens. */
  static async start(folder) {
    const server = new Server();
    server.#folder = folder;
    await server.startAgain();
    return server;
  }

  /** After its end: where it was, with what it has kept. */
  async startAgain() {
    const keeping = this.#folder ? ['--data', this.#folder] : ['--memory'];
    this.#running = await start(HEARTH, ['dev', ...keeping, '--port', this.#port]);
    this.url = this.#running.url;
    this.#port = new URL(this.url).port;
  }

  /** What it has told whoever started it. */
  get said() {
    return this.#running.said();
  }

  /** Leaves it no time for anything. */
  async kill() {
    assert.equal(await this.#running.end('SIGKILL'), 'SIGKILL', 'how the server ended');
  }

  /** Ends it in order. */
  async stop() {
    assert.equal(await this.#running.end('SIGTERM'), 0, `how the server ended: ${this.said}`);
  }
}
