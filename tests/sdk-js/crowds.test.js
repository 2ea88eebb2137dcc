// Much of everything at once: children, listeners, connections, and clients that do not read. Nobody pays for others.

import assert from 'node:assert/strict';
import { get, limitToFirst, onValue, orderByKey, query, ref, set } from 'firebase/database';
import { connected, subject, until, within } from './place.js';

/** Writes much at once, as an import does. */
async function fill(place, at, value) {
  const answer = await place.fetch(at, { method: 'PUT', params: { print: 'silent' }, body: JSON.stringify(value) });
  assert.equal(answer.status, 204, await answer.text());
}

const keyOf = (n) => `k${String(n).padStart(6, '0')}`;
const many = (count, valueOf) => Object.fromEntries(Array.from({ length: count }, (_, n) => [keyOf(n), valueOf(n)]));

/** What a text has, in bytes, that a bare connection was sent. */
const bytesOf = (messages) => Buffer.byteLength(JSON.stringify(messages));

subject('two children of a huge list are a small answer, however they are asked for', async (place) => {
  const children = 20_000;
  const text = 'x'.repeat(1_000);
  await fill(place, '/list', many(children, (n) => ({ n, text })));
  const two = { [keyOf(0)]: { n: 0, text }, [keyOf(1)]: { n: 1, text } };
  const first = { i: '.key', l: 2, vf: 'l' };
  const rest = { orderBy: '"$key"', limitToFirst: 2 };
  for (const [report, how, ask] of [
    ['R051', 'a listener', async () => {
      const socket = await place.socket();
      assert.equal((await socket.ask('q', { p: '/list', q: first, t: 1, h: '' })).s, 'ok');
      return [socket.received.find(({ a }) => a === 'd').b.d, bytesOf(socket.received)];
    }],
    ['R051', 'a read', async () => {
      const socket = await place.socket();
      const { d } = await socket.ask('g', { p: '/list', q: first });
      return [d, bytesOf(socket.received)];
    }],
    ['R051', 'the client', async () => {
      const found = (await get(query(ref(place.client(), 'list'), orderByKey(), limitToFirst(2)))).val();
      return [found, bytesOf(found)];
    }],
    ['R051', 'HTTP', async () => {
      const found = await (await place.fetch('/list', { params: rest })).text();
      return [JSON.parse(found), found.length];
    }],
    ['R051', 'an event stream', async () => {
      const stream = await place.stream('/list', rest);
      const { data } = await stream.next();
      stream.close();
      return [data.data, bytesOf(data)];
    }],
  ]) {
    const [found, bytes] = await within(ask(), `${report} ${how}`);
    assert.deepEqual(found, two, `${report} ${how}`);
    assert.ok(bytes < 3_000, `${report} ${how}: ${bytes} bytes`);
  }
  const most = children - 5_000;
  const answer = await (await place.socket()).ask('g', { p: '/list', q: { i: '.key', l: most, vf: 'l' } });
  assert.equal(Object.keys(answer.d).length, most, 'R051');
});

