// What this page knows of a conversation: an unbroken run of messages up to the newest.
//
// Two sources fill it, a live window over the newest messages and pages of history before it. The window slides: a
// message that leaves it at the old end is not gone, it has become history. And after a long time offline the window
// may come back so far ahead that there is a hole behind it; a run with a hole would show a conversation that never
// happened, so then the old part goes, and paging back fetches it again.

import type { Message, MessageId } from './layout';
import type { Page } from './message';

export class Timeline {
  #messages: Message[] = [];
  #reachesStart = false;
  readonly #unconfirmed = new Set<MessageId>();

  /** Oldest first. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Whether there is nothing before the first message. */
  get reachesStart(): boolean {
    return this.#reachesStart;
  }

  isUnconfirmed(id: MessageId): boolean {
    return this.#unconfirmed.has(id);
  }

  sent(id: MessageId): void {
    this.#unconfirmed.add(id);
  }

  answered(id: MessageId): void {
    this.#unconfirmed.delete(id);
  }

  showWindow({ messages: window, isFull }: Page): void {
    const first = window[0];
    if (first === undefined || !isFull) {
      this.#messages = window;
      this.#reachesStart = true;
      return;
    }
    // Only what the server has confirmed can join the window to the past: my own unsent words may stand on either side
    // of a hole.
    const joins = this.#messages.some((message) => message.id >= first.id && !this.#unconfirmed.has(message.id));
    const history = joins ? this.#messages.filter((message) => message.id < first.id) : [];
    this.#reachesStart &&= joins;
    this.#messages = [...history, ...window];
  }

  /** The page before `than`. Without effect when the run no longer begins there, because it was cut meanwhile. */
  addOlder(than: MessageId, { messages: older, isFull }: Page): void {
    if (this.#messages[0]?.id !== than) {
      return;
    }
    this.#messages = [...older, ...this.#messages];
    this.#reachesStart = !isFull;
  }
}
