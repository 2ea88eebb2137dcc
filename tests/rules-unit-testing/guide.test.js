// What docs/testing-rules.md shows is run as somebody would who reads it.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { serve } from './environment.js';

const { url, at } = await serve();

test('the guide\'s test passes, and covers what it says', async (t) => {
  const guide = await readFile(new URL('../../docs/testing-rules.md', import.meta.url), 'utf8');
  const block = (language) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(guide)[1];
  // Below this folder, where the library is found.
  const folder = await mkdtemp(new URL('guide-', import.meta.url).pathname);
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(`${folder}/notes.test.mjs`, block('js'));
  await writeFile(`${folder}/rules.json`, block('json'));
  const { NODE_TEST_CONTEXT, ...env } = process.env;
  env.FIREBASE_DATABASE_EMULATOR_HOST = `${at.host}:${at.port}`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--test', `${folder}/notes.test.mjs`], { env });
  assert.match(stdout, /pass 1\n/);
  const report = await (await fetch(`${url}/.inspect/coverage.json?ns=demo-notes`)).json();
  assert.deepEqual(report.rules.map(({ kind, counts }) => [kind, counts.true, counts.false]), [
    ['.read', 1, 1], ['.write', 1, 1], ['.validate', 1, 0],
  ]);
});