subject('a huge removal is seen whole or not at all, and hinders nobody', async (place) => {
  const count = 100_000;
  await fill(place, '/old', many(count, (n) => n));
  const [remover, reader, watcher] = [await place.socket(), await place.socket(), place.client()];
  const writers = [];
  for (let at = 0; at < 10; at += 1) writers.push(await place.socket());
  const seen = [];
  onValue(ref(watcher, 'old'), (old) => seen.push(old.size));
  await until(ref(watcher, 'old'), (old) => old !== null, 'R083: the old data');
  const big = place.fetch('/old').then((answer) => answer.json());
  const removed = remover.ask('p', { p: '/old', d: null });
  const written = writers.map((writer, at) => Promise.all(Array.from({ length: 50 }, (_, n) =>
    writer.ask('p', { p: `/new/w${at}/n${n}`, d: n }))));
  const read = Promise.all(Array.from({ length: 20 }, () => reader.ask('g', { p: '/old', q: {} })));
  const answers = await within(Promise.all([removed, ...written].flat()), 'R083: the writes');
  assert.ok(answers.flat().every(({ s }) => s === 'ok'), 'R083');
  await until(ref(watcher, 'old'), (old) => old === null, 'R083: the removal');
  const whole = (old) => old === null || Object.keys(old).length === count;
  assert.ok((await within(read, 'R083: the reads')).every(({ d }) => whole(d)), 'R083: a read of a part');
  assert.ok(whole(await within(big, 'R083: the read by HTTP')), 'R083: a read of a part by HTTP');
  assert.deepEqual(seen, [count, 0], 'R083');
  const fresh = (await get(ref(place.client()))).val();
  assert.deepEqual([Object.keys(fresh), Object.keys(fresh.new).length], [['new'], 10], 'R083');
});

subject('a write reaches a crowd, and one client with a crowd of listeners', async (place) => {
  const sockets = [];
  for (let at = 0; at < 300; at += 1) sockets.push(await place.socket());
  await Promise.all(sockets.map((socket) => socket.ask('q', { p: '/all', h: '' })));
  const [writer, owner] = [await place.socket(), await place.socket()];
  const own = Array.from({ length: 5_000 }, (_, at) => `/many/l${at}`);
  const answers = await within(Promise.all(own.map((p) => owner.ask('q', { p, h: '' }))), 'R087: 5,000 listeners');
  assert.ok(answers.every(({ s }) => s === 'ok'), 'R087');
  await writer.ask('p', { p: '/all', d: 'news' });
  await writer.ask('m', { p: '/many', d: { l17: 1, l4999: 2, other: 3 } });
  await Promise.all([...sockets, owner].map((socket) => socket.ask('g', { p: '/nothing', q: {} })));
  for (const socket of sockets) {
    assert.deepEqual(socket.received.filter(({ a }) => a).map(({ b }) => b.d), ['news'], 'R087');
  }
  const told = owner.received.filter(({ a, b }) => a && b.d !== null).map(({ b }) => [b.p, b.d]).toSorted();
  assert.deepEqual(told, [['many/l17', 1], ['many/l4999', 2]], 'R087');
});

subject('clients that stop reading hold up nobody, and catch up', async (place) => {
  const sockets = [];
  for (let at = 0; at < 12; at += 1) sockets.push(await place.socket());
  await Promise.all(sockets.map((socket) => socket.ask('q', { p: '/tick', h: '' })));
  const deaf = sockets.slice(0, 3);
  const awake = sockets.slice(3);
  for (const socket of deaf) socket.deafen();
  const source = place.client();
  await connected(source);
  // More than fits between the server and who does not read: each of them falls behind.
  const last = 200;
  for (let n = 1; n <= last; n += 1) await set(ref(source, 'tick'), { n, text: 'x'.repeat(100_000) });
  await Promise.all(awake.map((socket) => within(socket.ask('g', { p: '/none', q: {} }), 'R107: who reads is served')));
  const ticks = (socket) => socket.received.filter(({ a }) => a).map(({ b }) => b.d.n ?? b.d);
  for (const socket of awake) {
    const seen = ticks(socket);
    assert.equal(seen.at(-1), last, 'R107');
    assert.ok(seen.every((n, at) => at === 0 || seen[at - 1] < n), `R107: ${seen}`);
  }
  for (const socket of deaf) {
    socket.hear();
    await within(socket.ask('g', { p: '/none', q: {} }), 'R107: who reads again is served');
    const seen = ticks(socket);
    assert.equal(seen.at(-1), last, 'R107: it has caught up');
    assert.ok(seen.length < last, `R107: ${seen.length} of ${last} ticks were kept for who did not read`);
    assert.ok(seen.every((n, at) => at === 0 || seen[at - 1] < n), `R107: ${seen}`);
  }
});
