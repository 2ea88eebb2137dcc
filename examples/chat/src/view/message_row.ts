// One message, and the lines between messages.

import type { Message } from '../layout';
import { avatar, hueOf } from './avatar';
import { element } from './element';
import { dayOf, timeOf } from './when';

export interface Look {
  mine: boolean;
  /** The first of several by one author has the name and the picture. */
  first: boolean;
  /** Shown here, not yet confirmed by the server. */
  unconfirmed: boolean;
}

export function messageRow(message: Message): HTMLElement {
  return element('li', { 'data-id': message.id });
}

export function fillMessageRow(row: HTMLElement, message: Message, { mine, first, unconfirmed }: Look): void {
  // Filling again what has not changed would make screen readers read it again.
  const drawn = JSON.stringify([message, mine, first, unconfirmed]);
  if (row.dataset['drawn'] === drawn) {
    return;
  }
  row.dataset['drawn'] = drawn;
  row.className = ['message', mine && 'mine', first && 'first', unconfirmed && 'unconfirmed'].filter(Boolean).join(' ');
  const author = element('span', { class: mine ? 'author unseen' : first ? 'author' : 'author unseen' }, message.name);
  author.style.setProperty('--hue', String(hueOf(message.from)));
  const moment = element('time', { datetime: new Date(message.at).toISOString() }, timeOf(message.at));
  row.replaceChildren(
    ...(mine || !first ? [] : [avatar(message.from, message.name)]),
    element(
      'div',
      { class: 'bubble' },
      author,
      element('p', { dir: 'auto' }, message.text),
      ...(unconfirmed ? [element('span', { class: 'state' }, 'sending')] : [moment]),
    ),
  );
}

export function daySeparator(at: number): HTMLElement {
  return element('li', { class: 'separator day', role: 'separator' }, element('span', {}, dayOf(at)));
}

export function newSeparator(): HTMLElement {
  return element('li', { class: 'separator new', role: 'separator' }, element('span', {}, 'New'));
}
