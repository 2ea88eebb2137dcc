// Firebase's library for testing rules, unmodified, as its documentation uses it: it is told where the server is, and
// nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertFails, assertSucceeds, initializeTestEnvironment, withFunctionTriggersDisabled,
} from '@firebase/rules-unit-testing';
import {
  equalTo, get, limitToLast, onValue, orderByChild, push, query, ref, remove, runTransaction, serverTimestamp, set, update,
} from 'firebase/database';
import { within } from '../sdk-js/within.js';
import { serve } from './environment.js';

const RULES = `{
  // With a comment, and a comma too many.
  "rules": {
    "rooms": {
      "$room": {
        ".read": "root.child('members').child($room).child(auth.uid).exists()",
        "$message": {
          ".write": "!data.exists() && root.child('members').child($room).child(auth.uid).exists()",
          ".validate": "newData.child('by').val() === auth.uid && newData.child('at').val() === now",
        },
      },
    },
    "hits": { ".read": true, ".write": "newData.val() === (data.exists() ? data.val() : 0) + 1" },
    "people": {
      ".read": "query.orderByChild === 'team' && query.equalTo === auth.token.team",
      ".indexOn": "team",
    },
    "open": { ".read": true, ".write": true },
  },
}`;

const { at, environment } = await serve(RULES);

/** The first value, or the refusal, of a listener. */
const listened = (at) => within(new Promise((resolve, reject) => onValue(at, resolve, reject)), `an event of ${at}`);

test('reads, writes, updates, transactions, queries and listeners are judged by the rules', async (t) => {
  const env = await environment(t);
  await env.withSecurityRulesDisabled(async (context) => {
    await set(ref(context.database()), {
      members: { tea: { amy: true } },
      people: { p1: { name: 'Ann', team: 'red' }, p2: { name: 'Bob', team: 'blue' } },
    });
  });
  const amy = env.authenticatedContext('amy', { team: 'red', email: 'amy@example.org' }).database();
  const bob = env.authenticatedContext('bob').database();
  const nobody = env.unauthenticatedContext().database();
  const message = (by) => ({ by, at: serverTimestamp(), text: 'hi' });
  const ofTeam = (db, team) => query(ref(db, 'people'), orderByChild('team'), equalTo(team));
  for (const [allows, what, act] of [
    [assertSucceeds, 'a member writes', () => set(ref(amy, 'rooms/tea/m1'), message('amy'))],
    [assertFails, 'nothing is overwritten', () => set(ref(amy, 'rooms/tea/m1'), message('amy'))],
    [assertFails, 'nor removed', () => remove(ref(amy, 'rooms/tea/m1'))],
    [assertFails, 'nobody writes as somebody else', () => set(ref(amy, 'rooms/tea/m2'), message('bob'))],
    [assertFails, 'a stranger does not write', () => set(ref(bob, 'rooms/tea/m2'), message('bob'))],
    [assertFails, 'nobody does not write', () => set(ref(nobody, 'rooms/tea/m2'), message('nobody'))],
    [assertSucceeds, 'a push', () => push(ref(amy, 'rooms/tea'), message('amy'))],
    [assertSucceeds, 'an update', () => update(ref(amy, 'rooms'), { 'tea/m3': message('amy'), 'tea/m4': message('amy') })],
    [assertFails, 'an update in part', () => update(ref(amy, 'rooms'), { 'tea/m5': message('amy'), 'soup/m1': message('amy') })],
    [assertSucceeds, 'a member reads', () => get(ref(amy, 'rooms/tea'))],
    [assertFails, 'a stranger does not read', () => get(ref(bob, 'rooms/tea'))],
    [assertFails, 'nobody does not read', () => get(ref(nobody, 'rooms/tea'))],
    [assertSucceeds, 'a member listens', () => listened(query(ref(amy, 'rooms/tea'), limitToLast(2)))],
    [assertFails, 'a stranger does not listen', () => listened(ref(bob, 'rooms/tea'))],
    [assertSucceeds, 'a transaction', () => runTransaction(ref(nobody, 'hits'), (hits) => (hits ?? 0) + 1)],
    [assertSucceeds, 'and another', () => runTransaction(ref(amy, 'hits'), (hits) => (hits ?? 0) + 1)],
    [assertFails, 'one that the rules refuse', () => runTransaction(ref(amy, 'hits'), (hits) => (hits ?? 0) + 2)],
    [assertSucceeds, 'a query that a claim of the token allows', () => get(ofTeam(amy, 'red'))],
    [assertFails, 'one that it does not', () => get(ofTeam(amy, 'blue'))],
    [assertFails, 'everything', () => get(ref(amy, 'people'))],
    [assertSucceeds, 'in the older words of the SDK', () => amy.ref('open/a').set(1)],
    [assertFails, 'in the older words of the SDK', () => amy.ref('closed/a').set(1)],
  ]) {
    await assert.doesNotReject(() => within(allows(act()), what), what);
  }
  assert.equal((await get(ref(nobody, 'hits'))).val(), 2);
});

