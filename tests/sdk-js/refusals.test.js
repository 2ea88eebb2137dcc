// What cannot be stored is refused, by the client before it sends and by the server whoever sends, and changes nothing.

import assert from 'node:assert/strict';
import { get, onDisconnect, push, ref, set, setPriority, update } from 'firebase/database';
import { settled, subject, values } from './place.js';

const KEPT = { a: { b: 1 }, keep: true };
const DEPTH_MAX = 32;
const KEY_BYTES_MAX = 768;
const TEXT_BYTES_MAX = 10 * 1024 * 1024;

const keys = (count) => Array(count).fill('k').join('/');
const nested = (count) => Array.from({ length: count }).reduce((inner) => ({ k: inner }), 1);

/** Runs rows against a tree, and sees that neither a listener nor a fresh reader finds any trace of them. */
async function leavesNoTrace(place, rows, attempt) {
  const [writer, reader] = place.clients(2);
  await set(ref(writer, 'tree'), KEPT);
  const seen = await values(ref(reader, 'tree'));
  for (const row of rows) await attempt(row, writer);
  await settled(writer, reader);
  assert.deepEqual(seen, [KEPT], 'what a listener was told');
  const { marks, ...left } = (await get(ref(place.client()))).val();
  assert.deepEqual(left, { tree: KEPT }, 'what is left');
  assert.ok(marks);
}

subject('the client refuses what cannot be stored, before it sends', async (place) => {
  const rows = [
    ...['.', '#', '$', '[', ']', '\u0001', '\u007f'].map((bad) => [
      `key with ${JSON.stringify(bad)}`, (db) => set(ref(db, 'tree'), { [`a${bad}`]: 1 }), /invalid key/,
    ]),
    ...['.', '#', '$', '[', ']'].map((bad) => [`path with ${bad}`, (db) => set(ref(db, `tree/a${bad}`), 1), /invalid path/]),
    ['a key with a slash', (db) => set(ref(db, 'tree'), { 'a/b': 1 }), /invalid key/],
    ['an update of a bad key', (db) => update(ref(db, 'tree'), { 'a#b': 1 }), /invalid key/],
    ['an update of a place and of one below', (db) => update(ref(db, 'tree'), { a: 1, 'a/b': 2 }), /ancestor of another path/],
    ['an update of .info', (db) => update(ref(db), { '.info/x': 1 }), /\.info|invalid key/],
    ['.info', (db) => set(ref(db, '.info/x'), 1), /\.info/],
    ['a value that is too deep', (db) => set(ref(db, 'tree'), nested(DEPTH_MAX)), /maximum depth/],
    ['a path that is too deep', (db) => set(ref(db, `tree/${keys(DEPTH_MAX)}`), 1), /maximum depth/],
    ['a key that is too long', (db) => set(ref(db, 'tree'), { ['k'.repeat(KEY_BYTES_MAX + 1)]: 1 }), /longer than 768 bytes/],
    ['a text that is too long', (db) => set(ref(db, 'tree'), 'x'.repeat(TEXT_BYTES_MAX + 1)), /utf8 bytes/],
    ['a text too long in bytes', (db) => set(ref(db, 'tree'), 'é'.repeat(TEXT_BYTES_MAX / 2 + 1)), /utf8 bytes/],
    ['undefined', (db) => set(ref(db, 'tree'), { x: undefined }), /undefined/],
    ['not a number', (db) => set(ref(db, 'tree'), NaN), /NaN/],
    ['infinity', (db) => set(ref(db, 'tree'), Infinity), /Infinity/],
    ['a value and children', (db) => set(ref(db, 'tree'), { '.value': 1, x: 2 }), /".value"/],
    ['a priority that is none', (db) => setPriority(ref(db, 'tree'), { x: 1 }), /priority/],
    ['armed', (db) => onDisconnect(ref(db, 'tree')).set({ 'a.b': 1 }), /invalid key/],
    ['pushed', (db) => push(ref(db, 'tree'), { 'a.b': 1 }), /invalid key/],
  ];
  await leavesNoTrace(place, rows, async ([name, write, message], writer) => {
    await assert.rejects(async () => write(writer), message, name);
  });
});

