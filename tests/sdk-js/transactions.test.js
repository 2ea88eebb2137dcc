// Transactions: nobody's increment is lost, nobody gives up, and nothing stale is ever written.

import assert from 'node:assert/strict';
import { get, goOffline, goOnline, onValue, ref, runTransaction, set, update } from 'firebase/database';
import { connected, settled, subject, until, within } from './place.js';

subject('ten clients increment a hundred times each: the sum is exact', async (place) => {
  const clients = place.clients(10);
  await Promise.all(clients.map(connected));
  const results = await Promise.all(clients.flatMap((client) =>
    Array.from({ length: 100 }, () => runTransaction(ref(client, 'n'), (n) => (n ?? 0) + 1))));
  assert.ok(results.every((result) => result.committed), 'all are committed');
  assert.equal((await get(ref(place.client(), 'n'))).val(), 1_000);
});

subject('eight clients, each waiting for its own: nobody gives up and few try often', async (place) => {
  const clients = place.clients(8);
  await Promise.all(clients.map(connected));
  const tries = [];
  await Promise.all(clients.map(async (client) => {
    for (let round = 0; round < 50; round += 1) {
      let runs = 0;
      const { committed } = await runTransaction(ref(client, 'n'), (n) => {
        runs += 1;
        return (n ?? 0) + 1;
      });
      assert.ok(committed, 'R053');
      tries.push(runs);
    }
  }));
  assert.equal((await get(ref(place.client(), 'n'))).val(), 400, 'R053');
  const middle = tries.toSorted((a, b) => a - b)[tries.length / 2];
  assert.ok(middle <= 4, `R053: half of the transactions ran at most ${middle} times, the first run on no data included`);
});

subject('a transaction that changes nothing commits at the second run at the latest', async (place) => {
  const [writer, other] = place.clients(2);
  for (const [report, value] of [
    ['R033', { n: 9007199254740991 }],
    ['R033', { n: -9007199254740991 }],
    ['R033', { n: 9007199254740992, m: 1 }],
    ['R033', 1e21],
    ['R033', 1e-7],
    ['R033', 0.1 + 0.2],
    ['R033', -0],
    ['R033', 0],
    ['R033', 1e308],
    ['R033', 5e-324],
    ['R033', 4503599627370497.5],
    ['R033', 2 ** 53 + 2],
    ['R031', { 1: 'x', 3: 'y' }],
    ['R031', ['a', 'b']],
    ['', { 'é': '😀', '😀': { '\uffee': '' } }],
    ['', { '.value': 5, '.priority': 'p' }],
    ['', false],
    ['', null],
  ]) {
    await set(ref(other, 'v'), value);
    let runs = 0;
    const { committed } = await runTransaction(ref(writer, 'v'), (current) => {
      runs += 1;
      return current;
    });
    assert.ok(committed && runs <= 2, `${report} ${JSON.stringify(value)}: ${runs} runs, committed: ${committed}`);
  }
});

subject('a transaction adds to what the list has gaps in', async (place) => {
  const [writer, other] = place.clients(2);
  for (const [report, before, key, after] of [
    ['R031', { 1: 'x', 3: 'y' }, 5, { 1: 'x', 3: 'y', 5: 'z' }],
    ['R031', { 0: 'w', 1: 'x', 3: 'y' }, 5, ['w', 'x', 'y', 'z']],
    ['R031', [null, 'x'], 2, [null, 'x', 'z']],
  ]) {
    await set(ref(other, 'seats'), before);
    const { committed, snapshot } = await runTransaction(ref(writer, 'seats'), (seats) => {
      if (seats === null) return seats;
      const filled = Object.fromEntries(Object.entries(seats).filter(([, seat]) => seat !== null && seat !== undefined));
      filled[key] = 'z';
      return filled;
    });
    assert.ok(committed, report);
    const found = {};
    snapshot.forEach((seat) => {
      found[seat.key] = seat.val();
    });
    assert.deepEqual(Object.values(found), Object.values(after).filter((seat) => seat !== null), `${report} ${JSON.stringify(before)}`);
    assert.equal(found[key], 'z', report);
  }
});

