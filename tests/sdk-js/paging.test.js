// Paging by the value and key of the last child visits every child once, in both directions.

import assert from 'node:assert/strict';
import {
  endBefore, get, limitToFirst, limitToLast, orderByChild, orderByKey, query, ref, set, startAfter,
} from 'firebase/database';
import { subject } from './place.js';

async function page(asked) {
  const found = [];
  (await get(asked)).forEach((child) => {
    found.push([child.key, child.child('at').val()]);
  });
  return found;
}

/** All pages from the first, each behind the last child of the one before. */
async function forwards(at, size) {
  const all = [];
  for (;;) {
    const last = all.at(-1);
    const bounds = last ? [startAfter(last[1], last[0])] : [];
    const found = await page(query(at, orderByChild('at'), ...bounds, limitToFirst(size)));
    all.push(...found);
    if (found.length < size) return all;
  }
}

async function backwards(at, size) {
  const all = [];
  for (;;) {
    const first = all[0];
    const bounds = first ? [endBefore(first[1], first[0])] : [];
    const found = await page(query(at, orderByChild('at'), ...bounds, limitToLast(size)));
    all.unshift(...found);
    if (found.length < size) return all;
  }
}

subject('a thousand messages with ties, 30 at a time', async (place) => {
  const [writer, reader] = place.clients(2);
  const keyOf = (n) => `m${String((n * 7) % 1_000).padStart(4, '0')}`;
  const messages = Array.from({ length: 1_000 }, (_, n) => [keyOf(n), { at: Math.floor(n / 13) }]);
  await set(ref(writer, 'm'), Object.fromEntries(messages));
  const sorted = messages.map(([key, { at }]) => [key, at]).toSorted(([a, at], [b, bt]) => at - bt || (a < b ? -1 : 1));
  assert.deepEqual(await forwards(ref(reader, 'm'), 30), sorted, 'forwards');
  assert.deepEqual(await backwards(ref(reader, 'm'), 30), sorted, 'backwards');
});

subject('children without the sort field are pages like others', async (place) => {
  const [writer, reader] = place.clients(2);
  for (const [report, size, value, expected] of [
    ['R043', 2, { a: { x: 1 }, b: { at: 2 }, c: { x: 1 }, d: { at: 1 }, e: { x: 1 }, f: { x: 1 } }, 'acefdb'],
    ['R043', 1, { a: { x: 1 }, b: { at: 2 }, c: { x: 1 }, d: { at: 1 }, e: { x: 1 }, f: { x: 1 } }, 'acefdb'],
    ['R043', 4, { a: { x: 1 }, b: { at: 'z' }, c: { at: false }, d: { at: true }, e: { at: -1 }, f: { x: 1 } }, 'afcdeb'],
    ['R043', 3, { a: { x: 1 }, b: { x: 1 }, c: { x: 1 } }, 'abc'],
  ]) {
    await set(ref(writer, 'c'), value);
    const row = `${report} ${size} ${JSON.stringify(value)}`;
    assert.equal((await forwards(ref(reader, 'c'), size)).map(([key]) => key).join(''), expected, `forwards ${row}`);
    assert.equal((await backwards(ref(reader, 'c'), size)).map(([key]) => key).join(''), expected, `backwards ${row}`);
  }
});

subject('keys that are numbers are paged as numbers', async (place) => {
  const [writer, reader] = place.clients(2);
  await set(ref(writer, 'n'), Object.fromEntries(Array.from({ length: 25 }, (_, n) => [`${n * 5 - 20}`, { n }])));
  const all = [];
  for (;;) {
    const bounds = all.length ? [startAfter(all.at(-1))] : [];
    const found = await page(query(ref(reader, 'n'), orderByKey(), ...bounds, limitToFirst(10)));
    all.push(...found.map(([key]) => key));
    if (found.length < 10) break;
  }
  assert.deepEqual(all, Array.from({ length: 25 }, (_, n) => `${n * 5 - 20}`));
});
