// What a limit refuses ends with an error in the SDK, leaves no trace with those who listen, and is not sent again.

import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { get, onDisconnect, onValue, push, ref, runTransaction, set, update } from 'firebase/database';
import { serve, settled, subject, values, within } from './place.js';

const limited = serve('--limits', fileURLToPath(new URL('limits.json', import.meta.url)));

const TOO_FAST = /the limit for `\/inbox` is 0\.001 writes per second and connection, 2 at once; try again in \d+ s/;
const TOO_LARGE = /the limit for `\/inbox` is 100 bytes of keys and values/;

subject('writes above a limit fail at once, each with its reason', async (place) => {
  const [writer, reader] = place.clients(2);
  const seen = await values(ref(reader, 'inbox'));
  await set(ref(writer, 'inbox/a'), 1);
  await assert.rejects(set(ref(writer, 'inbox/a'), 'x'.repeat(101)), (error) => {
    assert.equal(error.code, 'WRITE_TOO_BIG', 'R101');
    assert.match(error.message, TOO_LARGE, 'R101');
    return true;
  });
  await push(ref(writer, 'inbox'), 2);
  for (const [name, write] of [
    ['set', () => set(ref(writer, 'inbox/a'), 3)],
    ['update', () => update(ref(writer), { 'inbox/a': 3, other: 3 })],
    ['push', () => push(ref(writer, 'inbox'), 3)],
    ['armed', () => onDisconnect(ref(writer, 'inbox/a')).set(3)],
  ]) {
    await assert.rejects(async () => within(write(), name), (error) => {
      assert.equal(error.code, 'UNAVAILABLE', `R101 ${name}`);
      assert.match(error.message, TOO_FAST, `R101 ${name}`);
      return true;
    });
  }
  await assert.rejects(within(runTransaction(ref(writer, 'inbox/a'), (n) => n + 1), 'a transaction'), /unavailable/i, 'R101');
  await settled(writer, reader);
  assert.deepEqual(Object.values(seen.at(-1)).sort(), [1, 2], 'R101: what is there');
  assert.equal((await get(ref(reader, 'other'))).exists(), false, 'R101');
}, limited);

subject('listens above a limit are cancelled', async (place) => {
  const [first, second] = place.clients(2);
  assert.equal((await get(ref(first, 'read'))).exists(), false);
  const cancelled = new Promise((resolve, reject) => {
    onValue(ref(first, 'read/a'), () => reject(new Error('R101: there is a value')), resolve);
  });
  assert.equal((await within(cancelled, 'R101: the end of the listener')).code, 'UNAVAILABLE');
  assert.deepEqual(await values(ref(second, 'read/a')), [null], 'R101');
}, limited);
