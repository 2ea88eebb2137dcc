// The largest value that an SDK may write: 16 MB in one message, which is split both ways (wire reference 2.2, 7.3).

import assert from 'node:assert/strict';
import { get, onValue, ref, set } from 'firebase/database';
import { subject, values } from './place.js';

const WRITE_BYTES_MAX = 16 * 1024 * 1024;
/** What may stand around a value in its message. */
const AROUND_BYTES = 64 * 1024;
/** Longest text; the client itself refuses a longer one. */
const TEXT_BYTES_MAX = 10 * 1024 * 1024;

/** A value that has so many bytes as JSON: many small children, texts in several scripts, and one text that fills up. */
function valueOf(bytes) {
  const value = { filler: '', rows: {} };
  for (let at = 0; at < 100_000; at += 1) value.rows[`row${at}`] = { at, even: at % 2 === 0 };
  for (const [name, text] of [['ascii', 'x'], ['accents', 'é'], ['emoji', '😀']]) value[name] = text.repeat(500_000);
  value.filler = 'y'.repeat(bytes - Buffer.byteLength(JSON.stringify(value)));
  return value;
}

/** Texts, so that a failure does not print 16 MB. Children have an order of their own. */
function isSame(found, expected) {
  const sorted = (value) =>
    value && typeof value === 'object'
      ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
      : value;
  return JSON.stringify(sorted(found)) === JSON.stringify(sorted(expected));
}

subject('a value of 16 MB is written, told to who listens, and read', async (place) => {
  const [writer, listener, reader] = place.clients(3);
  const large = valueOf(WRITE_BYTES_MAX);
  const seen = await values(ref(listener, 'large'));
  const told = new Promise((resolve) => {
    onValue(ref(listener, 'large/rows/row7/at'), (snapshot) => {
      if (snapshot.val() === 'changed') resolve();
    });
  });
  await set(ref(writer, 'large'), large);
  assert.ok(isSame((await get(ref(reader, 'large'))).val(), large), 'what is read');

  // What is too large is refused and taken back, and whoever listens goes on with what was there.
  await assert.rejects(set(ref(writer, 'large'), valueOf(WRITE_BYTES_MAX + AROUND_BYTES)), { code: 'WRITE_TOO_BIG' });
  assert.throws(() => set(ref(writer, 'large'), 'x'.repeat(TEXT_BYTES_MAX + 1)), /string greater than 10485760 utf8 bytes/);
  await set(ref(writer, 'large/rows/row7/at'), 'changed');
  await told;
  large.rows.row7.at = 'changed';
  assert.equal(seen[0], null);
  assert.ok(isSame(seen.at(-1), large), 'what a listener shows');
});

subject('who begins to listen to 16 MB is told all of it, and what changes meanwhile behind it', async (place) => {
  const [writer, listener] = place.clients(2);
  const large = valueOf(WRITE_BYTES_MAX);
  await set(ref(writer, 'large'), large);
  const counts = [];
  const counted = new Promise((resolve) => {
    onValue(ref(listener, 'large'), (snapshot) => {
      counts.push(snapshot.child('rows/row0/at').val());
      if (counts.at(-1) === 99) resolve(snapshot.val());
    });
  });
  for (let count = 0; count < 100; count += 1) await set(ref(writer, 'large/rows/row0/at'), count);
  large.rows.row0.at = 99;
  assert.ok(isSame(await counted, large), 'what it shows in the end');
  assert.deepEqual(counts, counts.toSorted((a, b) => a - b), 'never an older value behind a newer one');
});
