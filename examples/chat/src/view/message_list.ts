// The conversation on the screen: a timeline, drawn, and where in it the reader is.

import type { Message, MessageId, Uid } from '../layout';
import type { Timeline } from '../timeline';
import { arrange, part } from './element';
import { daySeparator, fillMessageRow, messageRow, newSeparator } from './message_row';
import { isSameDay } from './when';

const TOGETHER_MS = 5 * 60_000;
const AT_END_PX = 60;

export class MessageList {
  readonly #scroller = part('messages', HTMLElement);
  readonly #log = part('log', HTMLOListElement);
  readonly #older = part('older', HTMLButtonElement);
  readonly #beginning = part('beginning', HTMLElement);
  readonly #toNewest = part('to-newest', HTMLButtonElement);
  readonly #rows = new Map<MessageId, HTMLElement>();
  readonly #days = new Map<string, HTMLElement>();
  readonly #new = newSeparator();
  #me: Uid;
  #newAfter = 0;
  #newest: MessageId | undefined;
  #isAtEnd = true;
  #hasNews = false;

  constructor(me: Uid, older: () => void, reachedEnd: () => void) {
    this.#me = me;
    this.#older.addEventListener('click', older);
    new IntersectionObserver((entries) => {
      if (entries.some((entry) => entry.isIntersecting)) {
        older();
      }
    }, { root: this.#scroller, rootMargin: '200px 0px 0px' }).observe(this.#older);
    this.#scroller.addEventListener('scroll', () => {
      this.#isAtEnd = this.#distanceToEnd() < AT_END_PX;
      if (this.#isAtEnd) {
        this.#hasNews = false;
        reachedEnd();
      }
      this.#showWayBack();
    }, { passive: true });
    this.#toNewest.addEventListener('click', () => {
      this.scrollToEnd();
      this.#scroller.focus();
    });
    // The list shrinks when the composer grows or a keyboard slides in; who was at the end stays there.
    new ResizeObserver(() => {
      if (this.#isAtEnd) {
        this.scrollToEnd();
      }
    }).observe(this.#scroller);
  }

  /** Whether the newest message can be seen. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Messages by others after `readUpTo` will stand below a line that says so. */
  clear(readUpTo: number): void {
    this.#rows.clear();
    this.#days.clear();
    this.#log.replaceChildren();
    this.#older.hidden = true;
    this.#beginning.hidden = true;
    this.#toNewest.hidden = true;
    this.#hasNews = false;
    this.#newAfter = readUpTo;
    this.#newest = undefined;
    this.#isAtEnd = true;
  }

  show(timeline: Timeline): void {
    const { messages } = timeline;
    const newest = messages.at(-1);
    const fromEnd = this.#distanceToEnd();
    const grewAtEnd = newest !== undefined && newest.id !== this.#newest;
    const follow = this.#isAtEnd || (grewAtEnd && newest.from === this.#me);
    this.#older.hidden = timeline.reachesStart;
    this.#beginning.hidden = !timeline.reachesStart;
    this.#beginning.textContent = messages.length === 0
      ? 'Nothing said yet. Be the first.'
      : 'This is where the room begins.';
    arrange(this.#log, this.#draw(timeline));
    this.#newest = newest?.id;
    if (follow) {
      this.scrollToEnd();
    } else if (grewAtEnd) {
      this.#hasNews = true;
      this.#showWayBack();
    } else {
      // History came in above: what is being read stays where it is.
      this.#scroller.scrollTop = this.#scroller.scrollHeight - this.#scroller.clientHeight - fromEnd;
    }
  }

  showLoadingOlder(loading: boolean): void {
    // While it is busy, screen readers do not read the history out as if it were news.
    this.#log.setAttribute('aria-busy', String(loading));
    this.#older.disabled = loading;
    this.#older.textContent = loading ? 'Fetching…' : 'Earlier messages';
  }

  scrollToEnd(): void {
    this.#scroller.scrollTop = this.#scroller.scrollHeight;
    this.#isAtEnd = true;
    this.#hasNews = false;
    this.#showWayBack();
  }

  /** Whoever has scrolled far away, or does not see what is new, gets a way back. */
  #showWayBack(): void {
    const isFar = this.#scroller.clientHeight < this.#distanceToEnd();
    this.#toNewest.hidden = this.#isAtEnd || !(isFar || this.#hasNews);
    this.#toNewest.textContent = this.#hasNews ? 'New messages ↓' : 'Newest messages ↓';
  }

  #distanceToEnd(): number {
    return this.#scroller.scrollHeight - this.#scroller.clientHeight - this.#scroller.scrollTop;
  }

  #draw(timeline: Timeline): HTMLElement[] {
    const drawn: HTMLElement[] = [];
    let before: Message | undefined;
    let newIsMarked = false;
    for (const message of timeline.messages) {
      const dayBegins = before === undefined || !isSameDay(new Date(before.at), new Date(message.at));
      const isNew = !newIsMarked && this.#newAfter > 0 && this.#newAfter < message.at && message.from !== this.#me;
      if (dayBegins) {
        drawn.push(this.#day(message.at));
      }
      if (isNew) {
        newIsMarked = true;
        drawn.push(this.#new);
      }
      const first = dayBegins || isNew || before?.from !== message.from || TOGETHER_MS < message.at - before.at;
      drawn.push(this.#row(message, first, timeline.isUnconfirmed(message.id)));
      before = message;
    }
    return drawn;
  }

  #row(message: Message, first: boolean, unconfirmed: boolean): HTMLElement {
    const row = this.#rows.get(message.id) ?? messageRow(message);
    this.#rows.set(message.id, row);
    fillMessageRow(row, message, { mine: message.from === this.#me, first, unconfirmed });
    return row;
  }

  #day(at: number): HTMLElement {
    const day = new Date(at).toDateString();
    const separator = this.#days.get(day) ?? daySeparator(at);
    this.#days.set(day, separator);
    return separator;
  }
}
