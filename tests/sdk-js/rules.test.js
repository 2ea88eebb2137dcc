// A server with rules: who may read is asked at every moment, and who may write at the moment of the write.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { get, increment, onValue, ref, remove, serverTimestamp, set, update } from 'firebase/database';
import { connected, serve, settled, subject, values, within } from './place.js';

const ruled = serve('--rules', fileURLToPath(new URL('rules.json', import.meta.url)));

const encoded = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');
const token = (user) => `${encoded({ alg: 'none' })}.${encoded({ sub: user })}.`;

/** A bare connection of a user. */
async function socketOf(place, user) {
  const socket = await place.socket();
  assert.equal((await socket.ask('auth', { cred: token(user) })).s, 'ok');
  return socket;
}

/** What a bare connection has been told of its listeners: data, and the ends of listeners. */
const told = (socket) => socket.received.filter(({ a }) => a).map(({ a, b }) => (a === 'c' ? `c ${b.p}` : b.d));

/** Waits until a bare connection has been told all that was acknowledged before. */
const caughtUp = (socket) => socket.ask('g', { p: '/marks', q: {} });

subject('a listener ends when its right to read does, and is told so once', async (place) => {
  const [owner, amy] = [place.client('owner'), place.client('amy')];
  await set(ref(owner), { members: { amy: true }, board: { n: 1 } });
  const [seen, cancelled] = [[], []];
  const first = new Promise((resolve) => {
    onValue(ref(amy, 'board'), (snapshot) => resolve(seen.push(snapshot.val())), (error) => cancelled.push(error.code));
  });
  await within(first, 'R019: the first value');
  await set(ref(owner, 'board/n'), 2);
  await settled(owner, amy);
  await remove(ref(owner, 'members/amy'));
  await set(ref(owner, 'board/n'), 3);
  await settled(owner, amy);
  assert.deepEqual([seen, cancelled], [[{ n: 1 }, { n: 2 }], ['PERMISSION_DENIED']], 'R019');
  await assert.rejects(get(ref(amy, 'board')), /Permission denied/i, 'R019');
  await set(ref(owner, 'members/amy'), true);
  assert.deepEqual((await get(ref(amy, 'board'))).val(), { n: 3 }, 'R019: the right is back');
}, ruled);

subject('listeners that new rules do not allow end, and the others go on', async (place) => {
  const [owner, reader] = [place.client('owner'), place.client()];
  const deploy = async (board) => {
    const rules = { marks: { '.read': true, '.write': true }, board: { '.read': board }, free: { '.read': true } };
    const answer = await place.fetch('/.settings/rules', {
      method: 'PUT', headers: { authorization: 'Bearer owner' }, body: JSON.stringify({ rules }),
    });
    assert.equal(answer.status, 200, await answer.text());
  };
  await deploy(true);
  await set(ref(owner), { board: { n: 1 }, free: 1 });
  const socket = await place.socket();
  await socket.ask('q', { p: '/board', h: '' });
  const stream = await place.stream('/board');
  await stream.next();
  const free = await values(ref(reader, 'free'));
  const [seen, cancelled] = [[], []];
  const first = new Promise((resolve) => {
    onValue(ref(reader, 'board'), (snapshot) => resolve(seen.push(snapshot.val())), (error) => cancelled.push(error.code));
  });
  await within(first, 'R019: the first value');
  await deploy(false);
  await update(ref(owner), { 'board/n': 2, free: 2 });
  await settled(owner, reader);
  await caughtUp(socket);
  assert.deepEqual([seen, cancelled, free], [[{ n: 1 }], ['PERMISSION_DENIED'], [1, 2]], 'R019');
  assert.deepEqual(told(socket), [{ n: 1 }, 'c board'], 'R019');
  assert.equal((await stream.next()).event, 'cancel', 'R019');
  await deploy(true);
  assert.deepEqual((await values(ref(reader, 'board'))).at(-1), { n: 2 }, 'R019');
}, ruled);

subject('a connection that is somebody else now is told nothing more', async (place) => {
  const owner = place.client('owner');
  await set(ref(owner, 'members/amy'), true);
  for (const [report, how, act] of [
    ['R019', 'signs out', (socket) => socket.ask('unauth', {})],
    ['R019', 'another user', (socket) => socket.ask('auth', { cred: token('bob') })],
    ['R019', 'a right that is taken', () => remove(ref(owner, 'members/amy'))],
  ]) {
    await set(ref(owner), { members: { amy: true }, board: { n: 1 } });
    const socket = await socketOf(place, 'amy');
    const asked = [socket.ask('q', { p: '/board', h: '' }), socket.ask('q', { p: '/board', q: { i: '.key', l: 1, vf: 'r' }, t: 1, h: '' })];
    assert.deepEqual((await Promise.all(asked)).map(({ s }) => s), ['ok', 'ok'], report);
    await act(socket);
    await set(ref(owner, 'board/n'), 2);
    await caughtUp(socket);
    assert.deepEqual(told(socket), [{ n: 1 }, { n: 1 }, 'c board', 'c board'], `${report} ${how}`);
  }
}, ruled);

