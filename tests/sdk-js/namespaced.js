// The namespaced API: `ref.on('value', …)` in place of `onValue(ref, …)`. `firebase/compat` and `firebase-admin` have it
// in common, so they have these scenarios in common: what it does in a way of its own, and what that makes the server do.

import assert from 'node:assert/strict';
import { keysOf, subject, take, within } from './place.js';

const EVENTS = ['child_added', 'child_changed', 'child_moved', 'child_removed'];

/** The first snapshot of a query that fits. */
export async function until(query, fits, what = `a fitting value at ${query}`) {
  let listener;
  let last;
  const found = new Promise((resolve, reject) => {
    listener = query.on('value', (snapshot) => {
      last = snapshot.val();
      if (fits(last)) resolve(snapshot);
    }, reject);
  });
  try {
    return await within(found, what, () => `(last: ${JSON.stringify(last)})`);
  } finally {
    query.off('value', listener);
  }
}

let marksMade = 0;

/** Waits until a client has been told all that was acknowledged before. */
async function settled(writer, reader) {
  marksMade += 1;
  const at = `marks/${marksMade}`;
  const seen = until(reader.ref(at), (is) => is === true, 'a mark');
  await writer.ref(at).set(true);
  await seen;
}

/** What callbacks have been called with: `called(name)` makes one that writes its arguments down in `calls`. */
function recorder() {
  const calls = [];
  const plain = (given) => String(given?.val ? given.val() : given instanceof Error ? given.code ?? given.message : given);
  const called = (name) => function record(...given) {
    const who = this?.name ? `${name} of ${this.name}` : name;
    // Behind the snapshot of a value comes nothing that anybody could use.
    calls.push([who, ...(given[0]?.val ? given.slice(0, 1) : given).map(plain)].join(' '));
  };
  return { calls, called };
}

/** The child events of a query as short texts, in order. Resolves when the first value has come. */
async function children(query) {
  const seen = [];
  for (const event of EVENTS) {
    query.on(event, (child, before) => {
      const place = event === 'child_removed' ? '' : ` after ${before}`;
      seen.push(`${event.slice('child_'.length)} ${child.key}${place}`);
    });
  }
  await until(query, () => true);
  return seen;
}

/**
 * The scenarios of a client of this API, which stands in the name of each. `client(place, user)` makes one more of them,
 * of anybody, of a user, or with `null` of nobody; `sv` is its `ServerValue`; `open` is a server that is open to all clients
 * of anybody, and `guarded` one with the rules of secret.json, where `/secret` is amy's.
 */
