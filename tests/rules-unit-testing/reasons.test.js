// Why something is denied, as the official client prints it for who has asked by `debug: true` in the token; and which
// parts of the rules were exercised by what such clients do.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertFails, assertSucceeds } from '@firebase/rules-unit-testing';
import { get, onDisconnect, onValue, ref, remove, runTransaction, set, update } from 'firebase/database';
import { within } from '../sdk-js/within.js';
import { serve } from './environment.js';

const RULES = `{
  "rules": {
    "notes": {
      "$uid": {
        ".read": "auth != null && (auth.uid === $uid || root.child('friends').child($uid).child(auth.uid).exists())",
        ".write": "auth.uid === $uid",
        ".validate": "newData.isString() && newData.val().length < 5"
      }
    },
    "marks": { ".read": true, ".write": true }
  }
}`;

const { url, environment } = await serve(RULES);

const listened = (at) => within(new Promise((resolve, reject) => onValue(at, resolve, reject)), `an event of ${at}`);

/** A promise, and what keeps it. */
function resolvers() {
  let resolve;
  const promise = new Promise((keep) => {
    resolve = keep;
  });
  return { promise, resolve };
}

/** What the client prints from now on. */
function printed(t) {
  const log = t.mock.method(console, 'log', () => {});
  return () => {
    const texts = log.mock.calls.map(({ arguments: [text] }) => text);
    log.mock.resetCalls();
    return texts;
  };
}

test('who asks is told why, before the refusal', async (t) => {
  const env = await environment(t);
  const bob = env.authenticatedContext('bob', { debug: true }).database();
  const carl = env.authenticatedContext('carl').database();
  const said = printed(t);
  const amys = /^FIREBASE: Attempt to read \/notes\/amy with auth=\{.*"uid":"bob"\}\n(FIREBASE: )? +\/\n +\/notes\n +\/notes\/amy:\.read: "auth != null && /;
  const read = [amys, /auth\.uid === \$uid += false\n/, /\n\nNo \.read rule allowed the operation\.\nRead was denied\.\n$/];
  const written = [/^FIREBASE: Attempt to write "hi" to \/notes\/amy with auth=/, /No \.write rule allowed the operation\.\nWrite was denied\.\n$/];
  const refusedValue = [/newData\.isString\(\) += false\n/, /the `\.validate` rule for `\/notes\/bob` does not accept what would be there\nWrite was denied\.\n$/];
  for (const [what, act, expected] of [
    ['get', (db) => get(ref(db, 'notes/amy')), read],
    ['listen', (db) => listened(ref(db, 'notes/amy')), read],
    ['set', (db) => set(ref(db, 'notes/amy'), 'hi'), written],
    ['a value', (db) => set(ref(db, 'notes/bob'), 7), refusedValue],
    ['update', (db) => update(ref(db, 'notes'), { amy: 'hi', bob: 'hi' }), [...written.slice(1), /to \/notes\/amy with/, /to \/notes\/bob with/]],
    ['armed', (db) => onDisconnect(ref(db, 'notes/amy')).set('hi'), written],
    ['transaction', (db) => runTransaction(ref(db, 'notes/amy'), () => 'hi'), written],
  ]) {
    await within(assertFails(act(bob)), what);
    const texts = said();
    assert.ok(1 <= texts.length, `${what}: nothing was said`);
    // A transaction listens, too.
    const text = texts.find((own) => expected.every((each) => each.test(own)));
    assert.ok(text, `${what}: ${texts.join('\n')}`);
  }
  // What the transaction listened to is refused behind it.
  await get(ref(bob, 'marks'));
  said();
  await within(assertSucceeds(set(ref(bob, 'notes/bob'), 'hi')), 'an allowed write');
  await within(assertFails(get(ref(carl, 'notes/amy'))), 'somebody who has not asked');
  assert.deepEqual(said(), []);
});

test('the end of a listener is explained', async (t) => {
  const env = await environment(t);
  await env.withSecurityRulesDisabled(async (context) => {
    await set(ref(context.database(), 'friends/amy/bob'), true);
  });
  const bob = env.authenticatedContext('bob', { debug: true }).database();
  const said = printed(t);
  const begun = resolvers();
  const ended = resolvers();
  onValue(ref(bob, 'notes/amy'), () => begun.resolve(), (error) => ended.resolve(error));
  await within(begun.promise, 'the first value');
  await env.withSecurityRulesDisabled(async (context) => remove(ref(context.database(), 'friends/amy/bob')));
  assert.equal((await within(ended.promise, 'the end')).code, 'PERMISSION_DENIED');
  const [text, ...others] = said();
  assert.match(text, /root\.child\('friends'\)\.child\(\$uid\)\.child\(auth\.uid\)\.exists\(\) += false\n/);
  assert.deepEqual(others, []);
});

test('what clients do is counted once for each request', async (t) => {
  const env = await environment(t);
  await env.withSecurityRulesDisabled(async (context) => {
    await set(ref(context.database()), { friends: { amy: { bob: true } } });
  });
  const [amy, bob] = ['amy', 'bob'].map((uid) => env.authenticatedContext(uid).database());
  const nobody = env.unauthenticatedContext().database();
  const cancelled = resolvers();
  for (const [id, allows, act] of [
    ['R095', assertSucceeds, () => set(ref(amy, 'notes/amy'), 'hi')],
    ['R095', assertSucceeds, () => get(ref(amy, 'notes/amy'))],
    ['R095', assertSucceeds, () => new Promise((resolve) => onValue(ref(bob, 'notes/amy'), resolve, cancelled.resolve))],
    ['R095', assertFails, () => get(ref(nobody, 'notes/amy'))],
    ['R095', assertFails, () => update(ref(bob), { 'notes/bob': 'hi', 'notes/amy': 'hi' })],
    ['R095', assertFails, () => set(ref(amy, 'notes/amy'), 'too long')],
  ]) {
    await assert.doesNotReject(() => within(allows(act()), String(act)), `${id} ${act}`);
  }
  // News for a listener ask its rule again, and do not count, until it ends.
  await set(ref(amy, 'notes/amy'), 'ho');
  await env.withSecurityRulesDisabled(async (context) => {
    await set(ref(context.database(), 'friends/amy/eve'), true);
    await remove(ref(context.database(), 'friends/amy/bob'));
  });
  await within(cancelled.promise, 'the end of the listener');
  const report = await (await fetch(`${url}/.inspect/coverage.json?ns=${env.projectId}`)).json();
  const counts = Object.fromEntries(report.rules.map(({ path, kind, counts: { true: held, false: not, error } }) => [
    `${path}/${kind}`, [held, not, error],
  ]));
  assert.deepEqual(counts, {
    '/notes/$uid/.read': [2, 2, 0],
    '/notes/$uid/.write': [3, 1, 0],
    '/notes/$uid/.validate': [2, 1, 0],
    '/marks/.read': [0, 0, 0],
    '/marks/.write': [0, 0, 0],
  }, 'R095');
});