subject('all that a client restores when it connects is answered in its order, a credential that is none too', async (place) => {
  await set(ref(place.client('owner')), { members: { amy: true }, board: { n: 1 } });
  const socket = await place.socket();
  const put = (p, d) => socket.ask('p', { p, d });
  const answers = await Promise.all([
    socket.ask('q', { p: '/board', h: '' }),
    socket.ask('auth', { cred: 'expired' }),
    socket.ask('g', { p: '/board', q: {} }),
    socket.ask('auth', { cred: token('amy') }),
    socket.ask('o', { p: '/marks/end', d: 1 }),
    socket.ask('om', { p: '/marks', d: { last: { '.sv': 'timestamp' } } }),
    socket.ask('oc', { p: '/marks/last' }),
    socket.ask('q', { p: '/board', h: '' }),
    ...Array.from({ length: 100 }, (_, n) => socket.ask('q', { p: `/marks/k${n}`, h: '' })),
    ...Array.from({ length: 50 }, (_, n) => put(`/marks/k${n}`, n)),
    put('/board', 2),
    socket.ask('g', { p: '/marks/k49', q: {} }),
  ]);
  const denied = 'permission_denied';
  const statuses = [denied, 'invalid_token', denied, 'ok', 'ok', 'ok', 'ok', 'ok', ...Array(150).fill('ok'), denied, 'ok'];
  assert.deepEqual(answers.map(({ s }) => s), statuses, 'R105');
  const numbers = socket.received.flatMap(({ r }) => (r === undefined ? [] : [r]));
  assert.deepEqual(numbers, statuses.map((_, at) => at + 1), 'R105');
  assert.equal(answers.at(-1).d, 49, 'R105');
  // The data of a write come before its answer.
  for (let n = 0; n < 50; n += 1) {
    const data = socket.received.findIndex(({ b }) => b.p === `marks/k${n}` && b.d === n);
    const answer = socket.received.findIndex(({ r }) => r === 109 + n);
    assert.ok(0 <= data && data < answer, `R105: the data at ${data}, the answer at ${answer}`);
  }
}, ruled);

subject('an event stream ends when its right to read does', async (place) => {
  const owner = place.client('owner');
  await set(ref(owner), { members: { amy: true }, board: 1 });
  const stream = await place.stream('/board', { auth: token('amy') });
  assert.deepEqual((await stream.next()).data, { path: '/', data: 1 }, 'R019');
  await remove(ref(owner, 'members/amy'));
  await set(ref(owner, 'board'), 2);
  const events = [await stream.next(), await stream.next()];
  assert.deepEqual(events.map(({ event }) => event), ['cancel', 'end'], 'R019');
}, ruled);

subject('a rule that compares with the data sees the write just before', async (place) => {
  const [writer, observer] = [await place.socket(), await place.socket()];
  await observer.ask('q', { p: '/clock/burst', h: '' });
  const burst = [0, 1, 3, 2, 5, 4].map((n) => writer.ask('p', { p: '/clock/burst', d: n }));
  const statuses = (await Promise.all(burst)).map(({ s }) => s);
  assert.deepEqual(statuses, ['ok', 'ok', 'ok', 'permission_denied', 'ok', 'permission_denied'], 'R021');
  await caughtUp(observer);
  assert.deepEqual(told(observer), [0, 1, 3, 5], 'R021');
}, ruled);

subject('what may only grow grows, whoever races', async (place) => {
  const observer = await place.socket();
  await observer.ask('q', { p: '/clock/race', h: '' });
  const racers = [await place.socket(), await place.socket()];
  const races = racers.map((racer) => Promise.all(Array.from({ length: 1_000 }, async (_, n) => {
    const { s } = await racer.ask('p', { p: '/clock/race', d: n + 1 });
    return s === 'ok' ? [n + 1] : [];
  })));
  const stored = (await within(Promise.all(races), 'R021: the race')).flat(2).toSorted((a, b) => a - b);
  await caughtUp(observer);
  const seen = told(observer);
  assert.ok(seen.every((n, at) => at === 0 || seen[at - 1] < n), `R021: ${seen}`);
  assert.equal(seen.at(-1), 1_000, 'R021');
  assert.ok(stored.every((n, at) => at === 0 || stored[at - 1] < n), 'R021: each was stored once');
  assert.ok(seen.every((n) => stored.includes(n)), 'R021: what was shown was stored');
}, ruled);

