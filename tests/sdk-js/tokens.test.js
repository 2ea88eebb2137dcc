// Signed tokens in production: the official client is who its token says, for as long as it says.
//
// Why no Firebase Authentication: the client asks a part of its app for tokens, and here that part is ours. What it hands
// out is signed with a key of this run, which the server has in a file as Google publishes its keys.

import { Component } from '@firebase/component';
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { _addComponent, deleteApp, initializeApp } from 'firebase/app';
import { get, getDatabase, onValue, ref, set } from 'firebase/database';
import { until, within } from './place.js';
import { HEARTH, WITNESS, start } from './program.js';

const PROJECT = 'hearth-tests';
const ADMIN = 'an-admin-credential';
const RULES = { rules: { users: { $uid: { '.read': 'auth.uid === $uid', '.write': 'auth.uid === $uid' } } } };
/** How long a whole test may take. */
const TEST = { timeout: 60_000 };

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const now = () => Math.floor(Date.now() / 1000);
const encoded = (part) => Buffer.from(JSON.stringify(part)).toString('base64url');

/** An ID token of a user, which holds for some seconds. */
function tokenOf(user, seconds) {
  const claims = {
    iss: `https://securetoken.google.com/${PROJECT}`, aud: PROJECT, sub: user, user_id: user,
    iat: now(), auth_time: now(), exp: now() + seconds, firebase: { sign_in_provider: 'password', identities: {} },
  };
  const message = `${encoded({ alg: 'RS256', typ: 'JWT', kid: 'k1' })}.${encoded(claims)}`;
  return `${message}.${sign('RSA-SHA256', Buffer.from(message), privateKey).toString('base64url')}`;
}

const folder = mkdtempSync(path.join(tmpdir(), 'hearth-tokens-'));
let server;
let witness;

before(async () => {
  const file = (name, value) => {
    writeFileSync(path.join(folder, name), JSON.stringify(value));
    return path.join(folder, name);
  };
  const keys = { keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'RS256', use: 'sig' }] };
  server = await start(HEARTH, [
    'serve', '--memory', '--port', '0', '--namespace', 'demo', '--rules', file('rules.json', RULES),
    '--firebase-project', PROJECT, '--firebase-keys', file('keys.json', keys),
  ], { stderr: 'inherit', env: { HEARTH_ADMIN_CREDENTIAL: ADMIN } });
  witness = await start(WITNESS, [server.url], { stderr: 'inherit' });
});

after(async () => {
  assert.equal(await server.end('SIGTERM'), 0, 'how the server ended');
  assert.equal(await witness.end(), 0, 'the witness found that the server sent what an SDK cannot bear; see above');
  rmSync(folder, { recursive: true });
});

let clientsMade = 0;

/**
 * A client whose app hands out these tokens: the first, and each time that the client wants another one the next; the
 * last one again and again. `renew` hands out one without being asked.
 */
function client(t, tokens) {
  clientsMade += 1;
  const app = initializeApp({ databaseURL: `${witness.url}?ns=demo` }, `tokens-${clientsMade}`);
  t.after(() => deleteApp(app));
  const listeners = [];
  const left = [...tokens];
  const given = (token) => token && { accessToken: token };
  let asked = 0;
  const auth = {
    getToken: async (isForced) => {
      if (isForced) {
        asked += 1;
        if (1 < left.length) left.shift();
      }
      return given(left[0]);
    },
    addAuthTokenListener: (listener) => listeners.push(listener),
    removeAuthTokenListener: () => {},
    getUid: () => 'kim',
  };
  _addComponent(app, new Component('auth-internal', () => auth, 'PRIVATE'));
  const renew = (token) => {
    left[0] = token;
    for (const listener of listeners) listener(token);
  };
  return { database: getDatabase(app), renew, asked: () => asked };
}

/** Listens, and resolves when the first value has come. `cancelled` resolves with the reason of the end. */
async function listen(database, at) {
  const values = [];
  const cancelled = new Promise((resolve) => {
    onValue(ref(database, at), (snapshot) => values.push(snapshot.val()), resolve);
  });
  await until(ref(database, at), (value) => value !== null);
  return { values, cancelled };
}

/** Waits for a second to begin. */
async function pass(second) {
  while (now() < second) await new Promise((resolve) => setTimeout(resolve, 50));
}

/** Writes as an admin. */
async function write(at, value) {
  const headers = { authorization: `Bearer ${ADMIN}` };
  const answer = await fetch(`${server.url}${at}.json?ns=demo`, { method: 'PUT', headers, body: JSON.stringify(value) });
  assert.equal(answer.status, 200, await answer.text());
}

test('a client is who its token says', TEST, async (t) => {
  const { database } = client(t, [tokenOf('kim', 3_600)]);
  await set(ref(database, 'users/kim'), 1);
  assert.equal((await get(ref(database, 'users/kim'))).val(), 1);
  await assert.rejects(get(ref(database, 'users/amy')), /permission denied/i);
  await assert.rejects(set(ref(database, 'users/amy'), 1), /permission_denied/i);
});

test('a listener ends with the token, where there is no other', TEST, async (t) => {
  const { database } = client(t, [tokenOf('kim', 4), null]);
  await write('/users/kim', 'before');
  const { values, cancelled } = await listen(database, 'users/kim');
  const error = await within(cancelled, 'the end of the listener');
  assert.equal(error.code, 'PERMISSION_DENIED');
  await write('/users/kim', 'after');
  await assert.rejects(get(ref(database, 'users/kim')), /permission denied/i);
  assert.deepEqual(values, ['before']);
});

test('a listener goes on with the token that the client asks for when the first ends', TEST, async (t) => {
  const end = now() + 4;
  const { database, asked } = client(t, [tokenOf('kim', 4), tokenOf('kim', 3_600)]);
  await write('/users/kim', 'before');
  const { values } = await listen(database, 'users/kim');
  await pass(end + 1);
  await write('/users/kim', 'after');
  await until(ref(database, 'users/kim'), (value) => value === 'after');
  assert.deepEqual([values, asked()], [['before', 'after'], 1]);
});

test('a token that is renewed in time keeps the connection as it is', TEST, async (t) => {
  const end = now() + 4;
  const { database, renew, asked } = client(t, [tokenOf('kim', 4)]);
  await write('/users/kim', 'before');
  const { values } = await listen(database, 'users/kim');
  const connected = await listen(database, '.info/connected');
  renew(tokenOf('kim', 3_600));
  await pass(end + 1);
  await write('/users/kim', 'after');
  await until(ref(database, 'users/kim'), (value) => value === 'after');
  assert.deepEqual([values, connected.values, asked()], [['before', 'after'], [true], 0]);
});

test('a client that becomes another one is told nothing more of the first', TEST, async (t) => {
  const { database, renew } = client(t, [tokenOf('kim', 3_600)]);
  await write('/users/kim', 'before');
  const { values, cancelled } = await listen(database, 'users/kim');
  renew(tokenOf('amy', 3_600));
  assert.equal((await within(cancelled, 'the end of the listener')).code, 'PERMISSION_DENIED');
  await write('/users/kim', 'after');
  await set(ref(database, 'users/amy'), 1);
  assert.deepEqual(values, ['before']);
});
