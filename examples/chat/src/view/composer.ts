// Where one writes. Enter sends, Shift and Enter begins a new line.

import { MESSAGE_CHARS_MAX } from '../layout';
import { part } from './element';

export interface ComposerActs {
  send: (text: string) => void;
  keyPressed: () => void;
  emptied: () => void;
}

export class Composer {
  readonly #form = part('composer', HTMLFormElement);
  readonly #text = part('text', HTMLTextAreaElement);
  readonly #acts: ComposerActs;

  constructor(acts: ComposerActs) {
    this.#acts = acts;
    this.#text.maxLength = MESSAGE_CHARS_MAX;
    this.#form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#send();
      this.#text.focus();
    });
    this.#text.addEventListener('keydown', (event) => {
      // While an input method composes a word, Enter chooses among its proposals.
      if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
        event.preventDefault();
        this.#send();
      }
    });
    this.#text.addEventListener('input', () => {
      this.#fit();
      if (this.#text.value === '') {
        acts.emptied();
      } else {
        acts.keyPressed();
      }
    });
  }

  /** Empty again, for another room. */
  clear(): void {
    this.#text.value = '';
    this.#fit();
  }

  /** Gives back words that the server refused, unless others have been begun. */
  giveBack(text: string): void {
    if (this.#text.value === '') {
      this.#text.value = text;
      this.#fit();
    }
  }

  focus(): void {
    this.#text.focus();
  }

  setShown(shown: boolean): void {
    this.#form.hidden = !shown;
  }

  #send(): void {
    const text = this.#text.value.trim();
    if (text !== '') {
      this.clear();
      this.#acts.send(text);
    }
  }

  #fit(): void {
    this.#text.style.height = 'auto';
    this.#text.style.height = `${this.#text.scrollHeight}px`;
  }
}
