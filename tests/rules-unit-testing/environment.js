// The real server behind the witness, and environments of Firebase's library in it.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { initializeTestEnvironment } from '@firebase/rules-unit-testing';
import { setLogLevel } from 'firebase/app';
import { HEARTH, WITNESS, start } from '../sdk-js/program.js';

// The client warns about every refusal, and here most refusals are wanted.
setLogLevel('silent');

/**
 * A server until the tests of this file are over: its address, and `environment(t, options)`, which makes one for a test
 * whose database nobody else has. Without other `rules`, these are its rules.
 */
export async function serve(usual, ...options) {
  const server = await start(HEARTH, ['dev', '--memory', '--port', '0', ...options], { stderr: 'inherit' });
  const witness = await start(WITNESS, [server.url], { stderr: 'inherit' });
  after(async () => {
    assert.equal(await server.end('SIGTERM'), 0, 'how the server ended');
    assert.equal(await witness.end(), 0, 'the witness found that the server sent what an SDK cannot bear; see above');
  });
  const { hostname, port } = new URL(witness.url);
  const at = { host: hostname, port: Number(port) };
  let made = 0;
  const environment = async (t, { rules = usual, ...others } = {}) => {
    made += 1;
    const env = await initializeTestEnvironment({ projectId: `demo-${made}`, database: { ...at, rules }, ...others });
    t.after(() => env.cleanup());
    return env;
  };
  return { url: witness.url, at, environment };
}