subject('a transaction that gives up changes nothing', async (place) => {
  const [writer, other] = place.clients(2);
  await set(ref(other, 'v'), 1);
  const { committed, snapshot } = await runTransaction(ref(writer, 'v'), (v) => (v === null ? v : undefined));
  assert.equal(committed, false);
  assert.equal(snapshot.val(), 1);
  assert.equal((await get(ref(other, 'v'))).val(), 1);
});

subject('what a failing transaction read before never overwrites newer data', async (place) => {
  const b = place.client();
  await set(ref(b, 'doc/rev'), 7);
  const { line } = await place.app('throws');
  assert.equal(line, 'failed in the second run', 'R055');
  assert.equal((await get(ref(b, 'doc/rev'))).val(), 7, 'R055');
  await set(ref(b, 'doc/rev'), 9);
  assert.equal((await get(ref(place.client(), 'doc/rev'))).val(), 9, 'R055');
});

subject('a conditional write with an old hash is refused on every connection', async (place) => {
  const b = place.client();
  await set(ref(b, 'rev'), 7);
  const first = await place.socket();
  const put = { p: '/rev', d: 1, h: 'bQ5XV5L9riGZgerGMb/8Z87RxeI=' };
  assert.equal((await first.ask('p', put)).s, 'datastale', 'R055');
  await set(ref(b, 'rev'), 9);
  const second = await place.socket(first.session);
  assert.equal((await second.ask('p', put)).s, 'datastale', 'R055');
  assert.equal((await get(ref(b, 'rev'))).val(), 9, 'R055');
});

subject('transactions queued offline are all made', async (place) => {
  for (const [report, count] of [['R057', 2], ['R057', 7]]) {
    const [client, other] = place.clients(2);
    const at = `offline/${count}`;
    await set(ref(other, at), 0);
    await connected(client);
    onValue(ref(client, at), () => {});
    await until(ref(client, at), (v) => v === 0);
    goOffline(client);
    const queued = Array.from({ length: count }, () => runTransaction(ref(client, at), (v) => (v ?? 0) + 1));
    goOnline(client);
    const results = await within(Promise.all(queued), `${report} ${count} transactions`);
    assert.ok(results.every(({ committed }) => committed), report);
    assert.equal((await get(ref(other, at))).val(), count, report);
  }
});

subject('conditional writes in one burst are answered in order, each on the one before', async (place) => {
  const socket = await place.socket();
  // The hashes are those of 0, 1 and 42 (wire reference 17).
  const [zero, one, answer] = ['7ysMph9WPitGP7poMnMHMVPtUlI=', 'YPVfR2bXt/lcDjiQZ8pOkAd3qkQ=', 'bQ5XV5L9riGZgerGMb/8Z87RxeI='];
  const statuses = await Promise.all([
    socket.ask('p', { p: '/v', d: 0, h: '' }),
    socket.ask('p', { p: '/v', d: 1, h: zero }),
    socket.ask('p', { p: '/v', d: 5, h: zero }),
    socket.ask('p', { p: '/v', d: 42, h: one }),
    socket.ask('p', { p: '/v', d: null, h: one }),
    socket.ask('p', { p: '/v', d: 43, h: answer }),
  ]);
  assert.deepEqual(statuses.map(({ s }) => s), ['ok', 'ok', 'datastale', 'ok', 'datastale', 'ok'], 'R057');
  assert.deepEqual(socket.received.map(({ r }) => r), [1, 2, 3, 4, 5, 6], 'R105');
  assert.equal((await socket.ask('g', { p: '/v', q: {} })).d, 43, 'R057');
});

subject('a transaction and a set on two sides of one tree both last', async (place) => {
  const [a, b] = place.clients(2);
  await set(ref(a, 't'), { n: 0, other: 0 });
  await settled(a, b);
  await Promise.all([
    ...Array.from({ length: 30 }, () => runTransaction(ref(a, 't/n'), (n) => (n ?? 0) + 1)),
    ...Array.from({ length: 30 }, (_, at) => update(ref(b, 't'), { other: at + 1 })),
  ]);
  assert.deepEqual((await get(ref(place.client(), 't'))).val(), { n: 30, other: 30 });
});
