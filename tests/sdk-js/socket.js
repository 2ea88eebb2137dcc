// The protocol by hand, for what the official client would never send or never show (wire reference 2, 3).

import WebSocket from 'ws';

/** Longest text of one frame, in UTF-16 units; what is longer goes in parts behind their number. */
const FRAME_UNITS_MAX = 16_384;

export class Socket {
  #socket;
  #asked = new Map();
  #parts = [];
  #partsExpected = 0;
  #requests = 0;
  #handshake;
  /** All data messages in their order: pushes and answers. */
  received = [];
  /** The name of the session. */
  session;
  closed;

  static async open(url, namespace, last) {
    const address = `${url.replace(/^http/, 'ws')}/.ws?v=5${last ? `&ls=${last}` : ''}&ns=${namespace}`;
    const socket = new Socket(new WebSocket(address, { perMessageDeflate: false }));
    await socket.#handshake;
    return socket;
  }

  constructor(socket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => socket.once('close', resolve));
    this.#handshake = new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.on('message', (data) => this.#frame(data.toString(), resolve));
    });
    this.closed.then(() => {
      for (const { reject } of this.#asked.values()) reject(new Error('the server closed the socket'));
    });
  }

  /** Sends a request, and resolves with the body of its answer: `{s: status, d: data}`. */
  ask(action, body) {
    this.#requests += 1;
    const number = this.#requests;
    const answer = new Promise((resolve, reject) => this.#asked.set(number, { resolve, reject }));
    this.send(JSON.stringify({ t: 'd', d: { r: number, a: action, b: body } }));
    return answer;
  }

  /** Sends a message as it is, in parts if it is long. */
  send(text) {
    if (text.length <= FRAME_UNITS_MAX) {
      this.#socket.send(text);
      return;
    }
    this.#socket.send(`${Math.ceil(text.length / FRAME_UNITS_MAX)}`);
    for (let from = 0; from < text.length; from += FRAME_UNITS_MAX) {
      this.#socket.send(text.slice(from, from + FRAME_UNITS_MAX));
    }
  }

  /** From now on nothing is read and nothing answered, as on a network that is gone. */
  deafen() {
    this.#socket.pause();
  }

  /** Reads again. */
  hear() {
    this.#socket.resume();
  }

  /** Ends the connection without a goodbye. */
  kill() {
    this.#socket.terminate();
  }

  #frame(text, shakeHands) {
    if (0 < this.#partsExpected) {
      this.#parts.push(text);
      if (this.#parts.length < this.#partsExpected) return;
      text = this.#parts.join('');
      this.#parts = [];
      this.#partsExpected = 0;
    } else if (/^[0-9]{1,6}$/.test(text)) {
      this.#partsExpected = Number(text);
      return;
    }
    const { t: layer, d: message } = JSON.parse(text);
    if (layer === 'c') {
      if (message.t === 'h') {
        this.session = message.d.s;
        shakeHands();
      }
      return;
    }
    this.received.push(message);
    const asked = this.#asked.get(message.r);
    if (asked) {
      this.#asked.delete(message.r);
      asked.resolve(message.b);
    }
  }
}
