// Everything through nginx with the configuration of `deploy/nginx.conf`: TLS in front, and all transports behind it.
//
//   NGINX       the program, if it is not that of the system

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import http2 from 'node:http2';
import net from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { HEARTH, start } from '../sdk-js/program.js';
import { Socket } from '../sdk-js/socket.js';
import { within } from '../sdk-js/within.js';
import { freePort } from './built_page.mjs';
import { transports } from './transports.mjs';

const NGINX = process.env.NGINX ?? '/usr/sbin/nginx';
const CONFIGURATION = new URL('../../deploy/nginx.conf', import.meta.url);
/** How long one nginx waits for a silent server, so that a test can wait longer. That server speaks every second. */
const SILENCE_S = 3;

/** The documented configuration with this machine's names, files and ports in place of those of an example. */
async function configuration(port, target, more) {
  const { TEST_CERT, TEST_KEY } = process.env;
  assert.ok(TEST_CERT, 'a certificate is needed: run `npm test`');
  let text = await readFile(CONFIGURATION, 'utf8');
  for (const [from, to] of [
    ['listen 443 ssl http2;', `listen 127.0.0.1:${port} ssl http2;`],
    ['server_name db.example.org *.db.example.org;', 'server_name 127.0.0.1;'],
    ['/etc/ssl/db.example.org/fullchain.pem', TEST_CERT],
    ['/etc/ssl/db.example.org/privkey.pem', TEST_KEY],
    ['server 127.0.0.1:9000;', `server ${new URL(target).host};`],
    ...more,
  ]) {
    assert.equal(text.split(from).length, 2, `deploy/nginx.conf has \`${from}\` once`);
    text = text.replace(from, to);
  }
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  return `daemon off; master_process off; pid nginx.pid; error_log stderr warn;
events {}
http { access_log off; ${temporary.join(' ')}
${text}}
`;
}

/**
 * Starts a Hearth and nginx in front of it, and resolves to the address of nginx and the end of both. There is no witness
 * between them: it does not follow a connection that carries requests first and a WebSocket then, as those of nginx do.
 */
async function startBehindNginx(options = [], more = []) {
  const hearth = await start(HEARTH, ['dev', '--memory', '--port', '0', ...options]);
  const folder = await mkdtemp(path.join(tmpdir(), 'hearth-nginx-'));
  const port = await freePort();
  await writeFile(path.join(folder, 'nginx.conf'), await configuration(port, hearth.url, more));
  const flags = ['-p', folder, '-c', path.join(folder, 'nginx.conf')];
  const nginx = spawn(NGINX, flags, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(nginx, 'exit');
  process.once('exit', () => nginx.kill('SIGKILL'));
  await within(Promise.race([isThere(port), ended.then(([code]) => assert.fail(`nginx ended with ${code}`))]), 'nginx');
  return {
    url: `https://127.0.0.1:${port}`,
    close: async () => {
      nginx.kill('SIGTERM');
      assert.deepEqual(await within(ended, 'the end of nginx'), [0, null], 'how nginx ended');
      await rm(folder, { recursive: true });
      assert.equal(await hearth.end('SIGTERM'), 0, `how the server ended: ${hearth.said()}`);
    },
  };
}

/** Resolves when somebody listens there. */
async function isThere(port) {
  for (;;) {
    const socket = net.connect(port, '127.0.0.1');
    const isOpen = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    socket.destroy();
    if (isOpen) return;
  }
}

transports(() => startBehindNginx());

let front;
before(async () => {
  front = await startBehindNginx(['--keep-alive', '1'], [
    ['proxy_read_timeout 75s;', `proxy_read_timeout ${SILENCE_S}s;`],
    ['proxy_send_timeout 75s;', `proxy_send_timeout ${SILENCE_S}s;`],
  ]);
});
after(() => front?.close());

/** An event stream: `next()` resolves with its next event and what it carries. */
async function stream(at) {
  const leave = new AbortController();
  const answer = await fetch(`${front.url}${at}`, { headers: { accept: 'text/event-stream' }, signal: leave.signal });
  assert.equal(answer.status, 200);
  const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const next = async () => {
    while (!text.includes('\n\n')) {
      const { done, value } = await pieces.read();
      if (done) return 'end';
      text += value;
    }
    const end = text.indexOf('\n\n');
    const event = text.slice(0, end).replace(/^event: (.*)\ndata: /, '$1 ');
    text = text.slice(end + 2);
    return event;
  };
  return { next: () => within(next(), `an event of ${at}`), close: () => leave.abort() };
}

test('an event stream is told at once, and lives through silence', async () => {
  const events = await stream('/at.json?ns=stream');
  assert.equal(await events.next(), 'put {"path":"/","data":null}', 'R077');
  for (const value of [1, 'é', { a: true }]) {
    const answer = await fetch(`${front.url}/at/b.json?ns=stream`, { method: 'PUT', body: JSON.stringify(value) });
    assert.equal(answer.status, 200);
    assert.equal(await events.next(), `put {"path":"/b","data":${JSON.stringify(value)}}`, 'R077');
  }
  const from = Date.now();
  while (Date.now() - from < (SILENCE_S + 1) * 1_000) assert.equal(await events.next(), 'keep-alive null', 'R075');
  events.close();
});

test('a quiet WebSocket lives longer than nginx waits', async () => {
  const socket = await within(Socket.open(front.url, 'quiet'), 'a handshake');
  // The stream tells the time meanwhile.
  const events = await stream('/at.json?ns=quiet');
  assert.equal(await events.next(), 'put {"path":"/","data":null}');
  for (let seconds = 0; seconds <= SILENCE_S + 1; seconds += 1) {
    assert.equal(await events.next(), 'keep-alive null', 'R075');
  }
  const answer = await within(socket.ask('p', { p: '/at', d: 1 }), 'an answer');
  assert.equal(answer.s, 'ok', 'R075');
  assert.equal(await events.next(), 'put {"path":"/","data":1}');
  events.close();
  socket.kill();
});

test('large bodies pass in both directions', async () => {
  const text = 'é'.repeat(5_000_000);
  const body = JSON.stringify({ a: text, b: text });
  const put = await fetch(`${front.url}/large.json?ns=large&print=silent`, { method: 'PUT', body });
  assert.equal(put.status, 204, await put.text());
  const got = await fetch(`${front.url}/large.json?ns=large`);
  assert.equal(await got.text(), body);
});

test('what clients ask and are told over REST comes through, by HTTP/2 too', async () => {
  const tagged = await fetch(`${front.url}/n.json?ns=rest`, { headers: { 'x-firebase-etag': 'true' } });
  assert.equal(tagged.headers.get('etag'), 'null_etag');
  const write = (match) => fetch(`${front.url}/n.json?ns=rest`, {
    method: 'PUT', body: '1', headers: { 'if-match': match },
  });
  assert.equal((await write('null_etag')).status, 200);
  const stale = await write('null_etag');
  assert.deepEqual([stale.status, await stale.json()], [412, 1]);
  const session = http2.connect(front.url);
  const request = session.request({ ':path': '/n.json?ns=rest' });
  const [headers] = await within(once(request, 'response'), 'an answer by HTTP/2');
  const text = (await request.setEncoding('utf8').toArray()).join('');
  session.close();
  assert.deepEqual([headers[':status'], text.trim()], [200, '1']);
});