subject('rules see what an increment makes, not what asks for it', async (place) => {
  const client = place.client();
  for (const [report, write, after] of [
    ['R035', () => set(ref(client, 'hits'), increment(3)), 3],
    ['R035', () => update(ref(client), { hits: increment(3) }), 6],
    ['R035', () => assert.rejects(set(ref(client, 'hits'), increment(5)), { code: 'PERMISSION_DENIED' }), 6],
    ['R035', () => set(ref(client, 'hits'), increment(4)), 10],
    ['R035', () => assert.rejects(update(ref(client), { hits: increment(1) }), { code: 'PERMISSION_DENIED' }), 10],
    ['R037', () => assert.rejects(set(ref(client, 'hits'), serverTimestamp()), { code: 'PERMISSION_DENIED' }), 10],
    ['R035', () => set(ref(client, 'hits'), increment(-10)), 0],
  ]) {
    await write();
    assert.equal((await get(ref(client, 'hits'))).val(), after, `${report} ${write}`);
  }
}, ruled);

subject('a listen that needs a write first is refused before it and granted behind it', async (place) => {
  const listen = { p: '/room/r', h: '' };
  for (const [report, user, asks, expected] of [
    ['R067', 'ann', (socket, join) => [socket.ask('q', listen), join(), socket.ask('q', listen)], ['permission_denied', 'ok', 'ok']],
    ['R067', 'bob', (socket, join) => [join(), socket.ask('q', listen)], ['ok', 'ok']],
  ]) {
    const socket = await socketOf(place, user);
    const join = () => socket.ask('p', { p: `/room/r/in/${user}`, d: true });
    const answers = await Promise.all(asks(socket, join));
    assert.deepEqual(answers.map(({ s }) => s), expected, `${report} ${user}`);
  }
  // The official client lists its listens first when it connects, and its writes behind them.
  const amy = place.client('amy');
  const cancelled = new Promise((resolve) => onValue(ref(amy, 'room/r'), () => {}, (error) => resolve(error.code)));
  const joined = set(ref(amy, 'room/r/in/amy'), true);
  assert.equal(await within(cancelled, 'R067: the refusal'), 'PERMISSION_DENIED', 'R067');
  await within(joined, 'R067: the write');
  assert.deepEqual((await values(ref(amy, 'room/r'))).at(-1).in.amy, true, 'R067: not refused for good');
}, ruled);

subject('a read rule that fails ends its own listeners and hinders nobody', async (place) => {
  const [writer, reader] = place.clients(2);
  for (const [report, sign, isRead] of [
    ['R071', 'closed', false],
    ['R071', 7, false],
    ['R071', { no: 'text' }, false],
    ['R071', null, false],
    ['R071', 'still open', true],
  ]) {
    await update(ref(writer), { sign: 'open', open: 1 });
    const [seen, cancelled] = [[], []];
    const first = new Promise((resolve) => {
      onValue(ref(reader, 'open'), (snapshot) => resolve(seen.push(snapshot.val())), (error) => cancelled.push(error.code));
    });
    await within(first, `${report} ${JSON.stringify(sign)}: the first value`);
    await set(ref(writer, 'sign'), sign);
    await set(ref(writer, 'open'), 2);
    await settled(writer, reader);
    const expected = isRead ? [[1, 2], []] : [[1], ['PERMISSION_DENIED']];
    assert.deepEqual([seen, cancelled], expected, `${report} ${JSON.stringify(sign)}`);
  }
}, ruled);

