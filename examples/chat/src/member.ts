// The members of a room, and which of them are there.

import { onValue, ref, type Unsubscribe } from 'firebase/database';
import { place, readMember, type Member, type RoomId, type Uid } from './layout';
import { watchOnline } from './presence';
import { refused } from './refusal';
import type { Session } from './session';

export interface MemberHere extends Member {
  online: boolean;
}

/** Those who are there first, each half by name. */
export function watchMembers(session: Session, room: RoomId, show: (members: MemberHere[]) => void): Unsubscribe {
  const watched = new Map<Uid, Unsubscribe>();
  const online = new Set<Uid>();
  let members: Member[] = [];

  const tell = (): void => {
    const here = members.map((member) => ({ ...member, online: online.has(member.uid) }));
    show(here.sort((one, other) => Number(other.online) - Number(one.online) || one.name.localeCompare(other.name)));
  };

  const follow = ({ uid }: Member): void => {
    watched.set(uid, () => {}); // The listener may call back before it has returned its end.
    watched.set(uid, watchOnline(session, uid, (isOnline) => {
      if (isOnline) {
        online.add(uid);
      } else {
        online.delete(uid);
      }
      tell();
    }));
  };

  const unfollow = (uid: Uid): void => {
    watched.get(uid)?.();
    watched.delete(uid);
    online.delete(uid);
  };

  const stop = onValue(ref(session.database, place.members(room)), (snapshot) => {
    members = Object.entries(snapshot.val() ?? {}).map(([uid, value]) => readMember(uid, value));
    const uids = new Set(members.map((member) => member.uid));
    [...watched.keys()].filter((uid) => !uids.has(uid)).forEach(unfollow);
    members.filter(({ uid }) => !watched.has(uid)).forEach(follow);
    tell();
  }, (reason) => refused('The members cannot be read', reason));

  return () => {
    stop();
    [...watched.keys()].forEach(unfollow);
  };
}
