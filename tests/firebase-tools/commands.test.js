// The official command line, firebase-tools, against the real server. Its commands run in this process, as its
// documentation allows: starting it anew for each takes seconds.
//
// Why a stranger answers beside the server: for some commands it asks Google first for the project. Where the databases are
// it asks the server itself, which is told to it as the host of the management interface.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
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
    const isProject = request.url.endsWith(`/projects/${project.project}`);
    response.writeHead(isProject ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isProject ? { projectId: project.project, resources: { realtimeDatabaseInstance: INSTANCE } } : {}));
  }).listen(0, '127.0.0.1');
  await once(google, 'listening');
  const origin = `http://127.0.0.1:${google.address().port}`;
  Object.assign(process.env, {
    FIREBASE_TOKEN: 'any', FIREBASE_RTDB_MANAGEMENT_URL: hearth.url, FIREBASE_RESOURCEMANAGER_URL: origin, FIREBASE_API_URL: origin,
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

test('database:settings:set and get', async () => {
  const said = [];
  const spy = new Writable({
    objectMode: true,
    write(line, _, done) {
      said.push(stripVTControlCharacters(String(line[Symbol.for('splat')]?.[0] ?? line.message)));
      done();
    },
  });
  // It asks every stream for this, and only writes to it.
  spy.log = () => {};
  firebase.logger.logger.add(spy);
  const setting = async (name) =>
    (await fetch(`${hearth.url}/.settings/${name}.json?ns=${INSTANCE}`, { headers: ADMIN })).json();
  const read = async (name) => {
    said.length = 0;
    await firebase.database.settings.get(name, project);
    return said.join('\n');
  };
  try {
    assert.match(await read('defaultWriteSizeLimit'), /defaultWriteSizeLimit = large/);
    assert.match(await read('strictTriggerValidation'), /strictTriggerValidation = true/);
    await firebase.database.settings.set('defaultWriteSizeLimit', 'small', project);
    await firebase.database.settings.set('strictTriggerValidation', 'false', project);
    assert.equal(await setting('defaultWriteSizeLimit'), 'small');
    assert.deepEqual(await setting('strictTriggerValidation'), { value: false });
    assert.match(await read('defaultWriteSizeLimit'), /defaultWriteSizeLimit = small/);
    assert.match(await read('strictTriggerValidation'), /strictTriggerValidation = false/);
    await firebase.database.settings.set('defaultWriteSizeLimit', 'large', project);
  } finally {
    firebase.logger.logger.remove(spy);
  }
});

test('database:profile records what is done meanwhile, and makes a report of it', async () => {
  const raw = path.join(folder, 'profile.ndjson');
  let isDone = false;
  const used = (async () => {
    while (!isDone) {
      await fetch(`${hearth.url}/profiled.json?ns=${INSTANCE}`, { method: 'PUT', headers: ADMIN, body: '[1, 2]' });
      await fetch(`${hearth.url}/profiled.json?ns=${INSTANCE}`, { headers: ADMIN });
      await fetch(`${hearth.url}/profiled.json?ns=other`, { headers: ADMIN });
    }
  })();
  const shown = new Set();
  // A slow machine may be too busy to do anything while it looks on.
  for (let seconds = 2; shown.size < 2 && seconds < 60; seconds *= 2) {
    await firebase.database.profile({ ...project, raw: true, output: raw, duration: seconds, parent: {} });
    const lines = (await readFile(raw, 'utf8')).split('\n').filter((line) => line !== '');
    for (const { name, path, bytes, allowed } of lines.map((line) => JSON.parse(line))) {
      shown.add(JSON.stringify({ name, path, bytes, allowed }));
    }
  }
  isDone = true;
  await used;
  assert.deepEqual([...shown].sort(), [
    '{"name":"rest-read","path":["profiled"],"bytes":5,"allowed":true}',
    '{"name":"rest-write","path":["profiled"],"bytes":6,"allowed":true}',
  ]);
  const report = path.join(folder, 'report.txt');
  await firebase.database.profile({ ...project, input: raw, output: report, parent: {} });
  assert.match(await readFile(report, 'utf8'), /Read Speed[^]*\/profiled[^]*Write Speed[^]*\/profiled/);
});

test('database:instances:list and create', async () => {
  const created = await firebase.database.instances.create('made-by-hand', { ...project, location: 'us-central1' });
  assert.equal(created.databaseUrl, hearth.url);
  const listed = await firebase.database.instances.list({ ...project, location: 'us-central1' });
  assert.ok(listed.some(({ name }) => name === 'made-by-hand'), JSON.stringify(listed));
  await assert.rejects(
    firebase.database.instances.create('made-by-hand', { ...project, location: 'us-central1' }),
    /Failed to create instance/,
  );
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
