// The server, ended in order, or killed and started again on the same data.

import assert from 'node:assert/strict';
import { HEARTH, start } from './program.js';

/** A server that keeps nothing, or with a folder one that keeps its data there. */
export class Server {
  #folder;
  #options;
  #env;
  #running;
  #port = '0';

  /** Starts it, with more options and variables if there are any, and resolves when it listens. */
  static async start(folder, { options = [], env = {} } = {}) {
    const server = new Server();
    server.#folder = folder;
    server.#options = options;
    server.#env = env;
    await server.startAgain();
    return server;
  }

  /** After its end: where it was, with what it has kept. */
  async startAgain() {
    const keeping = this.#folder ? ['--data', this.#folder] : ['--memory'];
    this.#running = await start(HEARTH, ['dev', ...keeping, '--port', this.#port, ...this.#options], { env: this.#env });
    this.url = this.#running.url;
    this.#port = new URL(this.url).port;
  }

  /** What it has told whoever started it. */
  get said() {
    return this.#running.said();
  }

  /** Resolves when it has told this from now on. */
  async hears(text) {
    await this.#running.hears(text);
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