test('the database is cleared, and the rules stay', async (t) => {
  const env = await environment(t);
  const db = env.unauthenticatedContext().database();
  await assertSucceeds(set(ref(db, 'open/a'), 1));
  await env.clearDatabase();
  assert.equal((await get(ref(db, 'open'))).val(), null);
  await assertFails(get(ref(db, 'rooms/tea')));
});

test('each project has rules and data of its own', async (t) => {
  const [one, other] = [await environment(t), await environment(t, { rules: '{"rules": {".read": true}}' })];
  await assertSucceeds(set(ref(one.unauthenticatedContext().database(), 'open/a'), 1));
  await assertFails(set(ref(other.unauthenticatedContext().database(), 'open/a'), 1));
  const seen = await assertSucceeds(get(ref(other.unauthenticatedContext().database())));
  assert.equal(seen.val(), null);
});

test('rules that are broken are told with line and column', async (t) => {
  for (const [report, rules, message] of [
    ['', '{"rules": {\n  ".read": "auth = null"\n}}', /2:18: Rule expressions may not contain assignments/],
    ['R013', `{"rules": {"$o": {".validate": "newData.hasChildren(['a','b']"}}}`, /1:\d+: /],
    ['R013', '1"rules": {}', /1:1: /],
    ['R003', `{"rules": {".read": "root.child('teams').child(auth.uid) != null"}}`, /1:\d+: /],
  ]) {
    await assert.rejects(environment(t, { rules }), message, `${report} ${rules}`);
  }
});

test('an environment that was cleaned up is of no use any more', async () => {
  const env = await initializeTestEnvironment({ projectId: 'demo-cleanup', database: at });
  const db = env.unauthenticatedContext().database();
  await set(ref(db, 'a'), 1);
  await env.cleanup();
  assert.throws(() => env.unauthenticatedContext(), /cleaned up/);
});

test('variables of the environment say where the server is', async (t) => {
  const { host, port } = at;
  const address = `${host}:${port}`;
  for (const [name, value] of [
    ['FIREBASE_DATABASE_EMULATOR_HOST', address],
    ['FIREBASE_EMULATOR_HUB', address],
  ]) {
    process.env[name] = value;
    t.after(() => delete process.env[name]);
    const env = await environment(t, { database: { rules: '{"rules": {"a": {".write": true}}}' } });
    assert.deepEqual(env.emulators.database, at, name);
    const db = env.unauthenticatedContext().database();
    await assertSucceeds(set(ref(db, 'a'), 1));
    await assertFails(get(ref(db, 'a')));
    if (name === 'FIREBASE_EMULATOR_HUB') assert.equal(await withFunctionTriggersDisabled(async () => 7), 7);
    delete process.env[name];
  }
});
