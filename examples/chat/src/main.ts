// The page: somebody comes in, and the address says which room is open (`#<room>`), so that "back" works and a room has
// a link to send to others.

import { ref, set } from 'firebase/database';
import type { Screen } from './conversation';
import { forgetIdentity, storedIdentity } from './identity';
import { parseRoomId, place } from './layout';
import { OpenRoom } from './open_room';
import { announcePresence } from './presence';
import { reportRefusalsTo, taken } from './refusal';
import { createRoom, watchRooms, type Rooms } from './room';
import { openSession } from './session';
import { avatar } from './view/avatar';
import { Composer } from './view/composer';
import { part } from './view/element';
import { MemberList } from './view/member_list';
import { MessageList } from './view/message_list';
import { showNotice } from './view/notice';
import { showOffline } from './view/offline';
import { RoomList } from './view/room_list';
import { askForName } from './view/welcome';

const me = storedIdentity() ?? await askForName();
const session = openSession(me);
let rooms: Rooms = { mine: [], others: [], known: false };
let open: OpenRoom | undefined;

reportRefusalsTo(showNotice);
showOffline(session);
announcePresence(session);
void taken('Your name was not kept', set(ref(session.database, place.userName(me.uid)), me.name));

const roomList = new RoomList((title) => {
  location.hash = createRoom(session, title);
});
const screen: Screen = {
  composer: new Composer({
    send: (text) => open?.conversation?.send(text),
    keyPressed: () => open?.conversation?.keyPressed(),
    emptied: () => open?.conversation?.emptied(),
  }),
  messageList: new MessageList(me.uid, () => void open?.conversation?.older(), () => open?.conversation?.markSeen()),
  memberList: new MemberList(me.uid, () => {
    open?.leave();
    location.hash = '';
  }),
  readMore: () => roomList.refresh(),
};

function openFromAddress(): void {
  const id = parseRoomId(location.hash.slice(1));
  open?.end();
  open = undefined;
  // On a phone this decides whether the rooms or the room are on the screen.
  document.body.classList.toggle('in-room', id !== undefined);
  part('room', HTMLElement).hidden = id === undefined;
  part('nowhere', HTMLElement).hidden = id !== undefined;
  roomList.showOpen(id);
  if (id !== undefined) {
    open = new OpenRoom(session, id, screen);
    open.showMembership(rooms);
    open.focus();
  }
}

watchRooms(session, (found) => {
  rooms = found;
  roomList.show(found);
  open?.showMembership(found);
});
part('join-button', HTMLButtonElement).addEventListener('click', () => open?.join());
part('forget', HTMLButtonElement).addEventListener('click', () => {
  forgetIdentity();
  location.hash = '';
  location.reload();
});
document.addEventListener('visibilitychange', () => open?.conversation?.markSeen());
window.addEventListener('hashchange', openFromAddress);

part('my-avatar', HTMLElement).append(avatar(me.uid, me.name));
part('my-name', HTMLElement).textContent = me.name;
part('shell', HTMLElement).hidden = false;
openFromAddress();
