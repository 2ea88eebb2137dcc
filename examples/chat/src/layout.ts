// Where everything is in the tree, and nowhere else in this example is a path written down.
//
//   chats/$room                {title, lastAt}
//   members/$room/$uid         {name, joinedAt}
//   messages/$room/$message    {from, name, text, at}
//   users/$uid                 {name, rooms/$room: true}
//   presence/$uid/$connection  since when
//   typing/$room/$uid          true
//
// Why flat: a listener receives everything below its place, and a rule that grants reading grants it for everything
// below. Were messages inside `chats/$room`, the list of rooms would download every message ever written. So what is
// shown at different moments, or to different people, stands at different places: everybody may look through `chats`,
// only members read `messages/$room` and `members/$room`.
//
// Why some things stand twice: there are no joins. `members/$room` answers "who is here" and `users/$uid/rooms`
// answers "where am I", each with one listener; a message carries its author's name, so that a page of history needs
// no second question. The copies agree because they are written together, in one update of several paths.

declare const kind: unique symbol;
export type Uid = string & { readonly [kind]: 'uid' };
export type RoomId = string & { readonly [kind]: 'room' };
export type MessageId = string & { readonly [kind]: 'message' };

export const place = {
  chats: 'chats',
  chat: (room: RoomId) => `chats/${room}`,
  members: (room: RoomId) => `members/${room}`,
  member: (room: RoomId, uid: Uid) => `members/${room}/${uid}`,
  messages: (room: RoomId) => `messages/${room}`,
  message: (room: RoomId, message: MessageId) => `messages/${room}/${message}`,
  userName: (uid: Uid) => `users/${uid}/name`,
  roomsOfUser: (uid: Uid) => `users/${uid}/rooms`,
  roomOfUser: (uid: Uid, room: RoomId) => `users/${uid}/rooms/${room}`,
  // One child for each connection: with two tabs open, closing one must not make its owner look absent.
  connections: (uid: Uid) => `presence/${uid}`,
  typists: (room: RoomId) => `typing/${room}`,
  typist: (room: RoomId, uid: Uid) => `typing/${room}/${uid}`,
};

export const MESSAGE_CHARS_MAX = 2000;
export const TITLE_CHARS_MAX = 60;
export const NAME_CHARS_MAX = 30;

// Rooms are named by push ids. An address bar may hold anything, and the SDK throws at a path it cannot use.
export function parseRoomId(text: string): RoomId | undefined {
  return /^[-\w]{20}$/.test(text) ? (text as RoomId) : undefined;
}

export interface Room {
  id: RoomId;
  title: string;
  /** With its author; empty until it is known, and where I am no member. */
  lastMessage: string;
  /** Milliseconds since 1970, by the server's clock. */
  lastAt: number;
}

export interface Member {
  uid: Uid;
  name: string;
}

export interface Message {
  id: MessageId;
  from: string;
  name: string;
  text: string;
  /** Milliseconds since 1970, by the server's clock; the SDK's estimate of it until the server has answered. */
  at: number;
}

// The tree is open to whoever the rules let in, so what is read is checked once, here, and typed from then on.

export function readRoom(id: string, value: unknown): Room | undefined {
  const room = parseRoomId(id);
  const title = field(value, 'title');
  if (room === undefined || typeof title !== 'string') {
    return undefined;
  }
  return { id: room, title, lastMessage: '', lastAt: time(field(value, 'lastAt')) };
}

export function readMember(uid: string, value: unknown): Member {
  return { uid: uid as Uid, name: text(field(value, 'name')) || 'Nameless' };
}

export function readMessage(id: string, value: unknown): Message | undefined {
  const body = field(value, 'text');
  if (typeof body !== 'string') {
    return undefined;
  }
  return {
    id: id as MessageId,
    from: text(field(value, 'from')),
    name: text(field(value, 'name')) || 'Nameless',
    text: body,
    at: time(field(value, 'at')),
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function time(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}
