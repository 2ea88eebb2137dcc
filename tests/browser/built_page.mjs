// An example as its users would see it: built by Vite for one Hearth, and served.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';

/** Builds the example in `folder` into `out`, serves it on a free port, and resolves to its address and its end. */
export async function serveBuilt(folder, out, hearthUrl) {
  const vite = path.join(folder, 'node_modules/vite/bin/vite.js');
  if (!existsSync(vite)) {
    throw new Error(`${folder} is not installed: run \`npm ci\` there first`);
  }
  await promisify(execFile)(process.execPath, [vite, 'build', '--outDir', out, '--emptyOutDir'], {
    cwd: folder,
    env: { ...process.env, VITE_HEARTH_URL: hearthUrl },
  });
  const port = String(await freePort());
  const server = spawn(
    process.execPath,
    [vite, 'preview', '--outDir', out, '--host', '127.0.0.1', '--port', port, '--strictPort'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(server.stdout, 'data');
  server.stdout.resume();
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      if (server.exitCode === null) {
        server.kill();
        await once(server, 'exit');
      }
    },
  };
}

/** A port that nobody listens on. */
export async function freePort() {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address();
  probe.close();
  await once(probe, 'close');
  return port;
}
