// Where a proxy before PostgreSQL is reached.

import { once } from 'node:events';
import type { Server } from 'node:net';

export async function listenAnywhere(server: Server): Promise<void> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

/** The same address by way of the proxy. */
export function urlBy(server: Server, url: string): string {
  const { port } = server.address() as { port: number };
  const changed = new URL(url);
  changed.port = String(port);
  return changed.href;
}
