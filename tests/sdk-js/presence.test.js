// What an app arms for its disconnect happens once, however the connection ends.

import assert from 'node:assert/strict';
import {
  get, goOffline, goOnline, onDisconnect, onValue, ref, serverTimestamp, set, setWithPriority,
} from 'firebase/database';
import { connected, serve, settled, subject, until, values, within } from './place.js';

/** A server that asks every second whether its clients live. */
const alert = serve('--keep-alive', '1');

subject('armed writes are made at the disconnect, and cancelled ones are not', async (place) => {
  const [owner, observer] = place.clients(2);
  const before = { p: 'p0', c: 'c0', d: 'd0' };
  for (const [report, arm, after] of [
    ['', (at) => onDisconnect(at).set('gone'), 'gone'],
    ['', (at) => onDisconnect(at).remove(), null],
    ['', (at) => onDisconnect(at).update({ p: 'off', new: 1 }), { ...before, p: 'off', new: 1 }],
    ['', async (at) => {
      await onDisconnect(at).set('gone');
      await onDisconnect(at).cancel();
    }, before],
    ['R063', async (at) => {
      await onDisconnect(at).update({ p: 1, c: 'x' });
      await onDisconnect(ref(owner, 'node/c')).cancel();
    }, { ...before, p: 1 }],
    ['R063', async (at) => {
      await onDisconnect(ref(owner, 'node/c')).set('x');
      await onDisconnect(at).cancel();
    }, before],
    ['R063', async (at) => {
      await onDisconnect(ref(owner, 'node/c')).set('x');
      await onDisconnect(at).update({ p: 1 });
    }, { ...before, c: 'x', p: 1 }],
    ['R063', async (at) => {
      await onDisconnect(ref(owner, 'node/c')).set('x');
      await onDisconnect(at).set({ p: 1 });
    }, { p: 1 }],
    ['R063', async (at) => {
      await onDisconnect(at).set({ p: 1, c: 'x' });
      await onDisconnect(ref(owner, 'node/c')).set('y');
    }, { p: 1, c: 'y' }],
    ['R063', async (at) => {
      // The rest of a value that lost a part is written child by child (wire reference 4.7).
      await onDisconnect(at).set({ p: 1, c: 'x' });
      await onDisconnect(ref(owner, 'node/c')).cancel();
    }, { ...before, p: 1 }],
  ]) {
    await connected(owner);
    await set(ref(observer, 'node'), before);
    await onDisconnect(ref(owner, 'end')).set('ended');
    await arm(ref(owner, 'node'));
    assert.deepEqual((await get(ref(observer, 'node'))).val(), before, `${report} before the end: ${arm}`);
    const ended = until(ref(observer, 'end'), (end) => end === 'ended');
    goOffline(owner);
    await ended;
    await settled(observer, observer);
    assert.deepEqual((await get(ref(observer, 'node'))).val(), after, `${report} ${arm}`);
    await set(ref(observer, 'end'), null);
    goOnline(owner);
  }
});

subject('armed writes are made once, not again at the next disconnect', async (place) => {
  const [owner, observer] = place.clients(2);
  await onDisconnect(ref(owner, 'n')).set('off');
  goOffline(owner);
  await until(ref(observer, 'n'), (n) => n === 'off');
  goOnline(owner);
  await connected(owner);
  await set(ref(owner, 'n'), 'on');
  await onDisconnect(ref(owner, 'end')).set(true);
  goOffline(owner);
  await until(ref(observer, 'end'), (end) => end === true);
  assert.equal((await get(ref(observer, 'n'))).val(), 'on');
});

subject('an app that is killed is off', async (place) => {
  const observer = place.client();
  const { line, kill } = await place.app('armed');
  assert.equal(line, 'armed');
  assert.equal((await get(ref(observer, 'who/armed'))).val(), 'on');
  kill();
  await until(ref(observer, 'who/armed'), (who) => who === 'off');
});

subject('a connection that breaks off is off', async (place) => {
  const observer = place.client();
  const socket = await place.socket();
  assert.equal((await socket.ask('o', { p: '/who', d: 'off' })).s, 'ok');
  assert.equal((await socket.ask('om', { p: '/', d: { 'last/at': { '.sv': 'timestamp' } } })).s, 'ok');
  assert.equal((await socket.ask('p', { p: '/who', d: 'on' })).s, 'ok');
  const from = Date.now();
  socket.kill();
  await until(ref(observer, 'who'), (who) => who === 'off');
  const at = (await get(ref(observer, 'last/at'))).val();
  assert.ok(from - 1_000 <= at && at <= Date.now() + 1_000, `R063: ${at} is the time of the disconnect`);
});

