// How much of the machine the server uses: decisions of 512 tokens against bare loops on all workers, which run the same graphs on
// the same inputs without a server; beside the same client at the same rate against an endpoint that does nothing.

import type { BenchClient } from '../load/client.ts';
import { runClosedLoop } from '../load/closed-loop.ts';
import { planArrivals, runOpenLoop } from '../load/open-loop.ts';
import { median, sum } from '../load/statistics.ts';
import { type DecisionSize, decisionJob, type Work } from '../load/workload.ts';
import { markdownTable } from '../pages/table.ts';
import { type BareLoops, withBareLoops } from '../servers/bare-loop.ts';
import { type Member, withServers } from '../servers/fleet.ts';
import { nullEndpoint, umpire } from '../servers/umpire.ts';
import { definePart } from './part.ts';

const CONCURRENCY = 8;
const SIZE: DecisionSize = { stateTokens: 512, questions: 1, kind: 'choice' };
const next = (): Work => ({ job: decisionJob(SIZE), tokens: 0, group: '' });

export async function measureBareLimit(own: Member, rounds: number, durationMs: number) {
  return await withBareLoops(own, SIZE, (loops) =>
    withServers({ endpoint: nullEndpoint() }, async ({ endpoint }) => {
      const measured = [];
      for (let round = 0; round < rounds; round++) {
        const loop = { client: own.client, next, concurrency: CONCURRENCY, durationMs };
        const run = await runClosedLoop({ ...loop, leastReplies: 10 * CONCURRENCY });
        const httpPerSecond = (run.latenciesMs.length / run.elapsedMs) * 1000;
        if (!(httpPerSecond > 0)) throw new Error('The server answered no request of the throughput measurement.');
        const besidePerSecond = await runBesideClient(endpoint.client, loops, { httpPerSecond, durationMs });
        measured.push({ ...run, httpPerSecond, besidePerSecond, alonePerSecond: await loops.runAll(durationMs) });
      }
      return {
        concurrency: CONCURRENCY,
        workers: loops.workers,
        /** Decisions per second; the median of the rounds, as all that follows. */
        httpPerSecond: median(measured.map(({ httpPerSecond }) => httpPerSecond)),
        bareBesideClientPerSecond: median(measured.map(({ besidePerSecond }) => besidePerSecond)),
        bareAlonePerSecond: median(measured.map(({ alonePerSecond }) => alonePerSecond)),
        ratio: median(measured.map(({ httpPerSecond, besidePerSecond }) => httpPerSecond / besidePerSecond)),
        ratioToBareAlone: median(measured.map(({ httpPerSecond, alonePerSecond }) => httpPerSecond / alonePerSecond)),
        refused: sum(measured.map(({ refused }) => refused)),
        errors: sum(measured.map(({ errors }) => errors)),
      };
    }),
  );
}

/** @returns runs per second of the bare loops while the client does the work it did against the server */
async function runBesideClient(
  client: BenchClient,
  loops: BareLoops,
  { httpPerSecond, durationMs }: { readonly httpPerSecond: number; readonly durationMs: number },
): Promise<number> {
  const plan = planArrivals({ requestsPerSecond: httpPerSecond, durationMs });
  const [perSecond] = await Promise.all([loops.runAll(durationMs), runOpenLoop({ client, plan, next })]);
  return perSecond;
}

export const bare = definePart({
  title: 'How much of the machine is used',
  measure: ({ rounds, effort }) =>
    withServers({ own: umpire({ hasLimits: true }) }, ({ own }) =>
      measureBareLimit(own, rounds(5, 2), effort(4000, 1500)),
    ),
  write: (figures) => [
    `Decisions of 512 tokens with one question, ${figures.concurrency} at a time, against bare loops of the same graphs on ${figures.workers} workers.`,
    markdownTable([
      ['what', 'per second', 'share that the server reaches'],
      ['our server over HTTP', figures.httpPerSecond, ''],
      ['bare loops beside the same client', figures.bareBesideClientPerSecond, figures.ratio.toFixed(3)],
      ['bare loops alone', figures.bareAlonePerSecond, figures.ratioToBareAlone.toFixed(3)],
    ]),
  ],
});
