// The official command line, firebase-tools, against the real server. Its commands run in this process, as its
// documentation allows: starting it anew for each takes seconds.
//
// Why a stranger answers beside the server: for some commands it asks Google first where the database is, and without an
// answer it takes FIREBASE_DATABASE_EMULATOR_HOST only after a question on the terminal.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { HEARTH, start } from '../sdk-js/program.js';

/** Half of the commands forget the name of the database, and this is the one that is meant then. */
const INSTANCE = 'default';
const RULES = '{\n  // Everybody.\n  "rules": { ".read": true, ".write": true, "list": { ".indexOn": "n" } }\n}\n';

const ADMIN = { authorization: 'Bearer owner' };

let hearth, google, folder, firebase;

before(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'hearth-tools-'));
  hearth = await start(HEARTH, ['dev', '--memory', '--port', '0']);
  google = http.createServer((request, response) => {
    const isInstance = request.url.endsWith(`/instances/${INSTANCE}`);
    response.writeHead(isInstance ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isInstance ? {
      name: `projects/demo/locations/us-central1/instances/${INSTANCE}`,
      databaseUrl: hearth.url,
      type: 'USER_DATABASE',
      state: 'ACTIVE',
    } : {}));
  }).listen(0, '127.0.0.1');
  await once(google, 'listening');
  const origin = `http://127.0.0.1:${google.address().port}`;
  Object.assign(process.env, {
    FIREBASE_TOKEN: 'any', FIREBASE_RTDB_MANAGEMENT_URL: origin, FIREBASE_RESOURCEMANAGER_URL: origin,
    FIREBASE_TOKEN_URL: origin, XDG_CONFIG_HOME: folder, HOME: folder,
  });
  firebase = createRequire(import.meta.url)('firebase-tools');
});

after(async () => {
  google?.close();
  await rm(folder, { recursive: true });
  assert.equal(await hearth.end('SIGTERM'), 0, `how the server ended: ${hearth.said()}`);
});

const project = { project: 'demo-hearth', instance: INSTANCE, force: true, nonInteractive: true };

/** A file of this text in the folder of the tests. */
async function file(name, text) {
  await writeFile(path.join(folder, name), text);
  return path.join(folder, name);
}

/** What `database:get` writes. */
async function got(at, options = {}) {
  const output = path.join(folder, 'got.json');
  await firebase.database.get(at, { ...project, output, ...options });
  return readFile(output, 'utf8');
}

/** The database as it is. */
async function stored(at = '') {
  return (await fetch(`${hearth.url}${at}/.json?ns=${INSTANCE}`, { headers: ADMIN })).json();
}

test('database:set, update, push and remove', async () => {
  for (const [what, run, expected] of [
    ['set', () => firebase.database.set('/', { ...project, data: '{"a": {"b": 1}, "é x": [1, 2]}' }),
      { a: { b: 1 }, 'é x': [1, 2] }],
    ['set of a file', async () => firebase.database.set('/a', await file('a.json', '{"c": 2}'), project),
      { a: { c: 2 }, 'é x': [1, 2] }],
    ['set where the key is encoded', () => firebase.database.set('/é x/1', { ...project, data: '"two"' }),
      { a: { c: 2 }, 'é x': [1, 'two'] }],
    ['update', () => firebase.database.update('/a', { ...project, data: '{"c": null, "d/e": 3}' }),
      { a: { d: { e: 3 } }, 'é x': [1, 'two'] }],
    ['remove', () => firebase.database.remove('/é x', project), { a: { d: { e: 3 } } }],
    ['remove of nothing', () => firebase.database.remove('/none', project), { a: { d: { e: 3 } } }],
    ['remove of all', () => firebase.database.remove('/', project), null],
  ]) {
    await run();
    assert.deepEqual(await stored(), expected, what);
  }
  await firebase.database.push('/list', { ...project, data: '{"n": 1}' });
  const [[key, value]] = Object.entries(await stored('/list'));
  assert.match(key, /^[-_0-9A-Za-z]{20}$/);
  assert.deepEqual(value, { n: 1 });
});

test('database:get, with each of its options', async () => {
  await fetch(`${hearth.url}/.json?ns=${INSTANCE}`, {
    method: 'PUT',
    headers: ADMIN,
    body: JSON.stringify({ list: { a: { n: 2 }, b: { n: 1, '.priority': 5 }, c: { n: 3 } }, leaf: 'x' }),
  });
  const rules = { method: 'PUT', headers: ADMIN, body: RULES };
  assert.equal((await fetch(`${hearth.url}/.settings/rules.json?ns=${INSTANCE}`, rules)).status, 200);
  for (const [options, at, expected] of [
    [{}, '/leaf', 'x'],
    [{}, '/none', null],
    [{ shallow: true }, '/', { list: true, leaf: true }],
    [{ export: true }, '/list', { a: { n: 2 }, b: { n: 1, '.priority': 5 }, c: { n: 3 } }],
    [{ orderBy: 'n', limitToFirst: '2' }, '/list', { a: { n: 2 }, b: { n: 1 } }],
    [{ orderBy: 'n', startAt: '2' }, '/list', { a: { n: 2 }, c: { n: 3 } }],
    [{ orderBy: 'n', equalTo: '3' }, '/list', { c: { n: 3 } }],
    [{ orderByKey: true, startAt: 'b', endAt: 'b' }, '/list', { b: { n: 1 } }],
    [{ orderByKey: true, limitToLast: '1' }, '/list', { c: { n: 3 } }],
  ]) {
    assert.deepEqual(JSON.parse(await got(at, options)), expected, JSON.stringify(options));
  }
  assert.equal(await got('/list/a', { pretty: true }), '{\n  "n" : 2\n}\n');
  await assert.rejects(got('/list', { orderBy: 'other', limitToFirst: '1' }), /Index not defined/);
});

test('database:import fills an empty place in many pieces, and no other', async () => {
  const list = Array.from({ length: 3_000 }, (_, n) => ({ n, text: 'é'.repeat(500) }));
  const data = { list, deep: { a: { b: { c: true } } } };
  const infile = await file('import.json', JSON.stringify(data));
  await firebase.database.import('/imported', infile, { ...project, chunkSize: '1' });
  assert.deepEqual(await stored('/imported'), data);
  await assert.rejects(firebase.database.import('/imported', infile, project), /only allowed for an empty location/);
});

test('deploy of rules checks them, stores them as they are, and says what is wrong', async () => {
  await file('firebase.json', '{"database": {"rules": "rules.json"}}');
  const config = path.join(folder, 'firebase.json');
  const deploy = () => firebase.deploy({ ...project, only: 'database', cwd: folder, config });
  const rules = async () => (await fetch(`${hearth.url}/.settings/rules.json?ns=${INSTANCE}`, { headers: ADMIN })).text();
  await file('rules.json', RULES);
  await deploy();
  assert.equal(await rules(), RULES);
  await file('rules.json', '{"rules": {".read": "auth.uid =="}}');
  await assert.rejects(deploy(), /Syntax error in database rules:\s+.*1:/);
  assert.equal(await rules(), RULES);
});