export function scenarios(name, { client, sv, open, guarded }) {
  const about = (title, body, server = open) => subject(`${name}: ${title}`, body, server);

  about('a snapshot shows what was written', async (place) => {
    const [writer, reader] = [client(place), client(place)];
    const list = {
      10: 'x', 9: 'y', b: { '.value': 2, '.priority': 'p' }, a: { c: { d: null, e: false }, '.priority': 1 },
    };
    await writer.ref('at').set(list);
    for (const [how, found] of [['get', await reader.ref('at').get()], ['once', await reader.ref('at').once('value')]]) {
      assert.deepEqual(found.val(), { 9: 'y', 10: 'x', a: { c: { e: false } }, b: 2 }, how);
      assert.deepEqual(found.exportVal(), { ...list, a: { '.priority': 1, c: { e: false } } }, how);
      assert.deepEqual(JSON.parse(JSON.stringify(found)), found.exportVal(), how);
      assert.deepEqual(keysOf(found), ['9', '10', 'a', 'b'], `${how}: without priority first, then numbers, then strings`);
      assert.deepEqual([found.numChildren(), found.hasChildren(), found.exists(), found.key], [4, true, true, 'at'], how);
      assert.deepEqual(found.child('a/c').val(), { e: false }, how);
      assert.deepEqual(['a/c/e', 'a/c/d'].map((path) => found.hasChild(path)), [true, false], how);
      assert.deepEqual(['a', 'b', '9'].map((key) => found.child(key).getPriority()), [1, 'p', null], how);
      const visited = [];
      assert.equal(found.forEach((child) => visited.push(child.key) === 2), true, `${how}: forEach ends when told so`);
      assert.deepEqual(visited, ['9', '10'], how);
      assert.equal(found.child('none').numChildren(), 0, how);
    }
    assert.equal((await reader.ref('none').once('value')).exists(), false);
  });

  about('who waits for a write is called when it is done', async (place) => {
    const writer = client(place);
    const at = writer.ref('at');
    for (const [report, write, after] of [
      ['', (done) => at.set({ a: 1 }, done), { a: 1 }],
      ['', (done) => at.update({ b: 2, 'c/d': 3 }, done), { a: 1, b: 2, c: { d: 3 } }],
      ['R041', (done) => at.setPriority(5, done), { '.priority': 5, a: 1, b: 2, c: { d: 3 } }],
      ['R041', (done) => at.setWithPriority('x', 'p', done), { '.value': 'x', '.priority': 'p' }],
      ['R041', (done) => at.set({ list: ['u', 'v'] }, done), { list: { 0: 'u', 1: 'v' } }],
      ['', (done) => at.child('list').update({ 1: null, 2: 'w' }, done), { list: { 0: 'u', 2: 'w' } }],
      ['', (done) => at.remove(done), null],
    ]) {
      const { calls, called } = recorder();
      let done;
      const told = new Promise((resolve) => {
        done = resolve;
      });
      const note = called('done');
      await write((...given) => done(note(...given)));
      await within(told, `${report} ${write}: the call`);
      assert.deepEqual(calls, ['done null'], `${report} ${write}`);
      assert.deepEqual((await at.get()).exportVal(), after, `${report} ${write}`);
    }
  });

  about('listeners are taken off one by one, by event, or all', async (place) => {
    const [writer, reader] = [client(place), client(place)];
    const at = reader.ref('n');
    const [ada, eve] = [{ name: 'ada' }, { name: 'eve' }];
    for (const [how, arm, disarm, told] of [
      ['the callback is what on returns', (_, f) => assert.equal(at.on('value', f), f), (f) => at.off('value', f), []],
      ['one of two', (_, f, g) => at.on('value', f) && at.on('value', g), (f) => at.off('value', f), ['g 2']],
      ['by event', (_, f, g) => at.on('value', f) && at.on('child_added', g), () => at.off('child_added'), ['f 2']],
      ['all', (_, f, g) => at.on('value', f) && at.on('value', g), () => at.off(), []],
      ['from another reference', (_, f) => at.on('value', f), (f) => reader.ref('n').off('value', f), []],
      ['a query is another one', (_, f) => at.on('value', f), (f) => at.limitToFirst(1).off('value', f), ['f 2']],
      ['with contexts', (_, f) => at.on('value', f, ada) && at.on('value', f, eve), (f) => at.off('value', f, ada), [
        'f of eve 2',
      ]],
      ['after what to call at the end', (_, f, g) => at.on('value', f, g, ada), () => {}, ['f of ada 2']],
    ]) {
      await writer.ref('n').set(1);
      const { calls, called } = recorder();
      const [f, g] = [called('f'), called('g')];
      arm(calls, f, g);
      await settled(writer, reader);
      take(calls);
      disarm(f, g);
      await writer.ref('n').set(2);
      await settled(writer, reader);
      assert.deepEqual(calls, told, how);
      at.off();
      at.limitToFirst(1).off();
    }
  });

  about('once tells one event of any kind', async (place) => {
    const [writer, reader] = [client(place), client(place)];
    const list = reader.ref('list').orderByChild('rank');
    await writer.ref('list').set({ a: { rank: 1 }, b: { rank: 2 }, c: { rank: 3 } });
    for (const [event, asked, write, key, before] of [
      ['child_added', list.limitToFirst(1), () => {}, 'a', null],
      ['child_changed', list, () => writer.ref('list/b/x').set(1), 'b', 'a'],
      ['child_moved', list, () => writer.ref('list/a/rank').set(9), 'a', 'c'],
      ['child_removed', list, () => writer.ref('list/b').remove(), 'b', null],
      ['value', list, () => {}, 'list', null],
    ]) {
      // Changes are told to whoever has had the children.
      const base = list.on('value', () => {});
      await until(list, (is) => is !== null);
      const calls = [];
      const told = asked.once(event, (child, previous) => calls.push([child.key, previous ?? null]));
      await write();
      const child = await within(told, `once ${event}`);
      await writer.ref('list/z').set({ rank: 100, at: event });
      await settled(writer, reader);
      assert.equal(child.key, key, event);
      assert.deepEqual(calls, [[key, before]], event);
      await writer.ref('list/z').remove();
      list.off('value', base);
    }
  });

  about('children are told in order, each after the one before it', async (place) => {
    const [writer, reader] = [client(place), client(place)];
    await writer.ref('list').set({ b: { rank: 2 }, a: { rank: 1 }, 10: { rank: 1 }, 9: { rank: 3 } });
    const seen = await children(reader.ref('list').orderByChild('rank'));
    assert.deepEqual(take(seen), ['added 10 after null', 'added a after 10', 'added b after a', 'added 9 after b']);
    for (const [report, write, told] of [
      ['', () => writer.ref('list/c').set({ rank: 2 }), ['added c after b']],
      ['', () => writer.ref('list/b/text').set('x'), ['changed b after a']],
      ['R041', () => writer.ref('list/b/rank').set(7), ['moved b after 9', 'changed b after 9']],
      ['', () => writer.ref('list').update({ 9: null, a: null, d: { rank: 0 } }), [
        'removed a', 'removed 9', 'added d after null',
      ]],
      ['', () => writer.ref('list').remove(), ['removed d', 'removed 10', 'removed c', 'removed b']],
    ]) {
      await write();
      await settled(writer, reader);
      assert.deepEqual(take(seen), told, `${report} ${write}`);
    }
  });

  about('a transaction calls back with whether it was committed, and what is there', async (place) => {
    const [one, other] = [client(place), client(place)];
    const at = one.ref('n');
    for (const [report, before, change, committed, after] of [
      ['', 1, (n) => (n ?? 0) + 1, true, 2],
      ['', null, (n) => (n ?? 0) + 1, true, 1],
      ['', 7, (n) => (n === null ? n : undefined), false, 7],
      ['', { a: 1 }, (n) => n && { ...n, b: sv.increment(2) }, true, { a: 1, b: 2 }],
      ['', { a: 1 }, () => null, true, null],
      ['R041', { '.value': 1, '.priority': 4 }, (n) => n && n + 1, true, 2],
    ]) {
      await other.ref('n').set(before);
      const told = await within(new Promise((resolve) => {
        at.transaction(change, (error, committed, snapshot) => resolve({ error, committed, found: snapshot.val() }));
      }), `${report} ${change}: the call`);
      assert.deepEqual([told.error, told.committed], [null, committed], `${report} ${change}`);
      assert.deepEqual(told.found, after, `${report} ${change}`);
      assert.deepEqual((await other.ref('n').get()).val(), after, `${report} ${change}`);
    }
    const shown = [];
    await at.set(10);
    at.on('value', (snapshot) => shown.push(snapshot.val()));
    const { committed } = await at.transaction((n) => (n ?? 0) + 1, undefined, false);
    assert.ok(committed);
    await settled(one, one);
    assert.deepEqual(shown, [10, 11], 'not applied locally: only what the server has committed is shown');
    await Promise.all([one, other].flatMap((db) =>
      Array.from({ length: 25 }, () => db.ref('sum').transaction((n) => (n ?? 0) + 1))));
    assert.equal((await other.ref('sum').get()).val(), 50);
  });

  about('a push is a reference at once and a promise of it', async (place) => {
    const [writer, reader] = [client(place), client(place)];
    const list = writer.ref('list');
    const { calls, called } = recorder();
    const pushed = list.push('first', called('done'));
    assert.match(pushed.key, /^[-_0-9A-Za-z]{20}$/);
    assert.equal((await pushed).key, pushed.key);
    const unused = list.push();
    const second = list.push();
    await second.set('second');
    await list.push({ n: 3 });
    const found = await reader.ref('list').get();
    const said = [];
    found.forEach((child) => {
      said.push(child.val());
    });
    assert.deepEqual(said, ['first', 'second', { n: 3 }], 'in the order of the pushes');
    assert.equal(found.hasChild(unused.key), false);
    assert.deepEqual(calls, ['done null']);
  });

  about('timestamps and increments are filled in by the server', async (place) => {
    const [writer, reader] = [client(place), client(place)];
    await writer.ref('at').set({ n: 1, made: sv.TIMESTAMP });
    await writer.ref('at').update({ n: sv.increment(4), half: sv.increment(0.5), changed: sv.TIMESTAMP });
    await writer.ref('at').setPriority(sv.TIMESTAMP);
    const found = await reader.ref('at').get();
    const { n, half, made, changed } = found.val();
    assert.deepEqual([n, half], [5, 0.5]);
    assert.ok(made <= changed && changed <= found.getPriority(), `${made} ${changed} ${found.getPriority()}`);
    assert.ok(Math.abs(Date.now() - made) < 20_000, `${made} is now`);
  });

  about('queries, alone and combined', async (place) => {
    const [writer, reader] = [client(place), client(place)];
    const at = reader.ref('list');
    await writer.ref('list').set({
      9: { age: true },
      10: { age: 'old' },
      ada: { age: 36, at: { town: 'x' } },
      bob: { age: 7, '.priority': 1 },
      cy: { age: 36, '.priority': 'm' },
      dee: { age: 50, at: { town: 'w' } },
      eve: { mute: true, '.priority': 2 },
    });
    await writer.ref('scores').set({ a: 3, b: 1, c: 2, d: 'x', e: false });
    const scores = reader.ref('scores');
    for (const [report, query, expected] of [
      ['', at, '9 10 ada dee bob eve cy'],
      ['', at.orderByKey(), '9 10 ada bob cy dee eve'],
      ['', at.orderByKey().startAt('bob').endAt('dee'), 'bob cy dee'],
      ['', at.orderByKey().startAfter('bob').endBefore('dee'), 'cy'],
      ['', at.orderByKey().startAt('9').limitToFirst(2), '9 10'],
      ['', at.orderByKey().equalTo('ada'), 'ada'],
      ['', at.orderByChild('age'), 'eve 9 bob ada cy dee 10'],
      ['', at.orderByChild('age').startAt(36), 'ada cy dee 10'],
      ['', at.orderByChild('age').startAt(36, 'b'), 'cy dee 10'],
      ['', at.orderByChild('age').startAfter(36, 'ada'), 'cy dee 10'],
      ['', at.orderByChild('age').startAfter(36), 'dee 10'],
      ['', at.orderByChild('age').endAt(36, 'ada'), 'eve 9 bob ada'],
      ['', at.orderByChild('age').endBefore(36), 'eve 9 bob'],
      ['', at.orderByChild('age').equalTo(36), 'ada cy'],
      ['', at.orderByChild('age').equalTo(36, 'cy'), 'cy'],
      ['', at.orderByChild('age').equalTo(null), 'eve'],
      ['', at.orderByChild('age').startAt(0).endAt(40).limitToLast(2), 'ada cy'],
      ['', at.orderByChild('age').startAt(0).limitToFirst(2), 'bob ada'],
      ['', at.orderByChild('at/town').startAt('w').limitToFirst(5), 'dee ada'],
      ['R039', at.startAt(1), 'bob eve cy'],
      ['R039', at.startAt(1, 'c'), 'eve cy'],
      ['R039', at.startAt(null, 'ada'), 'ada dee bob eve cy'],
      ['R039', at.orderByPriority().equalTo(null, 'dee'), 'dee'],
      ['R039', at.orderByPriority().endAt(1), '9 10 ada dee bob'],
      ['R039', at.orderByPriority().startAt('a').limitToLast(1), 'cy'],
      ['', at.limitToLast(2), 'eve cy'],
      ['', scores.orderByValue(), 'e b c a d'],
      ['', scores.orderByValue().startAt(2), 'c a d'],
      ['', scores.orderByValue().limitToLast(2), 'a d'],
      ['', scores.orderByValue().equalTo('x'), 'd'],
    ]) {
      assert.equal(keysOf(await query.get()).join(' '), expected, `${report} got: ${expected}`);
      assert.equal(keysOf(await query.once('value')).join(' '), expected, `${report} listened: ${expected}`);
    }
    const seen = await children(at.orderByChild('age').startAt(7).endAt(40).limitToFirst(2));
    assert.deepEqual(take(seen), ['added bob after null', 'added ada after bob']);
    await writer.ref('list/bob/age').set(6);
    await settled(writer, reader);
    assert.deepEqual(take(seen), ['removed bob', 'added cy after ada']);
  });

  about('what is armed is made at the disconnect, and what is cancelled is not', async (place) => {
    const [owner, observer] = [client(place), client(place)];
    const who = owner.ref('who');
    const { calls, called } = recorder();
    await who.set({ a: 1, b: 1, c: 1, d: 1, e: 1 });
    await who.child('a').onDisconnect().set('gone', called('set'));
    await who.child('b').onDisconnect().setWithPriority('gone', 3, called('setWithPriority'));
    await who.child('c').onDisconnect().remove(called('remove'));
    await who.onDisconnect().update({ d: 'gone', 'f/at': sv.TIMESTAMP }, called('update'));
    await who.child('e').onDisconnect().set('gone');
    await who.child('e').onDisconnect().cancel(called('cancel'));
    await settled(owner, observer);
    assert.deepEqual(calls, [
      'set null', 'setWithPriority null', 'remove null', 'update null', 'cancel null',
    ]);
    assert.deepEqual((await observer.ref('who').get()).val(), { a: 1, b: 1, c: 1, d: 1, e: 1 }, 'before');
    const gone = until(observer.ref('who/f/at'), (at) => at !== null);
    owner.goOffline();
    assert.ok(Math.abs((await gone).val() - Date.now()) < 20_000);
    const left = (await observer.ref('who').get()).exportVal();
    delete left.f;
    assert.deepEqual(left, { a: 'gone', b: { '.value': 'gone', '.priority': 3 }, d: 'gone', e: 1 });
    // What is written meanwhile is sent when the client is back, and nothing is armed any more.
    const late = who.child('a').set('back');
    owner.goOnline();
    await within(late, 'the write of one that was away');
    assert.equal((await observer.ref('who/a').get()).val(), 'back');
  });

  about('a client knows whether it is connected, and the time of the server', async (place) => {
    const db = client(place);
    await until(db.ref('.info/connected'), (is) => is === true);
    const { calls, called } = recorder();
    db.ref('.info/connected').on('value', called('connected'));
    db.goOffline();
    db.goOnline();
    await until(db.ref('.info/connected'), (is) => is === true);
    assert.deepEqual(calls, ['connected true', 'connected false', 'connected true']);
    const offset = (await db.ref('.info/serverTimeOffset').once('value')).val();
    assert.ok(Math.abs(offset) < 20_000, `${offset} ms`);
  });

  about('what is refused is told to whoever asked', async (place) => {
    const [nobody, amy] = [client(place, null), client(place, 'amy')];
    await amy.ref('secret').set({ n: 1 });
    const secret = nobody.ref('secret');
    for (const [report, ask, told] of [
      ['', (told) => new Promise((resolve) => {
        const end = told('end');
        secret.on('value', told('value'), (error) => resolve(end(error)));
      }), ['end PERMISSION_DENIED']],
      ['', (told) => secret.once('value', told('value'), told('end')).catch(told('promise')), [
        'end PERMISSION_DENIED', 'promise PERMISSION_DENIED',
      ]],
      ['', (told) => secret.set(1, told('done')).catch(told('promise')), [
        'done PERMISSION_DENIED', 'promise PERMISSION_DENIED',
      ]],
      ['', (told) => nobody.ref().update({ free: 1, 'secret/n': 2 }, told('done')).catch(told('promise')), [
        'done PERMISSION_DENIED', 'promise PERMISSION_DENIED',
      ]],
      ['', (told) => secret.transaction((n) => (n ?? 0) + 1, told('done')).catch(told('promise')), [
        'done permission_denied false null', 'promise permission_denied',
      ]],
      ['', (told) => secret.onDisconnect().set(1, told('done')).catch(told('promise')), [
        'done PERMISSION_DENIED', 'promise PERMISSION_DENIED',
      ]],
    ]) {
      const { calls, called } = recorder();
      await within(ask(called), `${report} ${ask}: the end`);
      assert.deepEqual(calls.toSorted(), told.toSorted(), `${report} ${ask}`);
    }
    await assert.rejects(secret.get(), /Permission denied/i);
    assert.deepEqual((await amy.ref('secret').get()).val(), { n: 1 });
    assert.equal((await amy.ref('free').get()).val(), null, 'an update is made whole or not at all');
  }, guarded);
}
