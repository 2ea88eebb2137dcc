// A Hearth for the pages: one of its own behind a witness, or the one at HEARTH_URL.

import assert from 'node:assert/strict';
import { HEARTH, WITNESS, start } from '../sdk-js/program.js';

/** Starts it, if there is none, and resolves to its address and its end. */
export async function startHearth(...options) {
  if (process.env.HEARTH_URL) {
    return { url: new URL(process.env.HEARTH_URL).origin, close: () => {} };
  }
  const server = await start(HEARTH, ['dev', '--memory', '--port', '0', ...options]);
  const witness = await start(WITNESS, [server.url], { stderr: 'inherit' });
  return {
    url: witness.url,
    close: async () => {
      assert.equal(await server.end('SIGTERM'), 0, `how the server ended: ${server.said()}`);
      assert.equal(await witness.end(), 0, 'the witness found that the server sent what an SDK cannot bear; see above');
    },
  };
}
