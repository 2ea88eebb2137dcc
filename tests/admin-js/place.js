// Clients of the Admin SDK in places of the tests with the official JavaScript client.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { deleteApp, initializeApp } from 'firebase-admin/app';
import { getDatabase } from 'firebase-admin/database';
import { HEARTH, start } from '../sdk-js/program.js';

/** The admin credential of a server for production. */
const CREDENTIAL = 'a-credential-that-only-these-tests-know';

/** Rules that keep `/secret` for amy. */
export const SECRET = fileURLToPath(new URL('../sdk-js/secret.json', import.meta.url));

/** What an app is told so that it is the admin of a server for production: its credential in place of Google's. */
export const credential = { getAccessToken: async () => ({ access_token: CREDENTIAL, expires_in: 3600 }) };

/**
 * A server for production until the tests of this file are over, with the databases of `count` places. It is reached by
 * https, because over http the Admin SDK takes every server for an emulator and shows `owner`, whatever its credential is.
 */
export async function serveProduction(count) {
  const { TEST_CERT, TEST_KEY } = process.env;
  assert.ok(TEST_CERT, 'a certificate is needed: run `npm test`');
  const namespaces = Array.from({ length: count }, (_, at) => `place-${at + 1}`).join(',');
  const server = await start(HEARTH, [
    'serve', '--memory', '--port', '0', '--rules', SECRET, '--namespace', namespaces,
    '--tls-cert', TEST_CERT, '--tls-key', TEST_KEY,
  ], { stderr: 'inherit', env: { HEARTH_ADMIN_CREDENTIAL: CREDENTIAL } });
  after(async () => assert.equal(await server.end('SIGTERM'), 0, 'how the server ended'));
  return server.url;
}

let made = 0;

/**
 * Another app with its own connection, of the admin, or as `databaseAuthVariableOverride` says: of the user of this name,
 * of whom the object tells, or with `null` of nobody.
 */
export function client(place, user, options) {
  made += 1;
  const override = user === undefined ? {} : { databaseAuthVariableOverride: typeof user === 'string' ? { uid: user } : user };
  const app = initializeApp({ ...options, ...override }, `admin-${made}`);
  place.atEnd(() => deleteApp(app));
  return getDatabase(app);
}
