// A Hearth for the pages: one of its own, or the one at HEARTH_URL.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const BINARY = process.env.HEARTH_BIN ?? fileURLToPath(new URL('../../target/debug/hearth', import.meta.url));

/** Starts it, if there is none, and resolves to its address and its end. */
export async function startHearth(...options) {
  if (process.env.HEARTH_URL) {
    return { url: new URL(process.env.HEARTH_URL).origin, close: () => {} };
  }
  const child = spawn(BINARY, ['dev', '--memory', '--port', '0', ...options], { stdio: ['ignore', 'pipe', 'ignore'] });
  process.once('exit', () => child.kill('SIGKILL'));
  const url = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${BINARY} ended at once, with ${code}`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /^listening on (http:\S+)$/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  return {
    url,
    close: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
  };
}
