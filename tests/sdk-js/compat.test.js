// `firebase/compat`: the official client as it was used before version 9, and still is.

import firebase from 'firebase/compat/app';
import 'firebase/compat/database';
import { fileURLToPath } from 'node:url';
import { scenarios } from './namespaced.js';
import { serve } from './place.js';

let made = 0;

scenarios('compat', {
  client: (place, user) => {
    made += 1;
    const app = firebase.initializeApp({ databaseURL: place.url }, `compat-${made}`);
    place.atEnd(() => app.delete());
    const db = app.database();
    const { hostname, port } = new URL(place.server);
    if (user) db.useEmulator(hostname, Number(port), { mockUserToken: { sub: user } });
    return db;
  },
  sv: firebase.database.ServerValue,
  guarded: serve('--rules', fileURLToPath(new URL('secret.json', import.meta.url))),
});
