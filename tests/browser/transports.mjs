// The official client in Chromium, over each of its transports. In Node it has only one of them.

import assert from 'node:assert/strict';
import { after, afterEach, before, test } from 'node:test';
import { layCable } from './cable.mjs';
import { openChromium } from './chromium.mjs';
import { serveSdk } from './sdk_page.mjs';

const WAIT_MS = 20_000;
/** Forced to long polling, forced to WebSockets, and from the first to the second. */
const TRANSPORTS = ['polls', 'socket', 'upgrade'];

let hearth, site, browser;
let places = 0;
let contexts = [];
let errors = [];

/** These tests, with a server that `begin` starts: it resolves to its address and its end. */
export function transports(begin) {
  before(async () => {
    hearth = await begin();
    site = await serveSdk();
    browser = await openChromium();
  });

  after(async () => {
    await browser?.close();
    site?.close();
    await hearth?.close();
  });

  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()));
    assert.deepEqual(errors.splice(0), [], 'a page threw');
  });

  for (const transport of TRANSPORTS) {
    test(`${transport}: two pages see what each other writes`, async () => {
      const [ada, grace] = await pages(2, transport);
      await seen(ada, '/room');
      await grace.evaluate(() => sdk.set(sdk.at('/room'), { text: '</script><!-- \u2028 é😀', __proto__x: 1, n: 0 }));
      await isSeen(ada, { text: '</script><!-- \u2028 é😀', __proto__x: 1, n: 0 });
      await ada.evaluate(() => sdk.update(sdk.at('/'), { 'room/n': 1, 'room/text': null, 'other': true }));
      await isSeen(ada, { __proto__x: 1, n: 1 });
      assert.deepEqual(await grace.evaluate(() => sdk.get(sdk.at('/')).then((found) => found.val())), {
        room: { __proto__x: 1, n: 1 }, other: true,
      });
      // Events of one's own writes, in their order.
      await seen(grace, '/counted');
      await grace.evaluate(async () => {
        for (let number = 1; number <= 50; number += 1) sdk.set(sdk.at('/counted'), number);
        await sdk.set(sdk.at('/counted'), 'end');
      });
      assert.deepEqual(await grace.evaluate(() => seen), [null, ...Array.from({ length: 50 }, (_, n) => n + 1), 'end']);
      assert.equal(await used(grace), transport);
    });

    test(`${transport}: a key that means something to scripts is a key`, async () => {
      const [ada] = await pages(1, transport);
      // As text: in a program, too, it would be no key.
      await put('/odd', '{"__proto__": {"x": 1}, "constructor": 2, "<b>": "__proto__"}', ada);
      const keys = await ada.evaluate(() => sdk.get(sdk.at('/odd')).then((found) => {
        const keys = [];
        found.forEach((child) => { keys.push(child.key); });
        return keys;
      }));
      assert.deepEqual(keys, ['<b>', '__proto__', 'constructor']);
    });

    test(`${transport}: transactions of two pages all count`, async () => {
      const [ada, grace] = await pages(2, transport);
      const count = (page) => page.evaluate(() => Promise.all(Array.from({ length: 15 }, () =>
        sdk.runTransaction(sdk.at('/count'), (count) => (count ?? 0) + 1).then(({ committed }) => committed))));
      const committed = (await Promise.all([count(ada), count(grace)])).flat();
      assert.deepEqual(committed, Array(30).fill(true));
      assert.equal(await ada.evaluate(() => sdk.get(sdk.at('/count')).then((found) => found.val())), 30);
    });

    test(`${transport}: a page that goes leaves what it has armed`, async () => {
      const [watching, closed, left] = await pages(3, transport);
      await seen(watching, '/status');
      for (const [page, name] of [[closed, 'closed'], [left, 'left']]) {
        await page.evaluate((name) => sdk.onDisconnect(sdk.at(`/status/${name}`)).set('gone'), name);
        // Afterwards, for an upgrade too, the session lives.
        await page.evaluate((name) => sdk.set(sdk.at(`/status/${name}`), 'here'), name);
      }
      await isSeen(watching, { closed: 'here', left: 'here' });
      if (transport === 'upgrade') {
        await Promise.all([closed, left].map(isOverSocket));
        await closed.evaluate(() => sdk.set(sdk.at('/status/closed'), 'still here'));
        await isSeen(watching, { closed: 'still here', left: 'here' });
      }
      await closed.close();
      await left.goto('about:blank');
      await isSeen(watching, { closed: 'gone', left: 'gone' });
    });

    test(`${transport}: 16 MB are told as they are, and what changes behind them`, async () => {
      const [ada, grace] = await pages(2, transport);
      // 16 texts with all that scripts and frames could stumble over.
      const text = '<_é\u2028😀'.repeat(70_000);
      const large = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, text]));
      await put('/large', JSON.stringify(large), ada);
      await seen(ada, '/large');
      await grace.evaluate(() => sdk.set(sdk.at('/large/k0'), 'changed'));
      await ada.waitForFunction(() => window.seen.at(-1).k0 === 'changed', null, { timeout: WAIT_MS });
      const same = (page) => page.evaluate((text) => Array.from({ length: 15 }, (_, at) => window.seen.at(-1)[`k${at + 1}`])
        .every((own) => own === text), text);
      assert.ok(await same(ada), 'what a listener shows');
      await seen(grace, '/large');
      assert.ok(await same(grace), 'what a later one shows');
    });

    test(`${transport}: a write of a megabyte arrives, through another port`, async () => {
      // The handshake names the host that the client has asked for, not where the server listens.
      const cable = await layCable(hearth.url);
      try {
        const [ada, grace] = await pages(2, transport, newDatabase(cable.url));
        await ada.evaluate(() => sdk.set(sdk.at('/large'), 'é'.repeat(500_000)));
        assert.equal(await grace.evaluate(() => sdk.get(sdk.at('/large')).then((found) => found.val().length)), 500_000, 'R081');
        await seen(grace, '/.info/connected');
        await isSeen(grace, true);
        cable.cut();
        await isSeen(grace, false);
        cable.mend();
        await isSeen(grace, true);
        assert.equal(await grace.evaluate(() => sdk.get(sdk.at('/large')).then((found) => found.val().length)), 500_000);
        const hosts = new Set(grace.hosts);
        hosts.delete(new URL(site.url).host);
        assert.deepEqual([...hosts], [new URL(cable.url).host]);
      } finally {
        cable.close();
      }
    });
  }

  test('nothing is lost where a WebSocket takes over', async () => {
    const database = newDatabase();
    const [watching] = await pages(1, 'socket', database);
    await seen(watching, '/list');
    const [busy] = await pages(1, 'upgrade', database);
    const written = await busy.evaluate(async () => {
      const seen = [];
      sdk.onChildAdded(sdk.at('/list'), (child) => seen.push(child.val()));
      let number = 0;
      const until = performance.now() + 3_000;
      while (performance.now() < until) {
        await Promise.all([0, 1, 2].map(() => sdk.push(sdk.at('/list'), number++)));
      }
      await sdk.push(sdk.at('/list'), 'end');
      return { number, seen };
    });
    await isOverSocket(busy);
    const expected = [...Array.from({ length: written.number }, (_, number) => number), 'end'];
    assert.deepEqual(written.seen, expected);
    await watching.waitForFunction(() => Object.values(seen.at(-1)).at(-1) === 'end', null, { timeout: WAIT_MS });
    assert.deepEqual(await watching.evaluate(() => Object.values(seen.at(-1))), expected);
  });
}