subject('the server refuses the same from whoever sends it', async (place) => {
  const bad = ['.', '#', '$', '[', ']', '\u0001', '\u001f', '\u007f'];
  const rows = [
    ...bad.map((char) => ['p', { p: `/tree/a${char}`, d: 1 }, 'invalid']),
    ...bad.map((char) => ['p', { p: '/tree', d: { [`a${char}`]: 1 } }, 'invalid']),
    ...bad.map((char) => ['p', { p: '/tree', d: { deep: [{ [`${char}a`]: 1 }] } }, 'invalid']),
    ...bad.map((char) => ['m', { p: '/tree', d: { [`x/a${char}`]: 1 } }, 'invalid']),
    ...bad.map((char) => ['m', { p: `/tree/a${char}`, d: { x: 1 } }, 'invalid']),
    ...bad.map((char) => ['o', { p: `/tree/a${char}`, d: 1 }, 'invalid']),
    ...bad.map((char) => ['om', { p: '/tree', d: { [`a${char}`]: 1 } }, 'invalid']),
    ['p', { p: '/tree', d: { 'a/b': 1 } }, 'invalid'],
    ['p', { p: '/tree', d: { '': 1 } }, 'invalid'],
    ['m', { p: '/tree', d: { '': 1 } }, 'invalid'],
    ['m', { p: '/tree', d: { a: 1, 'a/b': 2 } }, 'invalid'],
    ['m', { p: '/tree', d: { 'a/b': 2, a: null } }, 'invalid'],
    ['m', { p: '/tree', d: { good: 1, 'ba#d': 2 } }, 'invalid'],
    ['m', { p: '/tree', d: 5 }, 'invalid'],
    ['p', { p: '/.info/x', d: 1 }, 'permission_denied'],
    ['m', { p: '/', d: { '.info/x': 1 } }, 'invalid'],
    ['o', { p: '/.info', d: 1 }, 'permission_denied'],
    ['p', { p: `/${keys(DEPTH_MAX + 1)}`, d: 1 }, 'invalid'],
    ['p', { p: '/tree', d: nested(DEPTH_MAX) }, 'invalid'],
    ['p', { p: `/${keys(DEPTH_MAX)}`, d: { k: 1 } }, 'invalid'],
    ['m', { p: `/${keys(DEPTH_MAX)}`, d: { k: 1 } }, 'invalid'],
    ['p', { p: '/tree', d: nested(1_000) }, 'invalid'],
    ['p', { p: `/${'k'.repeat(KEY_BYTES_MAX + 1)}`, d: 1 }, 'invalid'],
    ['p', { p: '/tree', d: { ['é'.repeat(KEY_BYTES_MAX / 2 + 1)]: 1 } }, 'invalid'],
    ['p', { p: '/tree', d: { '.value': 1, x: 2 } }, 'invalid'],
    ['p', { p: '/tree', d: { '.priority': true, x: 2 } }, 'invalid'],
    ['p', { p: '/tree', d: { '.other': 1 } }, 'invalid'],
    ['p', { p: '/tree/.priority', d: { x: 1 } }, 'invalid'],
    ['p', { p: '/tree' }, 'invalid'],
    ['p', { d: 1 }, 'invalid'],
    ['p', { p: 5, d: 1 }, 'invalid'],
    ['p', { p: '/tree', d: 1, h: 'no hash' }, 'invalid'],
    ['p', { p: '/tree', d: 1, h: '' }, 'datastale'],
    ['p', { p: '/tree', d: 'x'.repeat(TEXT_BYTES_MAX + 1) }, 'write_too_big'],
    ['p', { p: '/tree', d: 'é'.repeat(TEXT_BYTES_MAX / 2 + 1) }, 'write_too_big'],
    ['p', { p: '/tree', d: { a: 'x'.repeat(9_000_000), b: 'x'.repeat(9_000_000) } }, 'write_too_big'],
    ['m', { p: '/tree', d: { a: 'x'.repeat(9_000_000), b: 'x'.repeat(9_000_000) } }, 'write_too_big'],
    ['nonsense', { p: '/tree', d: 1 }, 'invalid'],
    ['q', { p: '/tree', q: { l: 1, vf: 'r' }, h: '' }, 'invalid'],
    ['q', { p: '/tree', q: { l: -1, vf: 'r' }, t: 1, h: '' }, 'invalid'],
    ['q', { p: '/tr#ee', h: '' }, 'invalid'],
    ['g', { p: '/tr#ee', q: {} }, 'invalid'],
    ['auth', { cred: 'no token' }, 'invalid_token'],
  ];
  const socket = await place.socket();
  await leavesNoTrace(place, rows, async ([action, body, status]) => {
    const answer = await socket.ask(action, body);
    const row = JSON.stringify([action, body]).slice(0, 200);
    assert.equal(answer.s, status, `${row} was answered ${JSON.stringify(answer).slice(0, 200)}`);
    assert.match(answer.d, /^\S.*\S$/s, `the reason for ${row}`);
  });
  // Nothing of that was armed either: who follows the session finds what it did at its end.
  const next = await place.socket(socket.session);
  assert.deepEqual((await next.ask('g', { p: '/tree', q: {} })).d, KEPT);
});

