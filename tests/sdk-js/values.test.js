// What is written is what is read: single values, whole trees, many paths at once.

import assert from 'node:assert/strict';
import { child, get, push, ref, remove, set, update } from 'firebase/database';
import { Place, settled, subject, until, values } from './place.js';

const MANY = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`k${at}`, { at, odd: at % 2 === 1 }]));

subject('another client reads what was set', async (place) => {
  const [writer, reader] = place.clients(2);
  const rows = [
    ['true', true],
    ['false', false],
    ['zero', 0],
    ['an empty text', ''],
    ['a text of digits', '007'],
    ['a control character', 'a\u0000b\n'],
    ['accents and emoji', 'héllo ☃ 😀 👩‍👩‍👧'],
    ['a tree', { a: { b: { c: 1 } }, d: 'e' }],
    ['unicode keys', { é: 1, 日本: 2, '😀': { '👩‍👩‍👧': 3 }, '\uffee': 4, ' ': 5, '-': 6 }],
    ['a list', ['x', 'y', 'z']],
    ['2,000 children', MANY],
    ['nothing', null],
  ];
  for (const [name, value] of rows) {
    await set(ref(writer, 'value'), value);
    assert.deepEqual((await get(ref(reader, 'value'))).val(), value, name);
  }
});

subject('numbers come back as the same doubles', async (place) => {
  const [writer, reader] = place.clients(2);
  for (const [report, number] of [
    ['R033', 9007199254740991],
    ['R033', -9007199254740991],
    ['R033', 2 ** 53 + 2],
    ['R033', 4503599627370497.5],
    ['R033', 1e21],
    ['R033', 1e-7],
    ['R033', 0.1 + 0.2],
    ['R033', 1e308],
    ['R033', 5e-324],
    ['R033', -1.5],
  ]) {
    await set(ref(writer, 'n'), number);
    assert.equal((await get(ref(reader, 'n'))).val(), number, `${report} ${number}`);
  }
  await set(ref(writer, 'n'), -0);
  assert.equal((await get(ref(reader, 'n'))).val() + 0, 0, 'R033 -0');
});

subject('a text of ten megabytes is set, shown and read', async (place) => {
  const [writer, reader] = place.clients(2);
  const big = 'x'.repeat(10 * 1024 * 1024);
  const shown = until(ref(reader, 'big'), (value) => value !== null, 'the big text');
  await set(ref(writer, 'big'), big);
  assert.ok((await shown) === big, 'what the listener is shown');
  assert.ok((await get(ref(place.client(), 'big'))).val() === big, 'what is read');
});

subject('pushed children stay in the order in which they were pushed', async (place) => {
  const [writer, reader] = place.clients(2);
  const pushed = Array.from({ length: 50 }, (_, at) => push(ref(writer, 'messages'), at));
  await Promise.all(pushed);
  const read = [];
  (await get(ref(reader, 'messages'))).forEach((message) => {
    read.push([message.key, message.val()]);
  });
  assert.deepEqual(read, pushed.map((message, at) => [message.key, at]));
});

subject('a listener at the root sees both sides of a membership in one event', async (place) => {
  const [writer, reader] = place.clients(2);
  await set(ref(writer), { rooms: { r1: { title: 'tea' } }, users: { ann: { name: 'Ann' } } });
  const seen = await values(ref(reader));
  const last = until(ref(reader), (value) => value.rooms.r1.members !== undefined);
  await update(ref(writer), { 'rooms/r1/members/ann': true, 'users/ann/rooms/r1': true });
  await last;
  assert.deepEqual(seen, [
    { rooms: { r1: { title: 'tea' } }, users: { ann: { name: 'Ann' } } },
    {
      rooms: { r1: { title: 'tea', members: { ann: true } } },
      users: { ann: { name: 'Ann', rooms: { r1: true } } },
    },
  ]);
});

subject('an update replaces what it names and leaves the rest', async (place) => {
  const [writer, reader] = place.clients(2);
  for (const [before, at, parts, after] of [
    [{ a: 1, b: 2 }, '', { b: 3 }, { a: 1, b: 3 }],
    [{ a: 1, b: 2 }, '', { b: null }, { a: 1 }],
    [{ a: { x: 1, y: 2 } }, '', { a: { z: 3 } }, { a: { z: 3 } }],
    [{ a: { x: 1, y: 2 } }, '', { 'a/x': 5, 'b/c/d': 6 }, { a: { x: 5, y: 2 }, b: { c: { d: 6 } } }],
    [{ a: { x: 1 } }, 'a', { x: null }, null],
    [{ a: 1 }, 'a', { x: 2 }, { a: { x: 2 } }],
    [null, 'a/b', { 'c/d': ['x', 'y'] }, { a: { b: { c: { d: ['x', 'y'] } } } }],
  ]) {
    await set(ref(writer, 'tree'), before);
    await update(child(ref(writer, 'tree'), at || '/'), parts);
    assert.deepEqual((await get(ref(reader, 'tree'))).val(), after, JSON.stringify([before, at, parts]));
  }
});

subject('removing the last child removes the parents', async (place) => {
  const [writer, reader] = place.clients(2);
  await set(ref(writer, 'a/b/c'), 1);
  const seen = await values(ref(reader, 'a'));
  await remove(ref(writer, 'a/b/c'));
  await settled(writer, reader);
  assert.deepEqual(seen, [{ b: { c: 1 } }, null]);
  assert.equal((await get(ref(place.client(), 'a'))).exists(), false);
});

subject('lists with gaps are children without the gaps', async (place) => {
  const [writer, reader] = place.clients(2);
  for (const [report, written, read] of [
    ['R031', { 1: 'x', 3: 'y' }, { 1: 'x', 3: 'y' }],
    ['R031', [null, 'x', null, 'y'], { 1: 'x', 3: 'y' }],
    ['R031', { 0: 'a', 3: 'b' }, [['0', 'a'], ['3', 'b']]],
  ]) {
    await set(ref(writer, 'seats'), written);
    const entries = [];
    (await get(ref(reader, 'seats'))).forEach((seat) => {
      entries.push([seat.key, seat.val()]);
    });
    assert.deepEqual(entries, Array.isArray(read) ? read : Object.entries(read), `${report} ${JSON.stringify(written)}`);
  }
});

subject('two namespaces know nothing of each other', async (place) => {
  const other = new Place(place.server);
  try {
    const [here, there] = [place.client(), other.client()];
    const seen = await values(ref(there, 'x'));
    await set(ref(here, 'x'), 'here');
    await settled(there, there);
    assert.deepEqual(seen, [null]);
    await set(ref(there, 'x'), 'there');
    assert.equal((await get(ref(place.client(), 'x'))).val(), 'here');
    assert.equal((await get(ref(other.client(), 'x'))).val(), 'there');
  } finally {
    await other.leave();
  }
});
