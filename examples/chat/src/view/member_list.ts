// The members of the open room: a column where there is space, a drawer where there is not.

import type { Uid } from '../layout';
import type { MemberHere } from '../member';
import { avatar } from './avatar';
import { element, part } from './element';

export class MemberList {
  readonly #panel = part('members-panel', HTMLElement);
  readonly #opener = part('show-members', HTMLButtonElement);
  readonly #leave = part('leave', HTMLButtonElement);

  readonly #me: Uid;

  constructor(me: Uid, leave: () => void) {
    this.#me = me;
    this.#leave.addEventListener('click', leave);
    this.#opener.addEventListener('click', () => this.#setOpen(!this.#isOpen()));
    const close = (): void => {
      this.#setOpen(false);
      this.#opener.focus();
    };
    part('hide-members', HTMLButtonElement).addEventListener('click', close);
    this.#panel.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') {
        close();
      }
    });
  }

  show(members: MemberHere[]): void {
    part('members-heading', HTMLElement).textContent = `Members (${members.length})`;
    part('room-people', HTMLElement).replaceChildren(...(members.length === 0 ? [] : inWords(members)));
    this.#leave.hidden = !members.some(({ uid }) => uid === this.#me);
    part('members', HTMLUListElement).replaceChildren(...members.map(({ uid, name, online }) => element(
      'li',
      { class: online ? 'member online' : 'member', 'data-uid': uid },
      avatar(uid, name),
      element('span', { class: 'member-name' }, uid === this.#me ? `${name} (you)` : name),
      element('span', { class: 'unseen' }, online ? 'online' : 'offline'),
    )));
  }

  /** For another room, whose members are not known yet. */
  open(): void {
    this.show([]);
    this.#panel.hidden = false;
    this.#opener.hidden = false;
    this.#setOpen(false);
  }

  close(): void {
    this.show([]);
    this.#panel.hidden = true;
    this.#opener.hidden = true;
  }

  #isOpen(): boolean {
    return this.#panel.classList.contains('open');
  }

  // Only narrow screens look at the class: there the column is a drawer.
  #setOpen(open: boolean): void {
    this.#panel.classList.toggle('open', open);
    this.#opener.setAttribute('aria-expanded', String(open));
    if (open) {
      part('hide-members', HTMLButtonElement).focus();
    }
  }
}

function inWords(members: MemberHere[]): (Node | string)[] {
  const online = members.filter((member) => member.online).length;
  return [
    `${members.length} ${members.length === 1 ? 'member' : 'members'}`,
    element('span', { class: 'online-count' }, `, ${online} online`),
  ];
}
