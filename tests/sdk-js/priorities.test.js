// Priorities: kept, ordered and shown, and gone when a plain value replaces their node.

import assert from 'node:assert/strict';
import {
  equalTo, get, limitToLast, orderByPriority, query, ref, runTransaction, set, setPriority, setWithPriority, startAt,
  update,
} from 'firebase/database';
import { children, keysOf, settled, subject, take } from './place.js';

const CUPS = {
  a: { '.value': 1, '.priority': 3 },
  b: { '.value': 2, '.priority': 'm' },
  c: 9,
  d: { '.value': 4, '.priority': 3 },
  e: { x: 1, '.priority': -1 },
};

subject('children are ordered by priority, and export it', async (place) => {
  const [writer, reader] = place.clients(2);
  await set(ref(writer, 'cups'), CUPS);
  const cups = ref(reader, 'cups');
  assert.deepEqual((await get(cups)).exportVal(), CUPS, 'R039');
  const fetched = async (params) => (await place.fetch('/cups', { params })).json();
  assert.deepEqual(await fetched({ format: 'export' }), CUPS, 'R039');
  for (const [report, params, expected] of [
    ['R039', {}, 'abcde'],
    ['R039', { startAt: 3 }, 'abd'],
    ['R039', { startAt: 3, limitToLast: 2 }, 'bd'],
    ['R039', { equalTo: '"m"' }, 'b'],
    ['R039', { equalTo: 'null' }, 'c'],
    ['R039', { endAt: 3, limitToFirst: 2 }, 'ce'],
  ]) {
    const keys = Object.keys(await fetched({ orderBy: '"$priority"', ...params })).toSorted().join('');
    assert.equal(keys, expected, `${report} by HTTP: ${JSON.stringify(params)}`);
  }
  for (const [report, asked, expected] of [
    ['R039', [orderByPriority()], 'ceadb'],
    ['R039', [orderByPriority(), startAt(3)], 'adb'],
    ['R039', [orderByPriority(), equalTo(3)], 'ad'],
    ['R039', [orderByPriority(), equalTo(3, 'd')], 'd'],
    ['R039', [orderByPriority(), startAt('a')], 'b'],
    ['R039', [orderByPriority(), equalTo(null)], 'c'],
    ['R039', [orderByPriority(), limitToLast(2)], 'db'],
  ]) {
    assert.equal(keysOf(await get(query(cups, ...asked))).join(''), expected, `${report} ${expected}`);
    const seen = await children(query(ref(place.client(), 'cups'), ...asked));
    assert.equal(seen.map((event) => event.split(' ')[1]).join(''), expected, `${report} listened: ${expected}`);
  }
});

subject('what keeps a priority and what drops it', async (place) => {
  const [writer, reader] = place.clients(2);
  const at = ref(writer, 'x');
  for (const [report, before, write, after] of [
    ['R041', { a: 1, '.priority': 5 }, () => set(at, { a: 2 }), { a: 2 }],
    ['R041', { a: 1, '.priority': 5 }, () => update(at, { a: 2 }), { a: 2, '.priority': 5 }],
    ['R041', { a: 1, '.priority': 5 }, () => update(ref(writer), { 'x/b': 2 }), { a: 1, b: 2, '.priority': 5 }],
    ['R041', { a: 1, '.priority': 5 }, () => runTransaction(at, (x) => x && { a: x.a + 1 }), { a: 2, '.priority': 5 }],
    ['R041', { a: 1, '.priority': 5 }, () => set(ref(writer, 'x/a'), null), null],
    ['R041', 'leaf', () => setPriority(at, 'p'), { '.value': 'leaf', '.priority': 'p' }],
    ['R041', { '.value': 'leaf', '.priority': 1 }, () => setPriority(at, null), 'leaf'],
    ['R041', { '.value': 'leaf', '.priority': 1 }, () => set(ref(writer, 'x/a'), 1), { a: 1, '.priority': 1 }],
    ['R041', { '.value': 'leaf', '.priority': 1 }, () => set(ref(writer, 'x/a'), null), { '.value': 'leaf', '.priority': 1 }],
    ['R041', null, () => setPriority(at, 1), null],
    ['R041', 'leaf', () => setWithPriority(at, { a: 1 }, 2), { a: 1, '.priority': 2 }],
  ]) {
    await set(at, before);
    await write();
    assert.deepEqual((await get(ref(reader, 'x'))).exportVal(), after, `${report} ${JSON.stringify(before)} ${write}`);
  }
});

subject('a changed priority moves the child', async (place) => {
  const [writer, reader] = place.clients(2);
  await set(ref(writer, 'c'), {
    a: { '.value': 1, '.priority': 1 },
    b: { '.value': 2, '.priority': 2 },
    c: { '.value': 3, '.priority': 3 },
  });
  const seen = await children(query(ref(reader, 'c'), orderByPriority()));
  take(seen);
  for (const [report, write, told] of [
    ['R041', () => setPriority(ref(writer, 'c/a'), 9), ['moved a after c', 'changed a after c']],
    ['R041', () => setPriority(ref(writer, 'c/a'), 8), ['moved a after c', 'changed a after c']],
    ['R041', () => setWithPriority(ref(writer, 'c/b'), 5, 2), ['changed b after null']],
    ['R041', () => set(ref(writer, 'c/c'), 3), ['moved c after null', 'changed c after null']],
  ]) {
    await write();
    await settled(writer, reader);
    assert.deepEqual(take(seen), told, `${report} ${write}`);
  }
});
