// How far I have read, for each room. It stays in this browser, as the identity does.

import type { RoomId } from './layout';

const storedAs = (room: RoomId): string => `hearth-chat-read-${room}`;

/** Milliseconds by the server's clock; 0 when the room was never opened. */
export function readUpTo(room: RoomId): number {
  return Number(localStorage.getItem(storedAs(room)) ?? 0);
}

/** Whether that was news: the mark never goes back. */
export function markRead(room: RoomId, at: number): boolean {
  const isNews = readUpTo(room) < at;
  if (isNews) {
    localStorage.setItem(storedAs(room), String(at));
  }
  return isNews;
}
