// What OpenTelemetry adds to a decision, from end to end: `npm run bench:tracing [-- --pairs 400]`. Two servers, one of which
// sends a trace of every request and its metrics to a collector in this process, are asked in turns, request by request, so
// that both have the same machine. What is added is the median of the differences; CPU time is of the server's processes.

import { createServer, type Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { percentile } from './load/statistics.ts';
import { decisionJob, makeRandom, requestFor } from './load/workload.ts';
import { sumCpuMs } from './machine/processes.ts';
import { QuietWatch } from './machine/quiet.ts';
import { type Cell, formatPercent, formatTable } from './pages/table.ts';
import { type Member, withServers } from './servers/fleet.ts';
import { umpire, WITHOUT_CACHES } from './servers/umpire.ts';

const { values } = parseArgs({ options: { pairs: { type: 'string', default: '400' } } });
const PAIRS = Number(values.pairs);
const WARM_PAIRS = 40;
const METRICS_INTERVAL_MS = '5000';
/** The longer ones in fewer pairs. */
const CASES = [
  { stateTokens: 40, questions: 1, pairs: PAIRS },
  { stateTokens: 128, questions: 2, pairs: PAIRS },
  { stateTokens: 512, questions: 4, pairs: Math.ceil(PAIRS / 4) },
];

const random = makeRandom(18);

interface Collector {
  readonly origin: string;
  /** By path, how often it was sent something and how many bytes. */
  readonly received: Map<string, { deliveries: number; bytes: number }>;
  readonly server: HttpServer;
}

async function startCollector(): Promise<Collector> {
  const received = new Map<string, { deliveries: number; bytes: number }>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const count = received.get(path) ?? { deliveries: 0, bytes: 0 };
    received.set(path, count);
    request.on('data', (part: Buffer) => {
      count.bytes += part.length;
    });
    request.on('end', () => {
      count.deliveries++;
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, server };
}

/** @returns milliseconds that the caller waited */
async function ask(
  member: Member,
  work: { readonly stateTokens: number; readonly questions: number },
): Promise<number> {
  const { path, body } = requestFor(decisionJob(work, random));
  const reply = await member.client.post(path, body);
  if (reply.status !== 200) throw new Error(`${member.name} answered with ${reply.status}: ${reply.text}`);
  return reply.latencyMs;
}

/** Each is first every other time. */
async function askPairs(off: Member, on: Member, work: (typeof CASES)[number], pairs: number) {
  const times: { readonly off: number; readonly on: number }[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    if (pair % 2 === 0) times.push({ off: await ask(off, work), on: await ask(on, work) });
    else {
      const onFirst = await ask(on, work);
      times.push({ off: await ask(off, work), on: onFirst });
    }
  }
  return times;
}

const collector = await startCollector();
const watch = new QuietWatch();
const telemetry = {
  UMPIRE_TELEMETRY_ENDPOINT: collector.origin,
  UMPIRE_TELEMETRY_METRICS: 'true',
  UMPIRE_TELEMETRY_METRICS_INTERVAL_MS: METRICS_INTERVAL_MS,
};
const servers = {
  off: umpire({ settings: WITHOUT_CACHES }),
  on: umpire({ settings: { ...WITHOUT_CACHES, ...telemetry } }),
};
const table: Cell[][] = [
  ['tokens', 'questions', 'OpenTelemetry', 'answers', 'p50 ms', 'p95 ms', 'p99 ms', 'CPU ms', 'added'],
];
await withServers(servers, async ({ off, on }) => {
  for (const work of CASES) {
    await askPairs(off, on, work, WARM_PAIRS);
    const cpuOf = { off: sumCpuMs(off.process.pids()), on: sumCpuMs(on.process.pids()) };
    const times = await askPairs(off, on, work, work.pairs);
    const added = percentile(
      times.map((pair) => pair.on - pair.off),
      0.5,
    );
    for (const [name, member] of Object.entries({ off, on }) as [keyof typeof cpuOf, Member][]) {
      const ms = times.map((pair) => pair[name]);
      const cpuMs = (sumCpuMs(member.process.pids()) - cpuOf[name]) / work.pairs;
      const percentiles = [0.5, 0.95, 0.99].map((share) => percentile(ms, share));
      const share =
        name === 'on'
          ? formatPercent(
              added /
                percentile(
                  times.map((pair) => pair.off),
                  0.5,
                ),
            )
          : '';
      table.push([work.stateTokens, work.questions, name, ms.length, ...percentiles, cpuMs, share]);
    }
  }
});
collector.server.close();
const told = [...collector.received].map(
  ([path, { deliveries, bytes }]) => `${path}: ${deliveries} times, ${bytes} bytes`,
);
process.stdout.write(`${formatTable(table)}\n\nThe collector was sent ${told.join('; ') || 'nothing'}.\n`);
process.stdout.write(`Others used ${formatPercent(watch.othersShare() ?? Number.NaN)} of the processors.\n`);
