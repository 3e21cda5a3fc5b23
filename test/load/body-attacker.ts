// A process that attacks a server with bodies, and the upstream of that server: it takes what it is sent, answers at once,
// and never ends a stream. At the lowest priority, for attackers have machines of their own.

import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { constants, setPriority } from 'node:os';
import { type HostileBody, hostileBodies } from './body-shapes.ts';

export interface AttackOrder {
  readonly address: string;
  /** Each connection uses one of them, in turn. */
  readonly secrets: readonly string[];
  readonly connections: number;
  /** Streams that are opened with bodies of 8 MB and stay open, beside the connections. */
  readonly streams: number;
  readonly lastsMs: number;
}

export interface AttackReport {
  readonly sent: number;
  readonly byStatus: Readonly<Record<string, number>>;
  /** Of the first connection. */
  readonly exchanges: readonly Exchange[];
}

export interface Exchange {
  readonly body: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly status: string;
}

setPriority(constants.priority.PRIORITY_LOW);

const upstream = createServer((incoming, response) => {
  const pieces: Buffer[] = [];
  incoming.on('data', (piece: Buffer) => pieces.push(piece));
  incoming.once('end', () => {
    if (Buffer.concat(pieces).includes('"stream":true')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      return;
    }
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"id":"1","object":"chat.completion","choices":[]}');
  });
});
upstream.listen(0, '127.0.0.1', () => process.send?.({ port: (upstream.address() as AddressInfo).port }));

process.on('message', (order: AttackOrder) => void attack(order).then((report) => process.send?.({ report })));

async function attack({ address, secrets, connections, streams, lastsMs }: AttackOrder): Promise<AttackReport> {
  const bodies = [...hostileBodies()];
  const byStatus: Record<string, number> = {};
  const untilMs = performance.now() + lastsMs;
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const exchanges: Exchange[] = [];
  let sent = 0;
  const run = async (index: number): Promise<void> => {
    for (let at = index; performance.now() < untilMs; at++) {
      // 7 has no divisor in common with their number: all of them have their turn.
      const body = bodies[(at * 7) % bodies.length];
      if (body === undefined) return;
      const fromMs = Date.now();
      const status = await send(body, { agent, address, secret: secrets[index % secrets.length] ?? '' });
      byStatus[status] = (byStatus[status] ?? 0) + 1;
      sent += 1;
      if (index === 0) exchanges.push({ body: body.name, fromMs, toMs: Date.now(), status });
    }
  };
  const content = 'x'.repeat(7_900_000);
  const bytes = Buffer.from(JSON.stringify({ model: 'silent', stream: true, messages: [{ role: 'user', content }] }));
  const open = new Agent({ keepAlive: true });
  const streaming = Array.from({ length: streams }, (_, index) =>
    send(
      { name: 'stream', path: '/ai/v1/chat/completions', bytes },
      { agent: open, address, secret: secrets[index % secrets.length] ?? '' },
    ),
  );
  await Promise.all(Array.from({ length: connections }, (_, index) => run(index)));
  open.destroy();
  agent.destroy();
  await Promise.all(streaming);
  return { sent, byStatus, exchanges };
}

interface Target {
  readonly agent: Agent;
  readonly address: string;
  readonly secret: string;
}

/** @returns its status, or what broke */
function send({ path, encoding, bytes }: HostileBody, { agent, address, secret }: Target): Promise<string> {
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${secret}`,
      'content-type': 'application/json',
      'content-length': bytes.length,
      ...(encoding === undefined ? {} : { 'content-encoding': encoding }),
    };
    const call = request(`${address}${path}`, { method: 'POST', agent, headers }, (reply) => {
      reply.resume();
      reply.once('close', () => resolve(String(reply.statusCode)));
    });
    call.setTimeout(60_000, () => call.destroy(new Error('timeout')));
    call.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    call.end(bytes);
  });
}
