// A page that has the official client and nothing else, from the package that `tests/sdk-js` pins.
//
// Why at `localhost` when Hearth is at 127.0.0.1: to a browser these are two sites, and that is how many developers have it.

import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';

const PACKAGE = new URL('../sdk-js/node_modules/firebase/', import.meta.url);
/** Where the modules of the package look for each other. */
const ELSEWHERE = /https:\/\/www\.gstatic\.com\/firebasejs\/[0-9.]+\//g;

const PAGE = `<!DOCTYPE html>
<meta charset="utf-8">
<title>The client</title>
<link rel="icon" href="data:,">
<script type="module">
  import { initializeApp, setLogLevel } from './firebase-app.js';
  import * as sdk from './firebase-database.js';
  setLogLevel('silent');
  const params = new URL(location.href).searchParams;
  const transport = params.get('transport');
  if (transport === 'polls') sdk.forceLongPolling();
  if (transport === 'socket') sdk.forceWebSockets();
  // As after a WebSocket that had no time to prove itself.
  if (transport === 'upgrade') localStorage.setItem('firebase:previous_websocket_failure', 'true');
  const db = sdk.getDatabase(initializeApp({ databaseURL: params.get('database') }));
  window.sdk = { ...sdk, db, at: (path) => sdk.ref(db, path) };
</script>
`;

/** Serves it on a free port, and resolves to its address and its end. */
export async function serveSdk() {
  const modules = new Map(await Promise.all(['firebase-app.js', 'firebase-database.js'].map(async (name) =>
    [`/${name}`, (await readFile(new URL(name, PACKAGE), 'utf8')).replaceAll(ELSEWHERE, './')])));
  const server = http.createServer(({ url }, response) => {
    const { pathname } = new URL(url, 'http://localhost');
    const isPage = pathname === '/';
    const text = isPage ? PAGE : modules.get(pathname);
    response.writeHead(text === undefined ? 404 : 200, {
      'content-type': `${isPage ? 'text/html' : 'text/javascript'}; charset=utf-8`,
    });
    response.end(text);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://localhost:${server.address().port}/`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