subject('who is gone without a word is off before long, and once', async (place) => {
  const [observer, idle] = place.clients(2);
  await connected(idle);
  await onDisconnect(ref(idle, 'idle')).set('off');
  await set(ref(idle, 'idle'), 'on');
  const big = 'x'.repeat(8_000_000);
  for (const [report, how, arm, lose] of [
    ['R059', 'a network that is gone', () => place.socket(), (socket) => socket.deafen()],
    ['R059', 'data wait for it', async () => {
      const socket = await place.socket();
      await socket.ask('q', { p: '/big', h: '' });
      return socket;
    }, async (socket) => {
      socket.deafen();
      for (let n = 0; n < 4; n += 1) await set(ref(observer, 'big'), big + n);
    }],
  ]) {
    const seen = await values(ref(observer, 'who/armed'));
    const socket = await arm();
    assert.equal((await socket.ask('o', { p: '/who/armed', d: 'off' })).s, 'ok', `${report} ${how}`);
    await socket.ask('p', { p: '/who/armed', d: 'on' });
    const off = until(ref(observer, 'who/armed'), (who) => who === 'off', `${report} ${how}: off`);
    await lose(socket);
    await off;
    await set(ref(observer, 'who/armed'), 'on again');
    socket.hear();
    await within(socket.closed, `${report} ${how}: the end of the socket`);
    await settled(observer, observer);
    assert.deepEqual(seen.slice(-3), ['on', 'off', 'on again'], `${report} ${how}`);
  }
  const { line, stop, kill } = await place.app('armed');
  assert.equal(line, 'armed');
  const off = until(ref(observer, 'who/armed'), (who) => who === 'off', 'R059 a process that stands still: off');
  stop();
  await off;
  kill();
  assert.equal((await get(ref(observer, 'idle'))).val(), 'on', 'R059: who says nothing but answers is still there');
}, alert);

subject('priorities and timestamps are those of the disconnect', async (place) => {
  const [owner, observer] = place.clients(2);
  await connected(owner);
  await setWithPriority(ref(observer, 'x'), 'on', 1);
  await onDisconnect(ref(owner, 'x')).setWithPriority('off', 'p');
  await onDisconnect(ref(owner, 'at')).set(serverTimestamp());
  await set(ref(observer, 'armed'), serverTimestamp());
  const armed = (await get(ref(observer, 'armed'))).val();
  goOffline(owner);
  await until(ref(observer, 'x'), (x) => x === 'off');
  const [x, at] = [await get(ref(observer, 'x')), await until(ref(observer, 'at'), (at) => at !== null)];
  assert.equal(x.priority, 'p', 'R063');
  assert.ok(armed <= at, `R063: armed by ${armed}, made at ${at}`);
});

subject('a client that comes back ends its dead connection before it says that it is on', async (place) => {
  const observer = place.client();
  const seen = await values(ref(observer, 'who'));
  const dead = await place.socket();
  await dead.ask('o', { p: '/who', d: 'off' });
  await dead.ask('p', { p: '/who', d: 'on' });
  dead.deafen();
  const back = await place.socket(dead.session);
  await back.ask('p', { p: '/who', d: 'on again' });
  await settled(observer, observer);
  assert.deepEqual(seen, [null, 'on', 'off', 'on again'], 'R061');
  dead.kill();
  await back.ask('p', { p: '/other', d: 1 });
  await settled(observer, observer);
  assert.equal(seen.at(-1), 'on again', 'R061');
});

subject('the usual recipe shows who is there', async (place) => {
  const [owner, observer] = place.clients(2);
  const seen = await values(ref(observer, 'who'));
  const own = ref(owner, 'who');
  const announced = [];
  const announce = () => onDisconnect(own).set('off').then(() => set(own, 'on'));
  const stop = onValue(ref(owner, '.info/connected'), (is) => is.val() && announced.push(announce()));
  for (let round = 0; round < 3; round += 1) {
    await until(ref(observer, 'who'), (who) => who === 'on');
    // A client that goes before it has read an answer never settles what it armed, and sends the write again.
    await within(announced[round], 'R061: the answers');
    const off = until(ref(observer, 'who'), (who) => who === 'off');
    goOffline(owner);
    await within(off, 'R061: off');
    goOnline(owner);
  }
  await until(ref(observer, 'who'), (who) => who === 'on');
  stop();
  await within(announced[3], 'R061: the last answers');
  assert.deepEqual(seen, [null, 'on', 'off', 'on', 'off', 'on', 'off', 'on'], 'R061');
});
