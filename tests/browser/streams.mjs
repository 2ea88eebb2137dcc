// A browser's own EventSource, which comes back by itself with the id of the last event.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HEARTH, start } from '../sdk-js/program.js';
import { layCable } from './cable.mjs';
import { openChromium } from './chromium.mjs';

test('an EventSource that was cut is told what it has missed and no more', { timeout: 60_000 }, async (t) => {
  const server = await start(HEARTH, ['dev', '--memory', '--port', '0']);
  t.after(() => server.end('SIGTERM'));
  const cable = await layCable(server.url);
  t.after(() => cable.close());
  const put = async (at, value) => {
    const answer = await fetch(`${server.url}${at}.json`, { method: 'PUT', body: JSON.stringify(value) });
    assert.equal(answer.status, 200);
  };
  await put('/s', { a: 1, b: { c: 2 } });
  const browser = await openChromium();
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(`${cable.url}/healthz`);
  await page.evaluate(() => {
    window.told = [];
    const source = new EventSource('/s.json?eventIds=true');
    for (const name of ['put', 'patch', 'keep-alive']) {
      source.addEventListener(name, ({ data }) => window.told.push(`${name} ${data}`));
    }
  });
  const told = async (count) => {
    await page.waitForFunction((count) => count <= window.told.length, count);
    return page.evaluate(() => window.told.splice(0));
  };
  assert.deepEqual(await told(1), ['put {"path":"/","data":{"a":1,"b":{"c":2}}}']);
  cable.cut();
  await put('/s/b/c', 3);
  await put('/elsewhere', 1);
  cable.mend();
  assert.deepEqual(await told(1), ['put {"path":"/b/c","data":3}']);
  cable.cut();
  cable.mend();
  assert.deepEqual(await told(1), ['keep-alive null'], 'nothing was missed');
  await put('/s/a', 4);
  assert.deepEqual(await told(1), ['put {"path":"/a","data":4}'], 'and it goes on');
});
