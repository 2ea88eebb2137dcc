// Offline and online again: nothing is lost, nothing comes twice, and nobody is shown an older value after a newer one.

import assert from 'node:assert/strict';
import { get, goOffline, goOnline, increment, onDisconnect, onValue, ref, remove, set, update } from 'firebase/database';
import { connected, serve, settled, subject, until, values, within } from './place.js';

subject('a client knows whether it is connected', async (place) => {
  const client = place.client();
  const info = ref(client, '.info/connected');
  const seen = await values(info);
  await connected(client);
  goOffline(client);
  await until(info, (is) => is === false);
  goOnline(client);
  await connected(client);
  assert.deepEqual(seen, [false, true, false, true]);
});

subject('a client knows the clock of the server', async (place) => {
  const client = place.client();
  await connected(client);
  const offset = await until(ref(client, '.info/serverTimeOffset'), (ms) => typeof ms === 'number');
  assert.ok(Math.abs(offset) < 10_000, `${offset} ms on one machine`);
});

subject('what is written offline arrives in its order', async (place) => {
  const [client, other] = place.clients(2);
  await connected(client);
  const seen = await values(ref(other, 'log'));
  goOffline(client);
  const written = [
    set(ref(client, 'log/a'), 1),
    update(ref(client, 'log'), { a: 2, b: 1 }),
    remove(ref(client, 'log/b')),
    set(ref(client, 'log/c'), 3),
    set(ref(client, 'log/n'), increment(4)),
  ];
  await settled(other, other);
  assert.deepEqual(seen, [null]);
  goOnline(client);
  await within(Promise.all(written), 'the queued writes');
  await settled(other, other);
  assert.deepEqual(seen.at(-1), { a: 2, c: 3, n: 4 });
  assert.deepEqual(seen[1], { a: 1 });
});

subject('after a pause a listener is told the difference and nothing else', async (place) => {
  const [client, other] = place.clients(2);
  await set(ref(other), { same: { x: 1 }, changed: { y: 1 }, gone: { z: 1 } });
  const same = await values(ref(client, 'same'));
  const changed = await values(ref(client, 'changed'));
  const gone = await values(ref(client, 'gone'));
  goOffline(client);
  await update(ref(other), { 'changed/y': 2, gone: null });
  goOnline(client);
  await settled(other, client);
  assert.deepEqual([same, changed, gone], [[{ x: 1 }], [{ y: 1 }, { y: 2 }], [{ z: 1 }, null]]);
});

subject('a fast writer and a reader that drops and returns: equal in the end, and never a step back', async (place) => {
  const [writer, reader] = place.clients(2);
  const paths = Array.from({ length: 50 }, (_, at) => `ticks/t${at}`);
  const seen = [];
  for (const path of paths) seen.push(await values(ref(reader, path)));
  let tick = 0;
  let done = false;
  const writing = (async () => {
    while (!done) {
      tick += 1;
      await Promise.all([
        set(ref(writer, paths[tick % paths.length]), tick),
        update(ref(writer, 'ticks'), { [`t${(tick * 7) % 50}`]: tick }),
      ]);
    }
  })();
  for (let round = 0; round < 10; round += 1) {
    const from = tick;
    await until(ref(writer, 'ticks'), () => from + 40 < tick, 'more ticks');
    goOffline(reader);
    const paused = tick;
    await until(ref(writer, 'ticks'), () => paused + 40 < tick, 'more ticks');
    goOnline(reader);
    await connected(reader);
  }
  done = true;
  await writing;
  await settled(writer, reader);
  const fresh = (await get(ref(place.client(), 'ticks'))).val();
  for (const [at, own] of seen.entries()) {
    assert.equal(own.at(-1), fresh[`t${at}`], `R069 ${paths[at]}`);
    const numbers = own.filter((value) => value !== null);
    assert.ok(numbers.every((value, index) => index === 0 || numbers[index - 1] < value), `R069 ${paths[at]}: ${own}`);
  }
});

subject('a read does not overtake what a listener is about to be told', async (place) => {
  // By hand: the official client itself may take an answer in behind news that came after it in the same packet.
  const writer = await place.socket();
  const readers = [];
  for (let at = 0; at < 6; at += 1) readers.push(await place.socket());
  const write = (n) => writer.ask('p', { p: '/n', d: `${n} `.padEnd(100_000, '.') });
  await write(1);
  await Promise.all(readers.map((reader) => reader.ask('q', { p: '/n', h: '' })));
  // News pile up for who does not read them: first on the way, then before the socket, and in the end as a lag.
  for (const newest of [80, 200]) {
    for (const reader of readers) reader.deafen();
    const asked = readers.map((reader) => reader.ask('g', { p: '/n', q: {} }));
    for (let n = newest - 78; n <= newest; n += 1) await write(n);
    asked.push(...readers.map((reader) => reader.ask('g', { p: '/n', q: {} })));
    for (const reader of readers) reader.hear();
    await within(Promise.all(asked), 'the reads');
  }
  for (const reader of readers) {
    const told = reader.received.map(({ b }) => parseInt(b.d, 10)).filter((n) => !Number.isNaN(n));
    const back = told.findIndex((n, at) => 0 < at && n < told[at - 1]);
    assert.equal(back, -1, `R069: ${told[back - 1]} came before ${told[back]}`);
    assert.equal(told.at(-1), 200, 'R069');
  }
});

