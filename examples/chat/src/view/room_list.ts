// The list of rooms, with what was said last in each and a mark where I have not read it.

import { TITLE_CHARS_MAX, type Room, type RoomId } from '../layout';
import { readUpTo } from '../read_mark';
import type { Rooms } from '../room';
import { arrange, element, part } from './element';
import { shortly } from './when';

export class RoomList {
  readonly #mine = part('mine', HTMLUListElement);
  readonly #others = part('others', HTMLUListElement);
  readonly #rows = new Map<RoomId, HTMLElement>();
  #rooms: Rooms = { mine: [], others: [], known: false };
  #open: RoomId | undefined;

  constructor(create: (title: string) => void) {
    const title = part('new-room-title', HTMLInputElement);
    title.maxLength = TITLE_CHARS_MAX;
    part('new-room', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      const chosen = title.value.trim();
      if (chosen !== '') {
        title.value = '';
        create(chosen);
      }
    });
  }

  show(rooms: Rooms): void {
    this.#rooms = rooms;
    this.refresh();
  }

  showOpen(open: RoomId | undefined): void {
    this.#open = open;
    this.refresh();
  }

  /** Draws again, after a mark has moved. */
  refresh(): void {
    const { mine, others, known } = this.#rooms;
    const unread = new Set(mine.filter((room) => this.#isUnread(room)).map((room) => room.id));
    arrange(this.#mine, mine.map((room) => this.#row(room, unread.has(room.id))));
    arrange(this.#others, others.map((room) => this.#row(room, false)));
    part('others-section', HTMLElement).hidden = others.length === 0;
    const empty = part('mine-empty', HTMLElement);
    empty.hidden = mine.length > 0;
    empty.textContent = known ? emptiness(others.length) : 'Looking…';
    document.title = unread.size === 0 ? 'Hearth chat' : `(${unread.size}) Hearth chat`;
  }

  #isUnread(room: Room): boolean {
    return room.lastMessage !== '' && readUpTo(room.id) < room.lastAt;
  }

  #row(room: Room, unread: boolean): HTMLElement {
    let row = this.#rows.get(room.id);
    if (row === undefined) {
      row = element('li', {}, element('a', { href: `#${room.id}`, class: 'room-row' }));
      this.#rows.set(room.id, row);
    }
    const link = row.firstElementChild as HTMLElement;
    link.classList.toggle('unread', unread);
    link.toggleAttribute('aria-current', room.id === this.#open);
    link.replaceChildren(
      element('span', { class: 'title' }, room.title),
      element('time', { class: 'hint', datetime: new Date(room.lastAt).toISOString() }, shortly(room.lastAt)),
      element('span', { class: 'last hint' }, room.lastMessage || 'Nothing said yet'),
      ...(unread ? [element('span', { class: 'mark', role: 'img', 'aria-label': 'Unread' })] : []),
    );
    return row;
  }
}

function emptiness(others: number): string {
  return others === 0 ? 'No rooms yet. Make the first one above.' : 'None yet. Make one above, or join one below.';
}
