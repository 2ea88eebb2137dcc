// What listeners are told: each child event once, in order, with the sibling before it.

import assert from 'node:assert/strict';
import {
  equalTo, get, goOffline, limitToLast, off, onDisconnect, onValue, orderByChild, query, ref, remove, runTransaction,
  set, update,
} from 'firebase/database';
import { children, connected, keysOf, settled, subject, take, until, values, within } from './place.js';

/** Writes row by row, and compares what a listener in another client is told. */
async function follow(writer, reader, listened, rows) {
  const seen = await children(listened);
  take(seen);
  for (const [report, write, told] of rows) {
    await write();
    await settled(writer, reader);
    assert.deepEqual(take(seen), told, `${report} ${write}`);
  }
}

subject('children come, change and go in the order of keys', async (place) => {
  const [writer, reader] = place.clients(2);
  await follow(writer, reader, ref(reader, 'c'), [
    ['', () => set(ref(writer, 'c/b'), 1), ['added b after null']],
    ['', () => set(ref(writer, 'c/a'), 1), ['added a after null']],
    ['', () => set(ref(writer, 'c/d'), { x: 1 }), ['added d after b']],
    ['', () => update(ref(writer, 'c'), { c: 1, a: 2 }), ['added c after b', 'changed a after null']],
    ['', () => set(ref(writer, 'c/d/x'), 2), ['changed d after c']],
    ['', () => set(ref(writer, 'c/d/x'), 2), []],
    ['', () => remove(ref(writer, 'c/b')), ['removed b']],
    ['', () => set(ref(writer, 'c/10'), 1), ['added 10 after null']],
    ['', () => set(ref(writer, 'c/9'), 1), ['added 9 after null']],
    ['', () => set(ref(writer, 'c'), { d: { x: 2 }, e: 1 }), [
      'removed 9', 'removed 10', 'removed a', 'removed c', 'added e after d',
    ]],
    ['', () => set(ref(writer, 'c'), 'a leaf'), ['removed d', 'removed e']],
  ]);
});

subject('a changed sort key moves the child, and its place is told', async (place) => {
  const [writer, reader] = place.clients(2);
  await set(ref(writer, 'c'), { a: { rank: 10 }, b: { rank: 20 }, c: { rank: 30 } });
  await follow(writer, reader, query(ref(reader, 'c'), orderByChild('rank')), [
    ['R041', () => set(ref(writer, 'c/b/rank'), 40), ['moved b after c', 'changed b after c']],
    ['R041', () => set(ref(writer, 'c/c/label'), 'x'), ['changed c after a']],
    ['R041', () => set(ref(writer, 'c/c/rank'), 35), ['moved c after a', 'changed c after a']],
    ['R041', () => set(ref(writer, 'c/b'), { label: 'y' }), ['moved b after null', 'changed b after null']],
    ['R041', () => update(ref(writer), { 'c/b/rank': 5, 'c/a/rank': 5 }), [
      'moved a after null', 'moved b after a', 'changed a after null', 'changed b after a',
    ]],
  ]);
});

subject('the server tells no more than has changed', async (place) => {
  const [writer, socket] = [place.client(), await place.socket()];
  await set(ref(writer, 'c'), { a: { rank: 10, x: 1 }, b: { rank: 20, x: 1 }, c: { rank: 30, x: 1 } });
  await socket.ask('q', { p: '/c', q: { i: 'rank' }, t: 1, h: '' });
  await socket.ask('q', { p: '/c', q: { i: 'rank', l: 2, vf: 'r' }, t: 2, h: '' });
  for (const [report, write, all, last] of [
    ['R041', () => set(ref(writer, 'c/b/rank'), 40), [['c/b/rank', 40]], [['c/b/rank', 40]]],
    ['R041', () => set(ref(writer, 'c/c/label'), 'x'), [['c/c/label', 'x']], [['c/c/label', 'x']]],
    ['R041', () => set(ref(writer, 'c/c/rank'), 35), [['c/c/rank', 35]], [['c/c/rank', 35]]],
    ['R041', () => set(ref(writer, 'c/a/x'), 2), [['c/a/x', 2]], []],
    ['R041', () => set(ref(writer, 'c/a/rank'), 36), [['c/a/rank', 36]], [['c/a', { rank: 36, x: 2 }], ['c/c', null]]],
    ['R041', () => set(ref(writer, 'c/a/rank'), 36), [], []],
  ]) {
    const from = socket.received.length;
    await write();
    await socket.ask('g', { p: '/none', q: {} });
    const told = (tag) => socket.received.slice(from).filter(({ a, b }) => a && b.t === tag)
      .flatMap(({ a, b }) => (a === 'm' ? Object.entries(b.d).map(([key, data]) => [`${b.p}/${key}`, data]) : [[b.p, b.d]]));
    assert.deepEqual([told(1), told(2)], [all, last], `${report} ${write}`);
  }
});

subject('scores that tie keep one order, told by the sibling before', async (place) => {
  const [writer, reader] = place.clients(2);
  const scores = { a: 5, b: 5, c: 7, d: 5, e: 1, f: 7 };
  await set(ref(writer, 's'), Object.fromEntries(Object.entries(scores).map(([key, score]) => [key, { score }])));
  const best = query(ref(reader, 's'), orderByChild('score'), limitToLast(5));
  const seen = await children(best);
  assert.deepEqual(take(seen), [
    'added a after null', 'added b after a', 'added d after b', 'added c after d', 'added f after c',
  ], 'R049');
  await set(ref(writer, 's/e/score'), 7);
  await settled(writer, reader);
  assert.deepEqual(take(seen).toSorted(), ['added e after c', 'removed a'], 'R049');
  assert.deepEqual(keysOf(await get(best)), ['b', 'd', 'c', 'e', 'f'], 'R049');
});

