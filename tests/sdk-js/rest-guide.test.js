// What docs/rest.md shows is run as somebody would who reads it, and answered as it says.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { after, test } from 'node:test';
import { HEARTH, start } from './program.js';
import { within } from './within.js';

const server = await start(HEARTH, ['dev', '--memory', '--port', '0']);
const running = new Set();
after(async () => {
  for (const child of running) child.kill();
  await server.end('SIGTERM');
});

/** What is another each time. */
const made = [
  [/"-[-\w]{19}"/g, '"PUSH_ID"'],
  [/\b1\d{12}\b/g, 'TIME'],
  [/^id: [-\w]{43}$/gm, 'id: EVENT_ID'],
  [/("(?:rules|find|spell|total)" : )\d+/g, '$1MICROSECONDS'],
];
const plain = (text) => made.reduce((text, [found, name]) => text.replace(found, name), text).replaceAll('\r', '').trim();

/** A shell that runs commands; what it says comes in `said`. */
function run(commands) {
  const child = spawn('bash', ['-c', commands], { env: { ...process.env, DB: server.url } });
  const own = { said: '', told: 0, ended: undefined, more: () => {} };
  running.add(child);
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (piece) => {
      own.said += piece;
      own.more();
    });
  }
  own.ended = new Promise((resolve) => child.once('close', () => {
    running.delete(child);
    resolve();
  }));
  return own;
}

/** The next events of a stream, as long as those that are expected. */
async function tell(stream, expected) {
  const count = expected.split('\n\n').length;
  const events = () => stream.said.slice(stream.told).split('\n\n').slice(0, -1);
  const enough = new Promise((resolve) => {
    stream.more = () => events().length >= count && resolve();
    stream.more();
  });
  await within(enough, expected, () => stream.said);
  const told = `${events().slice(0, count).join('\n\n')}\n\n`;
  stream.told += told.length;
  return told;
}

test('every command of the guide is answered as it says', async () => {
  const guide = await readFile(new URL('../../docs/rest.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text]) => ({ language, text }));
  assert.ok(blocks.filter(({ language }) => language === 'sh').length > 20, 'the guide has its commands');
  let [said, stream, id] = ['', undefined, ''];
  for (const { language, text } of blocks) {
    if (language === 'sh' && !text.startsWith('DB=')) {
      assert.equal(said, '', `the guide does not show what is answered before ${text}`);
      const commands = text.replaceAll('Last-Event-ID: EVENT_ID', `Last-Event-ID: ${id}`);
      const own = run(commands);
      if (text.includes('text/event-stream')) {
        stream = own;
      } else {
        await within(own.ended, text, () => own.said);
        said = own.said;
      }
    } else if (language === 'text' && text.startsWith('event: ')) {
      const told = await tell(stream, text.trim());
      id = /^id: (.*)$/m.exec(told)?.[1] ?? id;
      assert.equal(plain(told), plain(text));
    } else if (language === 'json' || language === 'text') {
      assert.equal(plain(said), plain(text));
      said = '';
    }
  }
  assert.equal(said, '');
});
