// Windows over ordered children move as the children do, and hold what a fresh reader would see.

import assert from 'node:assert/strict';
import {
  endAt, endBefore, equalTo, get, limitToFirst, limitToLast, orderByChild, orderByKey, orderByValue, query, ref, remove,
  set, startAfter, startAt,
} from 'firebase/database';
import { children, keysOf, settled, subject, take, values } from './place.js';

subject('the last two move along as children come and go', async (place) => {
  const [writer, reader] = place.clients(2);
  const seen = await children(query(ref(reader, 'c'), limitToLast(2)));
  for (const [write, told] of [
    [() => set(ref(writer, 'c/a'), 1), ['added a after null']],
    [() => set(ref(writer, 'c/b'), 1), ['added b after a']],
    [() => set(ref(writer, 'c/c'), 1), ['added c after b', 'removed a']],
    [() => set(ref(writer, 'c/d'), 1), ['added d after c', 'removed b']],
    [() => set(ref(writer, 'c/a'), 2), []],
    [() => remove(ref(writer, 'c/d')), ['added b after null', 'removed d']],
    [() => set(ref(writer, 'c/bb'), 1), ['added bb after null', 'removed b']],
    [() => remove(ref(writer, 'c')), ['removed bb', 'removed c']],
  ]) {
    await write();
    await settled(writer, reader);
    assert.deepEqual(take(seen).toSorted(), told.toSorted(), `${write}`);
  }
});

subject('a child whose sort key leaves the window makes room for the next', async (place) => {
  const [writer, reader] = place.clients(2);
  await set(ref(writer, 'c'), { a: { n: 1 }, b: { n: 2 }, c: { n: 3 }, d: { n: 4 } });
  const first = query(ref(reader, 'c'), orderByChild('n'), limitToFirst(2));
  const seen = await children(first);
  take(seen);
  await set(ref(writer, 'c/a/n'), 9);
  await settled(writer, reader);
  assert.deepEqual(take(seen).toSorted(), ['added c after b', 'removed a']);
  await set(ref(writer, 'c/a/n'), 0);
  await settled(writer, reader);
  assert.deepEqual(take(seen).toSorted(), ['added a after null', 'removed c']);
});

subject('ranges of keys and values hold what lies inside', async (place) => {
  const [writer, reader] = place.clients(2);
  const fives = Object.fromEntries(['-', '~', '😀', '\uffee', '2147483647', '00', '7', '-7', 'a'].map((key) => [key, 5]));
  await set(ref(writer, 'v'), { ...fives, low: 4, high: 6 });
  const v = ref(reader, 'v');
  for (const [report, asked, expected] of [
    ['R045', [orderByValue(), equalTo(5)], ['-7', '7', '00', '2147483647', '-', 'a', '~', '😀', '\uffee']],
    ['R045', [orderByValue(), startAt(5, '~')], ['~', '😀', '\uffee', 'high']],
    ['R045', [orderByValue(), startAfter(5, '~')], ['😀', '\uffee', 'high']],
    ['R045', [orderByValue(), endAt(5, '-')], ['low', '-7', '00', '2147483647', '7', '-']],
    ['R045', [orderByValue(), endBefore(5, '-')], ['low', '-7', '00', '2147483647', '7']],
    ['R045', [orderByValue(), startAfter(5)], ['high']],
    ['R045', [orderByValue(), endBefore(5)], ['low']],
    ['R045', [orderByKey(), startAt('a'), endAt('~')], ['a', 'high', 'low', '~']],
    ['R045', [orderByKey(), startAfter('2147483647'), limitToFirst(2)], ['-', 'a']],
    ['R045', [orderByKey(), endBefore('7')], ['-7', '00']],
    ['R045', [orderByKey(), limitToLast(1)], ['\uffee']],
  ]) {
    const wanted = query(v, ...asked);
    const message = `${report} ${wanted._queryIdentifier}`;
    const read = keysOf(await get(query(ref(place.client(), 'v'), ...asked)));
    assert.deepEqual(read.toSorted(), expected.toSorted(), `read: ${message}`);
    const seen = await children(wanted);
    await settled(writer, reader);
    assert.deepEqual(take(seen).map((event) => event.split(' ')[1]), read, `listened: ${message}`);
  }
});

subject('a window ends equal to what a fresh reader sees', async (place) => {
  const [writer, reader] = place.clients(2);
  const windows = [
    [orderByChild('n'), limitToLast(3)],
    [orderByChild('n'), startAt(3), limitToFirst(2)],
    [orderByChild('n'), startAt(2), endAt(5)],
    [orderByKey(), startAt('c'), limitToLast(2)],
    [orderByChild('n'), equalTo(null)],
  ];
  const live = [];
  for (const asked of windows) live.push(await values(query(ref(reader, 'c'), ...asked)));
  // A fixed sequence that looks random; few keys and few values, so that they collide.
  let state = 7;
  const roll = (sides) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor(state / 65536) % sides;
  };
  for (let round = 0; round < 40; round += 1) {
    for (let step = 0; step < 5; step += 1) {
      const at = ref(writer, `c/${'abcdefgh'[roll(8)]}`);
      const n = roll(9);
      const value = [{ n, round }, { round }, null][[0, 0, 0, 1, 2][roll(5)]];
      await set(at, value);
    }
    await settled(writer, reader);
    const fresh = place.client();
    for (const [which, asked] of windows.entries()) {
      const read = (await get(query(ref(fresh, 'c'), ...asked))).val();
      assert.deepEqual(live[which].at(-1), read, `window ${which} after round ${round}`);
    }
  }
});
