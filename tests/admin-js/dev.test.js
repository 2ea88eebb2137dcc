// firebase-admin against `hearth dev`, which it finds by FIREBASE_DATABASE_EMULATOR_HOST.

import { ServerValue } from 'firebase-admin/database';
import { scenarios } from '../sdk-js/namespaced.js';
import { serve } from '../sdk-js/place.js';
import { admins } from './admin.js';
import { SECRET, client, credential } from './place.js';

const server = serve('--rules', SECRET);
process.env.FIREBASE_DATABASE_EMULATOR_HOST = new URL(await server).host;

// The address is of Firebase: with the variable, its first label names the database and the rest does not count.
// Requests for rules ask the app for a credential, whatever it is.
const clients = (place, user) =>
  client(place, user, { databaseURL: `https://${place.namespace}.firebaseio.com`, credential });

scenarios('firebase-admin, dev', { client: clients, sv: ServerValue, open: server, guarded: server });
admins('firebase-admin, dev', { client: clients, server });
