// The part `shares`, what of a decision's time is not its model: tokenising, as the server tells it; and HTTP, key, limits, ledger
// and validation, seen by a client of the real server and by one of the same server around an engine that answers at once.

import { type BenchReply, readTiming } from '../load/client.ts';
import { type LoadClass, streamOf } from '../load/loads.ts';
import { median, summariseLatencies } from '../load/statistics.ts';
import type { Job } from '../load/workload.ts';
import { columns, formatPercent, tableOf } from '../pages/table.ts';
import { withServers } from '../servers/fleet.ts';
import { nullEndpoint, umpire, WITHOUT_CACHES } from '../servers/umpire.ts';
import { type Bench, definePart } from './part.ts';

const WARM_UP = 20;
/** Requests without a model are cheap, and their times small. */
const NULL_TIMES = 4;

async function measureShares({ loads, effort }: Bench) {
  const [rounds, samplesPerRound] = [effort(8, 3), effort(20, 10)];
  const classes = loads.decisions.map((load) => ({ load, next: jobsOf(load), replies: [] as BenchReply[] }));
  const nextShort = jobsOf(loads.short);
  const [nullReplies, endpointReplies]: [BenchReply[], BenchReply[]] = [[], []];
  const servers = {
    own: umpire({ hasLimits: true }),
    nullEngine: umpire({ settings: WITHOUT_CACHES, without: ['model'], hasLimits: true }),
    endpoint: nullEndpoint(),
  };
  await withServers(servers, async ({ own, nullEngine, endpoint }) => {
    for (const { client } of [own, nullEngine, endpoint]) await client.askInTurn(WARM_UP, jobsOf(loads.short));
    for (let round = 0; round < rounds; round++) {
      for (const { next, replies } of classes) replies.push(...(await own.client.askInTurn(samplesPerRound, next)));
      nullReplies.push(...(await nullEngine.client.askInTurn(NULL_TIMES * samplesPerRound, nextShort)));
      endpointReplies.push(...(await endpoint.client.askInTurn(NULL_TIMES * samplesPerRound, nextShort)));
    }
  });
  return {
    samplesPerClass: rounds * samplesPerRound,
    classes: classes.map(({ load, replies }) => ({ load: load.id, ...summariseShares(replies) })),
    /** Requests of the first class to the server around an engine that answers at once. */
    withoutModel: latencyOf(nullReplies),
    /** The same client against an endpoint that reads the body and answers a constant. */
    clientAlone: latencyOf(endpointReplies),
  };
}

function jobsOf(load: LoadClass): () => Job {
  const next = streamOf(load, 4711);
  return () => next().job;
}

function summariseShares(replies: readonly BenchReply[]) {
  const times = replies.map((reply) => {
    const tokenizeMs = readTiming(reply, 'tokenize');
    const engineMs = readTiming(reply, 'queue') + tokenizeMs + readTiming(reply, 'infer');
    return { latencyMs: reply.latencyMs, tokenizeMs, engineMs };
  });
  return {
    p50Ms: median(times.map(({ latencyMs }) => latencyMs)),
    /** Tokenising over all of the engine's time. */
    tokenizeShare: median(times.map(({ tokenizeMs, engineMs }) => tokenizeMs / engineMs)),
    tokenizeP50Ms: median(times.map(({ tokenizeMs }) => tokenizeMs)),
    /** What the client waited beyond queue, tokenising and model: the client itself is in it. */
    besideEngine: summariseLatencies(times.map(({ latencyMs, engineMs }) => latencyMs - engineMs)),
  };
}

function latencyOf(replies: readonly BenchReply[]) {
  return summariseLatencies(replies.map(({ latencyMs }) => latencyMs));
}

export const shares = definePart({
  title: 'What is not the model',
  measure: measureShares,
  write: ({ classes, withoutModel, clientAlone, samplesPerClass }) => [
    `One request at a time, ${samplesPerClass} of each class, a key with a budget and every limit. Beside the engine: what the client waited beyond queue, tokenising and model.`,
    tableOf(classes, {
      ...columns('load'),
      'p50 ms': ({ p50Ms }) => p50Ms,
      'tokenising, ms': ({ tokenizeP50Ms }) => tokenizeP50Ms,
      'of the engine': ({ tokenizeShare }) => formatPercent(tokenizeShare, 2),
      'beside the engine, p50 ms': ({ besideEngine }) => besideEngine.p50Ms,
      'p99 ms': ({ besideEngine }) => besideEngine.p99Ms,
    }),
    tableOf(
      [
        { to: 'our server around an engine that answers at once', latency: withoutModel },
        { to: 'an endpoint that does nothing', latency: clientAlone },
      ],
      { 'requests of the short class to': ({ to }) => to, ...columns('p50 ms', 'p95 ms', 'p99 ms') },
    ),
  ],
});
