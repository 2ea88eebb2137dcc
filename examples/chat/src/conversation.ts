// A conversation that I take part in: its listeners, from the moment it is opened until it is left, and what is drawn
// from them.

import type { Member, RoomId, Uid } from './layout';
import { watchMembers } from './member';
import { readOlder, sendMessage, watchNewest } from './message';
import { markRead, readUpTo } from './read_mark';
import { refused } from './refusal';
import type { Session } from './session';
import { Timeline } from './timeline';
import { Typing, watchTypists } from './typing';
import type { Composer } from './view/composer';
import type { MemberList } from './view/member_list';
import type { MessageList } from './view/message_list';
import { showTypists } from './view/typing_line';

export interface Screen {
  composer: Composer;
  messageList: MessageList;
  memberList: MemberList;
  /** Called after more of the open room has been read. */
  readMore: () => void;
}

export class Conversation {
  readonly #session: Session;
  readonly #room: RoomId;
  readonly #screen: Screen;
  readonly #timeline = new Timeline();
  readonly #typing: Typing;
  readonly #ends: (() => void)[];
  #members: Member[] = [];
  #typists: Uid[] = [];
  #isFetching = false;
  #isOver = false;

  constructor(session: Session, room: RoomId, screen: Screen) {
    this.#session = session;
    this.#room = room;
    this.#screen = screen;
    this.#typing = new Typing(session, room);
    screen.messageList.clear(readUpTo(room));
    screen.composer.clear();
    screen.memberList.open();
    this.#ends = [
      watchNewest(session, room, (window) => {
        this.#timeline.showWindow(window);
        this.#draw();
      }),
      watchTypists(session, room, (typists) => {
        this.#typists = typists;
        this.#drawTypists();
      }),
      watchMembers(session, room, (members) => {
        this.#members = members;
        screen.memberList.show(members);
        this.#drawTypists();
      }),
    ];
  }

  send(text: string): void {
    this.#typing.stop();
    const { id, taken } = sendMessage(this.#session, this.#room, text);
    this.#timeline.sent(id);
    this.#draw();
    void taken.then((isTaken) => {
      this.#timeline.answered(id);
      this.#draw();
      if (!isTaken && !this.#isOver) {
        this.#screen.composer.giveBack(text);
      }
    });
  }

  keyPressed(): void {
    this.#typing.keyPressed();
  }

  emptied(): void {
    this.#typing.stop();
  }

  async older(): Promise<void> {
    const oldest = this.#timeline.messages[0];
    if (this.#isFetching || oldest === undefined || this.#timeline.reachesStart) {
      return;
    }
    this.#isFetching = true;
    this.#screen.messageList.showLoadingOlder(true);
    try {
      this.#timeline.addOlder(oldest.id, await readOlder(this.#session, this.#room, oldest.id));
      this.#draw();
    } catch (reason) {
      refused('The earlier messages cannot be read', reason);
    }
    this.#isFetching = false;
    if (!this.#isOver) {
      this.#screen.messageList.showLoadingOlder(false);
    }
  }

  /** Everything up to the newest message counts as read if it can be seen. */
  markSeen(): void {
    const newest = this.#timeline.messages.at(-1);
    if (newest !== undefined && this.#screen.messageList.isAtEnd && document.visibilityState === 'visible') {
      if (markRead(this.#room, newest.at)) {
        this.#screen.readMore();
      }
    }
  }

  end(): void {
    this.#isOver = true;
    this.#typing.stop();
    this.#ends.forEach((end) => end());
    showTypists([]);
    this.#screen.memberList.close();
    this.#screen.messageList.showLoadingOlder(false);
  }

  #draw(): void {
    if (!this.#isOver) {
      this.#screen.messageList.show(this.#timeline);
      this.markSeen();
    }
  }

  #drawTypists(): void {
    const names = new Map(this.#members.map(({ uid, name }) => [uid, name]));
    showTypists(this.#typists.flatMap((uid) => names.get(uid) ?? []));
  }
}
