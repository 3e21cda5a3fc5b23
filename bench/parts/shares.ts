// The part `shares`, what of a decision's time is not its model: tokenising, as the server tells it; and HTTP, key, limits, ledger
// and validation, seen by a client of the real server and by one of the same server around an engine that answers at once.

import { type BenchReply, readTiming } from '../load/client.ts';
import { type LoadClass, type Loads, streamOf } from '../load/loads.ts';
import { median, summariseLatencies } from '../load/statistics.ts';
import type { Job } from '../load/workload.ts';
import { withUmpire } from '../servers/umpire.ts';
import { withNullEndpoint } from './bare.ts';

export const NULL_ENGINE = ['bench/servers/null-engine-server.ts'];
const WARM_UP = 20;
/** Requests without a model are cheap, and their times small. */
const NULL_TIMES = 4;

export interface ShareOptions {
  readonly loads: Loads;
  readonly rounds: number;
  readonly samplesPerRound: number;
}

export async function measureShares({ loads, rounds, samplesPerRound }: ShareOptions) {
  const classes = loads.decisions.map((load) => ({ load, next: jobsOf(load), replies: [] as BenchReply[] }));
  const nextShort = jobsOf(loads.short);
  const [nullReplies, endpointReplies]: [BenchReply[], BenchReply[]] = [[], []];
  await withUmpire({}, (own) =>
    withUmpire({ entry: NULL_ENGINE }, (nullEngine) =>
      withNullEndpoint(async (endpoint) => {
        const clients = [own.client, nullEngine.client, endpoint];
        for (const client of clients) await client.askInTurn(WARM_UP, jobsOf(loads.short));
        for (let round = 0; round < rounds; round++) {
          for (const { next, replies } of classes) replies.push(...(await own.client.askInTurn(samplesPerRound, next)));
          nullReplies.push(...(await nullEngine.client.askInTurn(NULL_TIMES * samplesPerRound, nextShort)));
          endpointReplies.push(...(await endpoint.askInTurn(NULL_TIMES * samplesPerRound, nextShort)));
        }
      }),
    ),
  );
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