subject('each request is answered in its turn, refused ones too', async (place) => {
  const socket = await place.socket();
  const answers = await Promise.all([
    socket.ask('q', { p: '/a', h: '' }),
    socket.ask('p', { p: '/a', d: 1 }),
    socket.ask('g', { p: '/a', q: {} }),
    socket.ask('p', { p: '/a.b', d: 1 }),
    socket.ask('nonsense', {}),
    socket.ask('p', { p: '/a', d: 2 }),
    socket.ask('m', { p: '/', d: { 'x#': 1 } }),
    socket.ask('g', { p: '/a', q: {} }),
    socket.ask('n', { p: '/a' }),
    socket.ask('p', { p: '/a', d: { '.sv': 'bogus' } }),
    socket.ask('g', { p: '/a', q: {} }),
  ]);
  assert.deepEqual(answers.map(({ s }) => s), [
    'ok', 'ok', 'ok', 'invalid', 'invalid', 'ok', 'invalid', 'ok', 'ok', 'invalid', 'ok',
  ], 'R105');
  assert.deepEqual([2, 7, 10].map((at) => answers[at].d), [1, 2, 2], 'R105');
  const order = socket.received.map((message) => message.r ?? `push ${message.b.d}`);
  assert.deepEqual(order, [1, 'push 1', 2, 3, 4, 5, 'push 2', 6, 7, 8, 9, 10, 11], 'R105');
});

subject('nothing is told of a listener behind the answer that it has ended', async (place) => {
  const [writer, reader] = [await place.socket(), await place.socket()];
  let done = false;
  const writing = (async () => {
    for (let n = 1; !done; n += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, at) => writer.ask('p', { p: '/n', d: n + at })));
    }
  })();
  for (let round = 0; round < 300; round += 1) {
    await reader.ask('q', { p: '/n', h: '' });
    await reader.ask('n', { p: '/n' });
    const behind = reader.received.length;
    await reader.ask('s', { c: {} });
    const late = reader.received.slice(behind).filter(({ a }) => a);
    assert.deepEqual(late, [], `R105: round ${round}`);
  }
  done = true;
  await writing;
});

subject('a refusal does not overtake a read that waits for a write', async (place) => {
  const socket = await place.socket();
  const asked = [];
  for (let n = 1; n <= 100; n += 1) {
    asked.push(socket.ask('p', { p: '/n', d: n }), socket.ask('g', { p: '/n', q: {} }), socket.ask('p', { p: '/n#', d: 0 }));
  }
  const answers = await within(Promise.all(asked), 'the answers');
  assert.deepEqual(socket.received.map(({ r }) => r), answers.map((_, at) => at + 1), 'R105');
  const read = answers.filter((_, at) => at % 3 === 1).map(({ d }) => d);
  assert.deepEqual(read, Array.from({ length: 100 }, (_, at) => at + 1), 'R105');
});

subject('much that waits for a reconnection settles: listens, writes, reads and armed writes', async (place) => {
  const [client, other] = place.clients(2);
  await set(ref(other, 'data'), Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, at])));
  await connected(client);
  const live = [];
  for (let at = 0; at < 200; at += 1) live.push(await values(ref(client, `data/k${at}`)));
  for (let round = 1; round <= 3; round += 1) {
    goOffline(client);
    await set(ref(other, 'data/k0'), -round);
    const armed = ['x', 'y', 'z'].map((key) => onDisconnect(ref(client, `armed/${key}`)).set(round));
    const written = Array.from({ length: 50 }, (_, at) => set(ref(client, `data/k${at * 3 + 1}`), round * 1_000 + at));
    const read = [get(ref(client, 'data')), get(ref(client, 'armed'))];
    goOnline(client);
    await within(Promise.all([...armed, ...written]), 'R105: all that was queued');
    const [data, before] = await within(Promise.all(read), 'R105: the reads');
    assert.equal(data.val().k148, round * 1_000 + 49, 'R105');
    assert.equal(data.val().k0, -round, 'R105');
    assert.equal(before.val()?.x ?? null, round === 1 ? null : round - 1, 'R105');
  }
  await settled(other, client);
  const fresh = (await get(ref(other, 'data'))).val();
  assert.deepEqual(live.map((own) => own.at(-1)), Array.from({ length: 200 }, (_, at) => fresh[`k${at}`]), 'R105');
});

subject('an event stream says that it lives, and nothing on the way holds it back', async (place) => {
  const stream = await place.stream('/quiet');
  for (const [report, name, value] of [
    ['R077', 'content-type', /^text\/event-stream/],
    ['R077', 'cache-control', /no-cache/],
    ['R077', 'x-accel-buffering', /^no$/],
  ]) {
    assert.match(stream.answer.headers.get(name) ?? '', value, `${report} ${name}`);
  }
  const events = [await stream.next(), await stream.next(), await stream.next()];
  stream.close();
  const silence = { event: 'keep-alive', data: null };
  assert.deepEqual(events, [{ event: 'put', data: { path: '/', data: null } }, silence, silence], 'R075');
}, serve('--keep-alive', '1'));

