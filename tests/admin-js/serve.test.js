// firebase-admin against `hearth serve`, with an object that gives it the server's admin credential in
// place of Google's.

import assert from 'node:assert/strict';
import { ServerValue } from 'firebase-admin/database';
import { scenarios } from '../sdk-js/namespaced.js';
import { subject, within } from '../sdk-js/place.js';
import { admins } from './admin.js';
import { client, credential, serveProduction } from './place.js';

const server = serveProduction(30);

const clients = (place, user) => client(place, user, { databaseURL: place.url, credential });

scenarios('firebase-admin, serve', { client: clients, sv: ServerValue, open: server, guarded: server });
admins('firebase-admin, serve', { client: clients, server });

subject('firebase-admin, serve: whose credential is another one gets nothing', async (place) => {
  const wrong = { getAccessToken: async () => ({ access_token: 'owner', expires_in: 3600 }) };
  const [admin, stranger] = [clients(place), client(place, undefined, { databaseURL: place.url, credential: wrong })];
  await assert.rejects(stranger.getRules(), /Error while accessing security rules: /);
  // The client is sent away and comes back, as with a credential of Google's that has expired.
  stranger.ref('secret').set('a stranger was here').catch(() => {});
  let ended = 0;
  const turns = new Promise((resolve) => {
    stranger.ref('.info/connected').on('value', (is) => {
      ended += is.val() ? 0 : 1;
      if (ended === 3) resolve();
    });
  });
  await within(turns, 'the third end of its connection');
  assert.equal((await admin.ref('secret').get()).val(), null);
}, server);