subject('nobody is told a word of what they may not read', async (place) => {
  const owner = place.client('owner');
  await connected(owner);
  await set(ref(owner), {
    rights: { amy: { a: true, both: true }, bob: { b: true, both: true } },
    shared: { a: { text: 'for amy 0' }, b: { text: 'for bob 0' }, both: { text: 'for all 0' } },
  });
  const rows = [];
  for (const [report, user, mine, other] of [['R093', 'amy', 'a', 'b'], ['R093', 'bob', 'b', 'a']]) {
    const socket = await socketOf(place, user);
    const asked = ['/shared', `/shared/${other}`, `/shared/${other}/text`, `/shared/${mine}`, '/shared/both/text', '/'];
    const answers = await Promise.all(asked.flatMap((p) => [socket.ask('q', { p, h: '' }), socket.ask('g', { p, q: {} })]));
    const statuses = answers.map(({ s }) => s.slice(0, 6)).join(' ');
    assert.equal(statuses, 'permis permis permis permis permis permis ok ok ok ok permis permis', `${report} ${user}`);
    rows.push([report, user, mine, socket]);
  }
  const texts = (n) => ({ a: `for amy ${n}`, b: `for bob ${n}`, both: `for all ${n}` });
  const written = [];
  for (let n = 1; n <= 300; n += 1) {
    const { a, b, both } = texts(n);
    written.push(n % 3 === 0
      ? update(ref(owner, 'shared'), { 'a/text': a, 'b/text': b, 'both/text': both })
      : Promise.all([set(ref(owner, 'shared/a/text'), a), set(ref(owner, 'shared/b/text'), b), set(ref(owner, 'shared/both/text'), both)]));
    // Rights come and go meanwhile, and where there is one, a listener asks again.
    if (n % 50 === 0) {
      written.push(remove(ref(owner, 'rights/amy/both')), set(ref(owner, 'shared/both/text'), `for bob ${n}`));
      written.push(set(ref(owner, 'shared/both/text'), both), set(ref(owner, 'rights/amy/both'), true));
      written.push(...rows.map(([, , , socket]) => socket.ask('q', { p: '/shared/both/text', h: '' })));
    }
  }
  await within(Promise.all(written), 'R093: the writes');
  for (const [report, user, mine, socket] of rows) {
    await caughtUp(socket);
    const received = JSON.stringify(socket.received);
    const wrong = user === 'amy' ? 'for bob' : 'for amy';
    assert.ok(!received.includes(wrong), `${report} ${user} was told ${received.slice(Math.max(0, received.indexOf(wrong) - 200)).slice(0, 400)}`);
    const last = socket.received.findLast(({ a, b }) => a && `${b.p}/`.startsWith(`shared/${mine}/`));
    assert.ok(JSON.stringify(last.b.d).includes(texts(300)[mine]), `${report} ${user}: ${JSON.stringify(last)}`);
  }
}, ruled);

subject('an order that the rules do not allow is refused alike, whatever the data', async (place) => {
  const owner = place.client('owner');
  await set(ref(owner, 'people'), { p1: { name: 'Ann', secret: { pin: 4711 } }, p2: { name: 'Bob', secret: { pin: 42 } } });
  const socket = await place.socket();
  const spelled = { i: 'orderBy', sp: 'startAt', ep: 'endAt', l: 'limitToFirst' };
  for (const [report, wanted, isRead] of [
    ['R099', { i: 'name' }, true],
    ['R099', { i: 'name', sp: 'B' }, true],
    ['R099', { i: 'secret/pin' }, false],
    ['R099', { i: 'secret/pin', sp: 4_000 }, false],
    ['R099', { i: 'secret/pin', sp: 4_000, ep: 5_000 }, false],
    ['R099', { i: 'secret/pin', sp: 5_000 }, false],
    ['R099', { i: 'secret/pin', sp: 4_711, ep: 4_711, l: 1, vf: 'l' }, false],
    ['R099', { i: 'secret' }, false],
    ['R099', { i: 'not/there', sp: 1 }, false],
    ['R099', { i: '.key', l: 1, vf: 'l' }, false],
    ['R099', { i: '.value' }, false],
    ['R099', { i: '.priority', l: 1, vf: 'l' }, false],
    ['R099', {}, false],
  ]) {
    const row = `${report} ${JSON.stringify(wanted)}`;
    const answersAt = async (at) => {
      const isQuery = 0 < Object.keys(wanted).length;
      const listened = await socket.ask('q', { p: at, ...(isQuery && { q: wanted, t: 1 }), h: '' });
      if (listened.s === 'ok') await socket.ask('n', { p: at, ...(isQuery && { q: wanted, t: 1 }) });
      const params = Object.fromEntries(Object.entries(wanted).flatMap(([name, value]) => {
        if (name === 'vf') return [];
        const text = name === 'l' ? value : JSON.stringify(name === 'i' ? value.replace(/^\./, '$') : value);
        return [[spelled[name], text]];
      }));
      const found = [listened, await socket.ask('g', { p: at, q: wanted })];
      for (const headers of [{}, { accept: 'text/event-stream' }]) {
        const leave = new AbortController();
        const answer = await place.fetch(at, { params, headers, signal: leave.signal });
        found.push({ s: answer.status, d: answer.ok ? '' : await answer.text() });
        leave.abort();
      }
      return found;
    };
    const [there, nowhere] = [await answersAt('/people'), await answersAt('/nobody')];
    const expected = isRead ? ['ok', 'ok', 200, 200] : ['permission_denied', 'permission_denied', 401, 401];
    assert.deepEqual(there.map(({ s }) => s), expected, row);
    if (!isRead) {
      assert.deepEqual(there, nowhere, `${row}: nothing tells whether there are data or an index`);
      assert.doesNotMatch(JSON.stringify(there), /4711|Ann|p1|index/, row);
    }
  }
}, ruled);
