// The room that is open: its title for everybody, its conversation and its members for members only.

import { Conversation, type Screen } from './conversation';
import type { RoomId } from './layout';
import { joinRoom, leaveRoom, watchRoom, type Rooms } from './room';
import type { Session } from './session';
import { part } from './view/element';

export class OpenRoom {
  readonly id: RoomId;
  readonly #session: Session;
  readonly #screen: Screen;
  readonly #ends: (() => void)[];
  #conversation: Conversation | undefined;

  constructor(session: Session, id: RoomId, screen: Screen) {
    this.id = id;
    this.#session = session;
    this.#screen = screen;
    const title = part('room-title', HTMLElement);
    title.textContent = '';
    screen.messageList.clear(0);
    this.#ends = [
      watchRoom(session, id, (room) => {
        title.textContent = room?.title ?? 'There is no such room';
      }),
    ];
  }

  get conversation(): Conversation | undefined {
    return this.#conversation;
  }

  // The rules let only members listen to messages and members, so the conversation begins and ends with the membership.
  showMembership({ mine, known }: Rooms): void {
    const isMember = mine.some(({ id }) => id === this.id);
    this.#screen.composer.setShown(isMember);
    part('join', HTMLElement).hidden = isMember || !known;
    if (isMember && this.#conversation === undefined) {
      this.#conversation = new Conversation(this.#session, this.id, this.#screen);
      this.focus();
    } else if (!isMember) {
      this.#endConversation();
    }
  }

  join(): void {
    joinRoom(this.#session, this.id);
  }

  leave(): void {
    this.#endConversation();
    leaveRoom(this.#session, this.id);
  }

  focus(): void {
    // Where a keyboard slides over half of the screen, it comes when it is called.
    if (this.#conversation !== undefined && matchMedia('(pointer: fine)').matches) {
      this.#screen.composer.focus();
    } else {
      part('room-title', HTMLElement).focus();
    }
  }

  end(): void {
    this.#endConversation();
    this.#ends.forEach((end) => end());
  }

  #endConversation(): void {
    if (this.#conversation !== undefined) {
      this.#conversation.end();
      this.#conversation = undefined;
      this.#screen.messageList.clear(0);
    }
  }
}