/** A database that nobody has used. */
function newDatabase(url = hearth.url) {
  places += 1;
  return `${url}?ns=sdk-${process.pid}-${places}`;
}

/** So many pages, connected to one database. */
async function pages(count, transport, database = newDatabase()) {
  return Promise.all(Array.from({ length: count }, async () => {
    // The certificate of a server behind TLS is made for these tests.
    const context = await browser.newContext({ ignoreHTTPSErrors: true });
    contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    page.database = database;
    page.hosts = [];
    page.polls = 0;
    page.sockets = 0;
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('request', (request) => {
      const { host, pathname } = new URL(request.url());
      page.hosts.push(host);
      page.polls += pathname === '/.lp' ? 1 : 0;
    });
    page.on('websocket', (socket) => {
      page.hosts.push(new URL(socket.url()).host);
      page.sockets += 1;
      // An upgrade has come to its end when data comes by the socket.
      socket.on('framereceived', ({ payload }) => {
        page.isOverSocket ||= String(payload).startsWith('{"t":"d"');
      });
    });
    await page.goto(`${site.url}?${new URLSearchParams({ transport, database })}`);
    await page.waitForFunction(() => window.sdk !== undefined);
    await page.evaluate(() => new Promise((resolve) => {
      sdk.onValue(sdk.at('/.info/connected'), (connected) => connected.val() && resolve());
    }));
    return page;
  }));
}

/** Listens, and keeps what comes. Resolves when the first has come. */
function seen(page, path) {
  return page.evaluate((path) => new Promise((resolve, reject) => {
    window.seen = [];
    sdk.onValue(sdk.at(path), (value) => {
      window.seen.push(value.val());
      resolve();
    }, reject);
  }), path);
}

/** Waits until the last thing that has come is this. */
async function isSeen(page, value) {
  // Of two objects with the same children; the order of their keys is not looked at.
  await page.waitForFunction((expected) => {
    const sorted = (value) => JSON.stringify(value, (_, part) => (part !== null && typeof part === 'object'
      ? Object.fromEntries(Object.entries(part).sort()) : part));
    return sorted(window.seen.at(-1)) === sorted(expected);
  }, value, { timeout: WAIT_MS });
}

async function isOverSocket(page) {
  for (let writes = 0; !page.isOverSocket; writes += 1) {
    assert.ok(writes < 500, 'the WebSocket did not take over');
    await page.evaluate(() => sdk.set(sdk.at('/beat'), Math.random()));
  }
}

/** Which transports a page has used. */
async function used(page) {
  if (page.polls === 0) return 'socket';
  if (page.sockets === 0) return 'polls';
  await isOverSocket(page);
  return 'upgrade';
}

/** Writes JSON text over REST. */
async function put(path, json, page) {
  const { origin, searchParams } = new URL(page.database);
  const response = await fetch(`${origin}${path}.json?ns=${searchParams.get('ns')}`, { method: 'PUT', body: json });
  assert.equal(response.status, 200, await response.text());
}
