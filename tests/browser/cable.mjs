// The network between the pages and Hearth, as something that a test can cut and mend.

import { once } from 'node:events';
import net from 'node:net';

/** A port that carries every connection to `target` (a URL) while it is whole. */
export async function layCable(target) {
  const { protocol, hostname, port } = new URL(target);
  const ends = new Set();
  let whole = true;
  const server = net.createServer((near) => {
    if (!whole) {
      near.destroy();
      return;
    }
    const far = net.connect(Number(port || 80), hostname);
    for (const [end, other] of [[near, far], [far, near]]) {
      ends.add(end);
      end.on('error', () => other.destroy());
      end.on('close', () => {
        ends.delete(end);
        other.destroy();
      });
      end.pipe(other);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const cut = () => {
    whole = false;
    ends.forEach((end) => end.destroy());
  };
  return {
    url: `${protocol}//127.0.0.1:${server.address().port}`,
    cut,
    mend: () => {
      whole = true;
    },
    close: () => {
      cut();
      server.close();
    },
  };
}
