// What the Admin SDK has beyond the API of `firebase/compat`: it stands above the rules, deploys them, and may step down.

import assert from 'node:assert/strict';
import { subject } from '../sdk-js/place.js';

const COMMENTED = `// Only for amy.
{
  "rules": {
    "board": { ".read": "auth.uid === 'amy'", ".write": "auth.token.writes === true" }, // and for admins
  }
}
`;
const PLAIN = { rules: { board: { '.read': "auth.uid === 'amy'", '.write': 'auth.token.writes === true' } } };

/** The scenarios of such a client, as `scenarios` has them. `server` has rules. */
export function admins(name, { client, server }) {
  const about = (title, body) => subject(`${name}: ${title}`, body, server);

  about('rules are deployed as text with comments, as bytes and as an object, and hold at once', async (place) => {
    const [admin, amy] = [client(place), client(place, 'amy')];
    for (const source of [COMMENTED, Buffer.from(COMMENTED), PLAIN]) {
      await admin.setRules({ rules: { '.read': false } });
      await assert.rejects(amy.ref('board').get(), /Permission denied/i);
      await admin.setRules(source);
      assert.equal((await amy.ref('board').get()).val(), null);
      assert.equal(await admin.getRules(), source === PLAIN ? JSON.stringify(PLAIN) : COMMENTED);
      assert.deepEqual(await admin.getRulesJSON(), PLAIN);
    }
  });

  about('rules that cannot be are refused in words, and change nothing', async (place) => {
    const admin = client(place);
    await admin.setRules(COMMENTED);
    for (const [source, words] of [
      ['{"rules": {".read": tru}}', /Error while accessing security rules: .*1:21/],
      [{ rules: { '.read': 'auth.uid ==' } }, /Error while accessing security rules: .*1:\d+/],
      [{ '.read': true }, /Error while accessing security rules: .*rules/],
    ]) {
      await assert.rejects(admin.setRules(source), words);
      assert.equal(await admin.getRules(), COMMENTED);
    }
  });

  about('an admin stands above rules, and steps down to whom it names', async (place) => {
    const admin = client(place);
    await admin.setRules(COMMENTED);
    await admin.ref('board').set({ n: 1 });
    const writes = { uid: 'ada', token: { writes: true } };
    for (const [report, who, read, written] of [
      ['R015', undefined, true, true],
      ['R015', null, false, false],
      ['R015', { uid: 'amy' }, true, false],
      ['R015', { uid: 'bob' }, false, false],
      ['R015', writes, false, true],
    ]) {
      const db = client(place, who);
      const isDone = (act) => act.then(() => true, (error) => {
        assert.match(error.message, /permission.denied/i, `${report} ${JSON.stringify(who)}`);
        return false;
      });
      const found = [await isDone(db.ref('board').get()), await isDone(db.ref('board/n').set(2))];
      assert.deepEqual(found, [read, written], `${report} ${JSON.stringify(who)}`);
    }
  });
}