subject('a listen with the hash of what the client holds is told what has changed, and nothing if nothing has', async (place) => {
  const owner = place.client();
  // The hashes are those of the wire reference, 17.
  const tree = [{ a: { b: { c: true } } }, 'pmWQZosLZcmOAI2E0uzAv0YR+pY='];
  const numbers = [{ 10: 'ten', 9: 'nine', a: 'A' }, 'c/rxFh9GP8l72DxkXh8F5+4uKcI='];
  const keys = [{ A: 1, a: 2, _: 3, é: 4, '😀': 5, '\uffee': 6 }, 'qMQ42I9YQxoYlX4sH/scNEIFdCQ='];
  const integers = [{ 1: 'a', '01': 'b', '001': 'c', '-5': 'n', 2147483648: 'big', 2147483647: 'max' }, '9Ac558LTQvVCnUyxg+2c+PqbcD8='];
  const priorities = [
    { a: { '.value': 1, '.priority': 2 }, b: { '.value': 2, '.priority': 1 } }, '/3lk7Vfl5OYG6Kw2SkiPXNeExPw=',
  ];
  const two = [{ a: 1, b: 'x' }, 'jRI9dwRS9sb4SWm8uuoN7+xBk4g='];
  const first = { q: { i: '.key', l: 2, vf: 'l' }, t: 1 };
  const ranges = { ch: { hs: ['pmWQZosLZcmOAI2E0uzAv0YR+pY=', ''], ps: ['a/b/c'] } };
  for (const [report, [held, h], now, more, told] of [
    ...[tree, numbers, keys, integers, priorities, two, [1, 'YPVfR2bXt/lcDjiQZ8pOkAd3qkQ=']]
      .map((same) => ['R103', same, same[0], {}, []]),
    ['R103', tree, { a: { b: { c: true, d: 1 } } }, {}, [{ a: { b: { c: true, d: 1 } } }]],
    ['R103', tree, { a: { b: { c: false } } }, {}, [{ a: { b: { c: false } } }]],
    ['R103', tree, { a: { b: { x: true } } }, {}, [{ a: { b: { x: true } } }]],
    ['R103', tree, null, {}, [null]],
    ['R103', two, { a: 1 }, {}, [{ a: 1 }]],
    ['R103', priorities, { a: 1, b: 2 }, {}, [{ a: 1, b: 2 }]],
    ['R103', numbers, ['ten'], {}, [{ 0: 'ten' }]],
    ['R103', [9007199254740991, 'zP1cy9AKj8mOJfzxsijijNJ8QdY='], 9007199254740991, {}, []],
    ['R033', [9007199254740991, 'm4qsp/5BbIWTdjthNlnOX+WCTB0='], 9007199254740991, {}, []],
    ['R103', two, { ...two[0], c: 3 }, first, []],
    ['R103', two, { ...two[0], '-': 3 }, first, [{ '-': 3, a: 1 }]],
    ['R103', two, null, first, [null]],
    ['R103', tree, tree[0], ranges, []],
    ['R103', tree, { a: { b: { c: 1 } } }, ranges, [{ a: { b: { c: 1 } } }]],
    ['R103', [null, ''], null, {}, []],
    ['R103', [null, ''], 1, {}, [1]],
    ['R103', [null, undefined], null, {}, [null]],
    ['R103', [null, undefined], 1, {}, [1]],
  ]) {
    await set(ref(owner, 'home/u1'), now);
    const socket = await place.socket();
    const answer = await socket.ask('q', { p: '/home/u1', h, ...more });
    const pushed = socket.received.filter(({ a }) => a);
    const row = `${report} ${JSON.stringify([held, h, now, more])}`;
    assert.deepEqual(answer, { s: 'ok', d: {} }, row);
    assert.deepEqual(pushed.map(({ a, b }) => [a, b.d]), told.map((data) => ['d', data]), row);
  }
});

subject('listens before the first connection see the writes behind them', async (place) => {
  const client = place.client();
  const seen = [];
  onValue(ref(client, 'room/r'), (snapshot) => seen.push(snapshot.val()));
  await set(ref(client, 'room/r/in/amy'), true);
  await until(ref(client, 'room/r'), (room) => room?.in?.amy === true);
  assert.deepEqual(seen.at(-1), { in: { amy: true } }, 'R067');
  const [first, second] = [await place.socket(), await place.socket()];
  const [listened, written] = await Promise.all([first.ask('q', { p: '/late', h: '' }), first.ask('p', { p: '/late', d: 1 })]);
  assert.deepEqual([listened.s, written.s], ['ok', 'ok'], 'R067');
  assert.deepEqual(first.received.map(({ r, b }) => r ?? b.d), [1, 1, 2], 'R067');
  await Promise.all([second.ask('p', { p: '/late', d: 2 }), second.ask('q', { p: '/late', h: '' })]);
  assert.deepEqual(second.received.map(({ r, b }) => r ?? b.d), [1, 2, 2], 'R067');
});
