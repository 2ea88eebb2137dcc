// Timestamps and increments are the server's: made once, at the commit, and shown as numbers.

import assert from 'node:assert/strict';
import {
  get, goOffline, increment, onDisconnect, ref, serverTimestamp, set, setWithPriority, update,
} from 'firebase/database';
import { connected, settled, subject, until, values } from './place.js';

/** How far the clocks of this process and of the server, on one machine, may seem apart in a busy moment. */
const CLOCK_MS = 10_000;

const isNow = (ms) => Number.isInteger(ms) && Math.abs(ms - Date.now()) < CLOCK_MS;

subject('all timestamps of one write are the same moment', async (place) => {
  const [writer, reader] = place.clients(2);
  await update(ref(writer), { 'a/at': serverTimestamp(), 'b/at': serverTimestamp(), c: { x: serverTimestamp() } });
  const { a, b, c } = (await get(ref(reader))).val();
  assert.ok(isNow(a.at), `${a.at}`);
  assert.deepEqual([b.at, c.x], [a.at, a.at]);
});

subject('a timestamp may be a priority', async (place) => {
  const [writer, reader] = place.clients(2);
  await setWithPriority(ref(writer, 'x'), 'v', serverTimestamp());
  const read = await get(ref(reader, 'x'));
  assert.equal(read.val(), 'v', 'R037');
  assert.ok(isNow(read.priority), `R037 ${read.priority}`);
});

subject('increments of many clients add up exactly', async (place) => {
  const [a, b, listener] = place.clients(3);
  const seen = await values(ref(listener, 'hits'));
  await Promise.all([a, b].flatMap((client) => Array.from({ length: 500 }, () => set(ref(client, 'hits'), increment(1)))));
  await set(ref(a, 'hits'), increment(-3));
  await settled(a, listener);
  assert.equal(seen.at(-1), 997, 'R035');
  const steps = seen.slice(1, -1);
  assert.ok(steps.every((hits, at) => at === 0 || steps[at - 1] < hits), 'R035: a listener sees it grow');
});

subject('an increment starts at nothing, and adds to numbers alone', async (place) => {
  const [writer, reader] = place.clients(2);
  for (const [report, before, by, after] of [
    ['R035', null, 5, 5],
    ['R035', 'text', 5, 5],
    ['R035', true, 5, 5],
    ['R035', { a: 1 }, 5, 5],
    ['R035', 2, -3, -1],
    ['R035', 0.5, 0.25, 0.75],
    ['R035', 1, 0, 1],
    ['R035', 9007199254740991, 1, 9007199254740992],
  ]) {
    await set(ref(writer, 'n'), before);
    await set(ref(writer, 'n'), increment(by));
    assert.equal((await get(ref(reader, 'n'))).val(), after, `${report} ${JSON.stringify(before)} + ${by}`);
  }
});

subject('increments work in updates of many paths and at a disconnect', async (place) => {
  const [writer, leaver, reader] = place.clients(3);
  await set(ref(writer), { a: { n: 1 }, b: { n: 10 }, left: 1 });
  await update(ref(writer), { 'a/n': increment(1), 'b/n': increment(-1) });
  assert.deepEqual((await get(ref(reader))).val(), { a: { n: 2 }, b: { n: 9 }, left: 1 }, 'R035');
  await connected(leaver);
  await onDisconnect(ref(leaver, 'left')).set(increment(2));
  await set(ref(writer, 'left'), 10);
  goOffline(leaver);
  assert.equal(await until(ref(reader, 'left'), (left) => left !== 10 && left !== 1), 12, 'R035');
});

subject('server values that make no sense are refused and leave nothing', async (place) => {
  const socket = await place.socket();
  for (const [report, value] of [
    ['R037', { '.sv': 'bogus' }],
    ['R037', { '.sv': 'timestamp', x: 1 }],
    ['R037', { '.sv': { increment: 'x' } }],
    ['R037', { '.sv': { increment: 1, other: 2 } }],
    ['R037', { '.sv': {} }],
    ['R037', { '.sv': null, x: 1 }],
    ['R037', { '.sv': 5 }],
  ]) {
    const row = `${report} ${JSON.stringify(value)}`;
    const deep = { deep: value };
    for (const [action, body] of [['p', value], ['p', deep], ['m', deep], ['o', value], ['om', deep]]) {
      const answer = await socket.ask(action, { p: '/v', d: body });
      assert.equal(answer.s, 'invalid', `${row} by ${action}`);
      assert.match(answer.d, /\S/, row);
    }
    for (const [method, body] of [['PUT', value], ['PUT', deep], ['PATCH', deep], ['POST', value]]) {
      const answer = await place.fetch('/v', { method, body: JSON.stringify(body) });
      assert.equal(answer.status, 400, `${row} by ${method}`);
      assert.match((await answer.json()).error, /\S/, `${row} by ${method}`);
    }
    assert.equal((await socket.ask('g', { p: '/', q: {} })).d, null, row);
  }
});
