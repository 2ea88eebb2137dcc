// examples/chat in Chromium, against a Hearth with its rules.
//
// The screen is the only witness: what a page shows is waited for, never slept for. Every test makes a room of its own,
// so that they hold on a server that has been in use.
//
//   HEARTH_URL   a `hearth dev` to use instead of one of our own
//   HEARTH_BIN   the binary, if it is not target/debug/hearth
//   CHROMIUM     the browser, if it is not /usr/bin/chromium
//   SCREENSHOTS  where to leave pictures, if not in a new temporary directory

import assert from 'node:assert/strict';
import { mkdtemp, mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { serveBuilt } from './built_page.mjs';
import { layCable } from './cable.mjs';
import { openChromium } from './chromium.mjs';
import { startHearth } from './hearth.mjs';

const EXAMPLE = fileURLToPath(new URL('../../examples/chat', import.meta.url));
const PAGE = 50; // As in the example: so many messages come at a time.
const WAIT_MS = 20_000;

let hearth, scratch, pictures, cable, site, browser;
let visitors = [];

before(async () => {
  hearth = await startHearth('--rules', path.join(EXAMPLE, 'rules.json'));
  scratch = await mkdtemp(path.join(tmpdir(), 'hearth-chat-'));
  pictures = process.env.SCREENSHOTS ?? await mkdtemp(path.join(tmpdir(), 'hearth-chat-pictures-'));
  await mkdir(pictures, { recursive: true });
  cable = await layCable(hearth.url);
  site = await serveBuilt(EXAMPLE, path.join(scratch, 'page'), cable.url);
  browser = await openChromium();
});

after(async () => {
  await browser?.close();
  await site?.close();
  cable?.close();
  await hearth?.close();
  if (scratch !== undefined) {
    await rm(scratch, { recursive: true });
  }
});

beforeEach(() => {
  visitors = [];
  cable.mend();
});

afterEach(async () => {
  await Promise.all(visitors.map(({ context }) => context.close()));
  assert.deepEqual(visitors.flatMap(({ errors }) => errors), [], 'a page threw');
});

test('two people talk, and see each other type, come and go', async (t) => {
  t.diagnostic(`pictures are in ${pictures}`);
  const ada = await comeIn('Ada');
  await takePicture(ada, 'first-start');
  const room = await makeRoom(ada, 'Analytical engines');
  const grace = await comeIn('Grace', { address: room });
  await join(grace);

  await shows(ada.locator('#members .online'), 'Grace');
  await shows(grace.locator('#members .online'), 'Ada');

  await grace.locator('#text').pressSequentially('Good ev');
  await shows(ada.locator('#typing'), 'Grace is typing…');
  await grace.locator('#text').pressSequentially('ening, Ada');
  await grace.keyboard.press('Shift+Enter');
  await grace.locator('#text').pressSequentially('How is the engine?');
  await grace.keyboard.press('Enter');
  await shows(ada.locator('.message:not(.mine)'), 'Good evening, Ada\nHow is the engine?');
  await isGone(ada.locator('#typing', { hasText: 'typing' }));
  await say(ada, 'It weaves algebraical patterns.');
  await shows(grace.locator('.message:not(.mine)'), 'It weaves algebraical patterns.');
  await shows(grace.locator('#mine .last'), 'Ada: It weaves algebraical patterns.');
  await takePicture(ada, 'conversation');

  await grace.context().close();
  await shows(ada.locator('#members .member:not(.online)'), 'Grace');
  await shows(ada.locator('#room-people'), '2 members, 1 online');
  await takePicture(ada, 'one-has-left');
});

test('of two tabs of one person, closing one leaves them online', async () => {
  const ada = await comeIn('Ada');
  const room = await makeRoom(ada, 'Two tabs');
  const grace = await comeIn('Grace', { address: room });
  await join(grace);
  const second = await grace.context().newPage();
  await second.goto(room);
  await shows(second.locator('#members .online'), 'Grace (you)');
  // The second tab has said so to the server, and the first can go.
  await say(second, 'here as well');
  await shows(ada.locator('.message'), 'here as well');
  await grace.close();
  await say(ada, 'still there?');
  await shows(second.locator('.message'), 'still there?');
  await say(second, 'yes');
  await shows(ada.locator('.message'), 'yes');
  await shows(ada.locator('#members .online'), 'Grace');
  await second.close();
  await shows(ada.locator('#members .member:not(.online)'), 'Grace');
});

test('history comes back page by page, in order, and the reader keeps the place', async () => {
  const ada = await comeIn('Ada');
  const room = await makeRoom(ada, 'Long talk');
  const said = Array.from({ length: PAGE + 60 }, (_, number) => `number ${String(number).padStart(3, '0')}`);
  for (const text of said) {
    await say(ada, text);
  }
  await isGone(ada.locator('.unconfirmed'));

  const grace = await comeIn('Grace', { address: room });
  await join(grace);
  await shows(grace.locator('.message'), said.at(-1));
  const newest = said.slice(-PAGE);
  assert.deepEqual(await textsOf(grace), newest);

  const oldestShown = grace.locator('.message', { hasText: newest[0] });
  await grace.locator('#messages').evaluate((list) => {
    list.scrollTop = 1;
  });
  await grace.locator('.message', { hasText: said.at(-2 * PAGE) }).waitFor({ state: 'attached', timeout: WAIT_MS });
  const box = await oldestShown.boundingBox();
  const list = await grace.locator('#messages').boundingBox();
  assert.ok(
    list.y <= box.y && box.y < list.y + list.height,
    `what was at the top is still on the screen: at ${box.y}, the list at ${list.y} and ${list.height} high`,
  );
  assert.deepEqual(await textsOf(grace), said.slice(-2 * PAGE));
  await shows(grace.locator('#to-newest'), 'Newest messages');
  await takePicture(grace, 'paged-back');

  await grace.locator('#messages').evaluate((scroller) => {
    scroller.scrollTop = 0;
  });
  await grace.locator('#beginning').waitFor({ timeout: WAIT_MS });
  assert.deepEqual(await textsOf(grace), said);

  await say(ada, 'news');
  await shows(grace.locator('#to-newest'), 'New messages');
  await grace.locator('#to-newest').click();
  await shows(grace.locator('.message'), 'news');
  assert.deepEqual(await textsOf(grace), [...said, 'news'], 'the window slid, and history stayed');
});

test('what was said elsewhere is marked unread until it is opened', async () => {
  const ada = await comeIn('Ada');
  const there = await makeRoom(ada, 'There');
  const grace = await comeIn('Grace', { address: there });
  await join(grace);
  await say(ada, 'first');
  await shows(grace.locator('.message'), 'first');
  await makeRoom(ada, 'Here');
  await say(grace, 'second');
  const marked = ada.locator('.room-row.unread', { hasText: 'There' });
  await shows(marked, 'Grace: second');
  assert.equal(await ada.title(), '(1) Hearth chat');
  await takePicture(ada, 'unread');

  await marked.click();
  await shows(ada.locator('.separator.new + .message'), 'second');
  await isGone(marked);
  assert.equal(await ada.title(), 'Hearth chat');
});

test('offline is said, and what was written then is sent afterwards', async () => {
  const ada = await comeIn('Ada');
  const room = await makeRoom(ada, 'Weak signal');
  const grace = await comeIn('Grace', { address: room });
  await join(grace);
  await shows(ada.locator('#members .online'), 'Grace');

  cable.cut();
  await shows(ada.locator('#offline'), 'Offline');
  await say(ada, 'into the tunnel');
  await shows(ada.locator('.unconfirmed'), 'into the tunnel');
  // Who is there cannot be known.
  await isGone(ada.locator('.online-count'));
  await takePicture(ada, 'offline');
  assert.deepEqual(await textsOf(grace), []);

  cable.mend();
  await shows(grace.locator('.message'), 'into the tunnel');
  await isGone(ada.locator('.unconfirmed'));
  await isGone(ada.locator('#offline'));
  await shows(ada.locator('.online-count'), '2 online');
  await shows(ada.locator('#members .online'), 'Grace');
  await shows(grace.locator('#members .online'), 'Ada');
});

test('after a long time offline there is no hole in the conversation', async () => {
  const ada = await comeIn('Ada');
  const room = await makeRoom(ada, 'Sleeping phone');
  const before = Array.from({ length: PAGE }, (_, number) => `before ${String(number).padStart(3, '0')}`);
  for (const text of before) {
    await say(ada, text);
  }
  await isGone(ada.locator('.unconfirmed'));

  cable.cut();
  await shows(ada.locator('#offline'), 'Offline');
  const missed = Array.from({ length: PAGE + 20 }, (_, number) => `missed ${String(number).padStart(3, '0')}`);
  await writeBehind(room, await ada.locator('.message').last().getAttribute('data-id'), missed);
  // Her own words stand beyond the hole, and must not be taken for its other side.
  await say(ada, 'is anybody there?');
  cable.mend();
  await shows(ada.locator('.message'), missed.at(-1));
  await isGone(ada.locator('.unconfirmed'));
  assert.deepEqual(await textsOf(ada), [...missed.slice(1 - PAGE), 'is anybody there?']);

  // Back to the beginning, as far as it takes.
  await ada.locator('#messages').evaluate((list) => {
    list.scrollTop = 0;
  });
  await shows(ada.locator('.message'), missed[0]);
  await ada.locator('#messages').evaluate((list) => {
    list.scrollTop = 0;
  });
  await ada.locator('#beginning').waitFor({ timeout: WAIT_MS });
  assert.deepEqual(await textsOf(ada), [...before, ...missed, 'is anybody there?']);
});

test('nobody\'s words become part of the page', async () => {
  const ada = await comeIn('<b>Ada</b>');
  const room = await makeRoom(ada, '<i>Markup</i>');
  const grace = await comeIn('Grace', { address: room });
  await join(grace);
  const attack = '<img src=x onerror="document.title=1"><script>document.title=2</script>&amp;';
  await say(ada, attack);
  await shows(grace.locator('.message'), attack);
  await shows(grace.locator('#room-title'), '<i>Markup</i>');
  await shows(grace.locator('#members'), '<b>Ada</b>');
  assert.equal(await grace.locator('#shell :is(img, i, b, script)').count(), 0);
});

test('on a phone there is one thing at a time, and nothing is wider than the screen', async () => {
  const phone = { viewport: { width: 375, height: 700 }, hasTouch: true, isMobile: true, colorScheme: 'dark' };
  const ada = await comeIn('Ada', phone);
  const room = await makeRoom(ada, 'A room whose title is much too long for a phone to show');
  const grace = await comeIn('Grace', { address: room });
  await join(grace);
  await say(grace, 'w'.repeat(200));
  await say(grace, 'Does it fit?');
  await shows(ada.locator('.message'), 'Does it fit?');
  await say(ada, 'It does.');
  await takePicture(ada, 'phone');
  assert.equal(await ada.locator('nav.rooms').isVisible(), false);
  assert.equal(await ada.evaluate(() => document.documentElement.scrollWidth), 375);

  await ada.locator('#show-members').click();
  await ada.locator('#members-panel').waitFor();
  await takePicture(ada, 'phone-members');
  await ada.keyboard.press('Escape');
  await isGone(ada.locator('#members-panel'));
  await ada.locator('#back').click();
  await ada.locator('nav.rooms').waitFor();
  assert.equal(await ada.locator('#room').isVisible(), false);
  await takePicture(ada, 'phone-rooms');
});

test('leaving ends both sides of the membership', async () => {
  const ada = await comeIn('Ada');
  const room = await makeRoom(ada, 'Short visit');
  const grace = await comeIn('Grace', { address: room });
  await join(grace);
  await shows(ada.locator('#room-people'), '2 members');
  await grace.locator('#leave').click();
  await shows(ada.locator('#room-people'), '1 member,');
  await shows(grace.locator('#others .title'), 'Short visit');
  await isGone(grace.locator('#mine .title', { hasText: 'Short visit' }));
});

/** Somebody new, in a browser context of their own. */
async function comeIn(name, { address = site.url, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: 'en-GB', ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  visitors.push({ context, errors });
  await page.goto(address);
  await page.getByLabel('Your name').fill(name);
  await page.getByRole('button', { name: 'Come in' }).click();
  await page.locator('#shell').waitFor();
  return page;
}

/** Resolves to the address of the new room. */
async function makeRoom(page, title) {
  await page.getByLabel('Title of a new room').fill(title);
  await page.getByRole('button', { name: 'Create' }).click();
  await shows(page.locator('#room-title'), title);
  await page.locator('#composer').waitFor();
  return page.url();
}

async function join(page) {
  await page.getByRole('button', { name: 'Join', exact: true }).click();
  await page.locator('#composer').waitFor();
}

async function say(page, text) {
  await page.locator('#text').fill(text);
  await page.locator('#text').press('Enter');
}

async function shows(locator, text) {
  await locator.filter({ hasText: text }).first().waitFor({ timeout: WAIT_MS });
}

async function isGone(locator) {
  await locator.first().waitFor({ state: 'hidden', timeout: WAIT_MS });
}

function textsOf(page) {
  return page.locator('.message p').allTextContents();
}

async function takePicture(page, name) {
  await page.screenshot({ path: path.join(pictures, `${name}.png`) });
}

/** Messages of a stranger right after the message `id`, past the cable and with the rights of the operator. */
async function writeBehind(address, id, texts) {
  const room = new URL(address).hash.slice(1);
  const at = Date.now();
  const messages = texts.map((text, number) => [
    // Sorts after that id, and before every one made later.
    `${id}${String(number).padStart(3, '0')}`,
    { from: 'stranger', name: 'Mary', text, at },
  ]);
  const response = await fetch(new URL(`/messages/${room}.json?ns=chat`, hearth.url), {
    method: 'PATCH',
    headers: { Authorization: 'Bearer owner' },
    body: JSON.stringify(Object.fromEntries(messages)),
  });
  assert.equal(response.status, 200, await response.text());
}
