// What of a decision's time is not its model: tokenising, as the server tells it; and HTTP, key, limits, ledger and validation,
// seen by a client of the real server and by one of the same server around an engine that answers at once.

import { mkdirSync } from 'node:fs';
import { BenchClient, type BenchReply } from '../load/client.ts';
import { type LoadClass, type Loads, streamOf } from '../load/loads.ts';
import { type LatencySummary, median, summariseLatencies } from '../load/statistics.ts';
import { requestFor } from '../load/wire.ts';
import { API_KEY, NullEndpoint, ServerProcess } from '../servers/child-processes.ts';
import { createMeteredKey } from '../servers/metered-key.ts';
import { withDataFolder, withOwnServer } from '../servers/own-server.ts';
import { readTiming } from './overhead.ts';

const WARM_UP = 20;
/** Requests without a model are cheap, and their times small. */
const NULL_TIMES = 4;

export interface ClassShares {
  readonly load: string;
  readonly p50Ms: number;
  /** Tokenising over all of the engine's time. */
  readonly tokenizeShare: number;
  readonly tokenizeP50Ms: number;
  /** What the client waited beyond queue, tokenising and model: the client itself is in it. */
  readonly besideEngine: LatencySummary;
}

export interface ShareFigures {
  readonly samplesPerClass: number;
  readonly classes: readonly ClassShares[];
  /** Requests of the first class to the server around an engine that answers at once. */
  readonly withoutModel: LatencySummary;
  /** The same client against an endpoint that reads the body and answers a constant. */
  readonly clientAlone: LatencySummary;
}

export interface ShareOptions {
  readonly loads: Loads;
  readonly rounds: number;
  readonly samplesPerRound: number;
}

interface Clients {
  readonly own: BenchClient;
  readonly nullEngine: BenchClient;
  readonly nullEndpoint: BenchClient;
}

export async function measureShares(options: ShareOptions): Promise<ShareFigures> {
  return await withOwnServer({}, (own) =>
    withNullEngine(async (nullEngine) => {
      const endpoint = await NullEndpoint.start();
      const nullEndpoint = new BenchClient(endpoint.origin, API_KEY, 1);
      try {
        return await measureInTurns(options, { own: own.client, nullEngine, nullEndpoint });
      } finally {
        await nullEndpoint.close();
        endpoint.stop();
      }
    }),
  );
}

async function withNullEngine<T>(use: (client: BenchClient) => Promise<T>): Promise<T> {
  return await withDataFolder(async (dataDir) => {
    mkdirSync(dataDir, { recursive: true });
    const server = await ServerProcess.start(dataDir, { command: ['bench/servers/null-engine-server.ts'] });
    const client = new BenchClient(server.origin, createMeteredKey({ dataDir, settings: {} }), 1);
    try {
      const result = await use(client);
      await client.close();
      await server.stop();
      return result;
    } catch (error) {
      server.kill();
      throw error;
    }
  });
}

async function measureInTurns(options: ShareOptions, clients: Clients): Promise<ShareFigures> {
  const { loads, rounds, samplesPerRound } = options;
  const classes = loads.decisions.map((load) => ({ load, next: makeBodies(load), replies: [] as BenchReply[] }));
  const nextShort = makeBodies(loads.short);
  const without = { nullEngine: [] as BenchReply[], nullEndpoint: [] as BenchReply[] };
  await Promise.all(Object.values(clients).map((client) => send(client, makeBodies(loads.short), WARM_UP)));
  for (let round = 0; round < rounds; round++) {
    for (const { next, replies } of classes) replies.push(...(await send(clients.own, next, samplesPerRound)));
    for (const side of ['nullEngine', 'nullEndpoint'] as const)
      without[side].push(...(await send(clients[side], nextShort, NULL_TIMES * samplesPerRound)));
  }
  return {
    samplesPerClass: rounds * samplesPerRound,
    classes: classes.map(({ load, replies }) => summariseShares(load, replies)),
    withoutModel: latencyOf(without.nullEngine),
    clientAlone: latencyOf(without.nullEndpoint),
  };
}

function makeBodies(load: LoadClass): () => string {
  const next = streamOf(load, 4711);
  return () => requestFor(next().job).body;
}

/** One after the other. */
async function send(client: BenchClient, next: () => string, count: number): Promise<BenchReply[]> {
  const replies: BenchReply[] = [];
  for (let index = 0; index < count; index++) {
    const reply = await client.post('/ai/v1/systemone', next());
    if (reply.status !== 200) throw new Error(`A decision was answered with ${reply.status}: ${reply.text}`);
    replies.push(reply);
  }
  return replies;
}

function summariseShares({ id }: LoadClass, replies: readonly BenchReply[]): ClassShares {
  const tokenizeMs = replies.map((reply) => readTiming(reply, 'tokenize'));
  const engineMs = replies.map(
    (reply, index) => readTiming(reply, 'queue') + (tokenizeMs[index] ?? 0) + readTiming(reply, 'infer'),
  );
  return {
    load: id,
    p50Ms: median(replies.map(({ latencyMs }) => latencyMs)),
    tokenizeShare: median(tokenizeMs.map((ms, index) => ms / (engineMs[index] ?? Number.NaN))),
    tokenizeP50Ms: median(tokenizeMs),
    besideEngine: summariseLatencies(replies.map(({ latencyMs }, index) => latencyMs - (engineMs[index] ?? 0))),
  };
}

function latencyOf(replies: readonly BenchReply[]): LatencySummary {
  return summariseLatencies(replies.map(({ latencyMs }) => latencyMs));
}