subject('a child that stops matching is removed, whatever wrote it', async (place) => {
  const [writer, reader, leaver] = place.clients(3);
  const open = query(ref(reader, 'c'), orderByChild('st'), equalTo('open'));
  const seen = await children(open);
  await connected(leaver);
  const at = (path) => ref(writer, path);
  for (const [report, how, write] of [
    ['R071', 'set of the field', () => set(at('c/x/st'), 'shut')],
    ['R071', 'set of the child', () => set(at('c/x'), { st: 'shut' })],
    ['R071', 'update', () => update(at('c/x'), { st: 'shut' })],
    ['R071', 'update of many paths', () => update(at('/'), { 'c/x/st': 'shut', 'other/x': 1 })],
    ['R071', 'transaction', () => runTransaction(at('c/x'), (x) => x && { ...x, st: 'shut' })],
    ['R071', 'removal', () => remove(at('c/x'))],
    ['R071', 'removal of all', () => remove(at('c'))],
    ['R071', 'disconnect', async () => {
      await onDisconnect(ref(leaver, 'c/x/st')).set('shut');
      const shut = until(at('c/x/st'), (st) => st === 'shut');
      goOffline(leaver);
      await shut;
    }],
  ]) {
    await set(at('c/x'), { st: 'open', by: 'ann' });
    await settled(writer, reader);
    assert.deepEqual(take(seen), ['added x after null'], `${report} before ${how}`);
    await write();
    await settled(writer, reader);
    assert.deepEqual(take(seen), ['removed x'], `${report} ${how}`);
  }
});

subject('every way of writing reaches a listener above, at and below', async (place) => {
  const [writer, reader, leaver] = place.clients(3);
  await connected(leaver);
  const http = async (at, method, value, headers) => {
    const answer = await place.fetch(at, { method, headers, body: value && JSON.stringify(value) });
    assert.equal(answer.status, 200, await answer.text());
  };
  const above = await values(ref(reader, 'a'));
  const here = await values(ref(reader, 'a/b'));
  const below = await values(ref(reader, 'a/b/c'));
  for (const [report, value, write] of [
    ['R071', 1, () => set(ref(writer, 'a/b/c'), 1)],
    ['R071', 2, () => set(ref(writer, 'a'), { b: { c: 2 } })],
    ['R071', 3, () => update(ref(writer, 'a/b'), { c: 3 })],
    ['R071', 4, () => update(ref(writer), { 'a/b/c': 4 })],
    ['R071', 5, () => runTransaction(ref(writer, 'a/b'), (b) => b && { c: b.c + 1 })],
    ['R071', null, () => remove(ref(writer, 'a/b'))],
    ['R071', 6, () => http('/a/b/c', 'PUT', 6)],
    ['R071', 7, () => http('/a', 'PATCH', { 'b/c': 7 })],
    ['R071', 8, () => http('/', 'PATCH', { a: { b: { c: 8 } } }, { authorization: 'Bearer owner' })],
    ['R071', null, () => http('/a/b', 'DELETE')],
    ['R071', 9, async () => {
      await onDisconnect(ref(leaver, 'a/b/c')).set(9);
      const left = until(ref(writer, 'a/b/c'), (c) => c === 9);
      goOffline(leaver);
      await left;
    }],
  ]) {
    for (const seen of [above, here, below]) take(seen);
    await write();
    await settled(writer, reader);
    assert.deepEqual(above.at(-1), value && { b: { c: value } }, `${report} above ${write}`);
    assert.deepEqual(here.at(-1), value && { c: value }, `${report} at ${write}`);
    assert.deepEqual(below.at(-1), value, `${report} below ${write}`);
  }
});

subject('who stops listening is told nothing more', async (place) => {
  const [writer, reader] = place.clients(2);
  const seen = await values(ref(reader, 'x'));
  off(ref(reader, 'x'));
  await set(ref(writer, 'x'), 1);
  await settled(writer, reader);
  assert.deepEqual(seen, [null]);
});

subject('a writer sees its own values at once and no step back', async (place) => {
  const writer = place.client();
  const seen = await values(ref(writer, 'n'));
  for (let n = 1; n <= 200; n += 1) set(ref(writer, 'n'), n);
  await set(ref(writer, 'n'), 201);
  assert.deepEqual(seen.slice(1), Array.from({ length: 201 }, (_, at) => at + 1));
});

subject('a listener is told of an overlapping one without a second copy', async (place) => {
  const [writer, reader] = place.clients(2);
  await set(ref(writer, 'a'), { b: 1, c: 2 });
  const child = await values(ref(reader, 'a/b'));
  const parent = await values(ref(reader, 'a'));
  off(ref(reader, 'a'));
  await set(ref(writer, 'a/b'), 3);
  await settled(writer, reader);
  assert.deepEqual([child, parent], [[1, 3], [{ b: 1, c: 2 }]]);
  const again = new Promise((resolve) => onValue(ref(reader, 'a'), (snapshot) => snapshot.val().b === 3 && resolve()));
  await within(again, 'the parent again');
});