subject('the official client is told when a write is too big', async (place) => {
  const writer = place.client();
  await set(ref(writer, 'tree'), KEPT);
  const half = 'x'.repeat(9_000_000);
  await assert.rejects(set(ref(writer, 'tree'), { a: half, b: half }), { code: 'WRITE_TOO_BIG' });
  assert.deepEqual((await get(ref(place.client(), 'tree'))).val(), KEPT);
});

subject('what is just allowed is stored', async (place) => {
  const [writer, reader] = place.clients(2);
  for (const [name, at, value] of [
    ['the deepest path', keys(DEPTH_MAX), 1],
    ['the deepest value', 'd', nested(DEPTH_MAX - 1)],
    ['other characters', 'c', { 'a b!"%&\'()*+,-:;<=>?@\\^_`{|}~': 1, '\u0080': 2, '\u200b': 3 }],
  ]) {
    await set(ref(writer, at), value);
    assert.deepEqual((await get(ref(reader, at))).val(), value, name);
  }
  const socket = await place.socket();
  const longest = 'k'.repeat(KEY_BYTES_MAX);
  assert.equal((await socket.ask('p', { p: '/long', d: { [longest]: 1 } })).s, 'ok');
  assert.deepEqual((await socket.ask('g', { p: `/long/${longest}`, q: {} })).d, 1);
  assert.equal((await socket.ask('p', { p: '/text', d: 'x'.repeat(TEXT_BYTES_MAX) })).s, 'ok');
});

subject('a connection that talks nonsense ends, and the others go on', async (place) => {
  for (const [name, text] of [
    ['no JSON', 'hello'],
    ['no layer', '{"d":1}'],
    ['half a message', '{"t":"d","d":{"r":1,'],
    ['a list', '[]'],
    ['more parts than allowed', '999999'],
    ['deep nesting', `{"t":"d","d":{"r":1,"a":"p","b":{"p":"/x","d":${'{"k":'.repeat(200_000)}1${'}'.repeat(200_000)}}}}`],
    ['deep lists', '['.repeat(500_000)],
  ]) {
    const socket = await place.socket();
    socket.send(text);
    // It may go on or be sent away; it may not harm the next one.
    const next = await place.socket();
    assert.equal((await next.ask('p', { p: '/x', d: 1 })).s, 'ok', name);
  }
  const socket = await place.socket();
  socket.send('0');
  socket.send('{"t":"d","d":{"r":7,"a":"p","b":{"p":"/lone","d":"\\ud800"}}}');
  const answer = await socket.ask('g', { p: '/x', q: {} });
  assert.equal(answer.d, 1, 'a keepalive and half a character are no reason to go');
});
