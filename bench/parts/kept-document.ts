// What a document that was read before costs: CPU time of the workers for a first and a second question about it, and for a
// transcript that only grew. The second question is another one, so no kept answer can help.

import { median } from '../load/statistics.ts';
import { makeDecisionAbout, makeDocument, makeRandom } from '../load/workload.ts';
import { sumCpuMs, sumWorkerCpuMs } from '../servers/cpu-time.ts';
import { type OwnServer, withOwnServer } from '../servers/own-server.ts';

const STATE_TOKENS = 2000;
const GROWN_TOKENS = 100;
const WARM_UP_PAIRS = 3;

export interface PairFigures {
  readonly pairs: number;
  readonly stateTokens: number;
  /** Added to the document before the second call. */
  readonly grownTokens: number;
  /** Medians. */
  readonly firstWorkerMs: number;
  readonly secondWorkerMs: number;
  /** Second over first, the median of the pairs. */
  readonly workerRatio: number;
  /** The same of the whole process: HTTP, accounting and store are in both. */
  readonly processRatio: number;
  readonly firstP50Ms: number;
  readonly secondP50Ms: number;
  /** `x-umpire-kept-tokens` of second calls, the median; 0 where the header is missing. */
  readonly keptTokens: number;
}

export interface KeptFigures {
  readonly same: PairFigures;
  readonly grown: PairFigures;
}

interface Call {
  readonly workerMs: number;
  readonly processMs: number;
  readonly latencyMs: number;
  readonly keptTokens: number;
}

export async function measureKeptDocuments(pairs: number): Promise<KeptFigures> {
  return await withOwnServer({}, async (own) => {
    const random = makeRandom(2000);
    await measurePairs(own, { pairs: WARM_UP_PAIRS, grownTokens: 0, random });
    const same = await measurePairs(own, { pairs, grownTokens: 0, random });
    return { same, grown: await measurePairs(own, { pairs, grownTokens: GROWN_TOKENS, random }) };
  });
}

interface PairOptions {
  readonly pairs: number;
  readonly grownTokens: number;
  readonly random: () => number;
}

async function measurePairs(own: OwnServer, { pairs, grownTokens, random }: PairOptions): Promise<PairFigures> {
  const firsts: Call[] = [];
  const seconds: Call[] = [];
  for (let pair = 0; pair < pairs; pair++) {
    const state = makeDocument(STATE_TOKENS, random);
    const later = grownTokens === 0 ? state : `${state} ${makeDocument(grownTokens, random)}`;
    firsts.push(await call(own, state, 0));
    seconds.push(await call(own, later, 1));
  }
  const ratio = (part: 'workerMs' | 'processMs'): number =>
    median(seconds.map((second, pair) => second[part] / (firsts[pair]?.[part] ?? Number.NaN)));
  return {
    pairs,
    stateTokens: STATE_TOKENS,
    grownTokens,
    firstWorkerMs: median(firsts.map(({ workerMs }) => workerMs)),
    secondWorkerMs: median(seconds.map(({ workerMs }) => workerMs)),
    workerRatio: ratio('workerMs'),
    processRatio: ratio('processMs'),
    firstP50Ms: median(firsts.map(({ latencyMs }) => latencyMs)),
    secondP50Ms: median(seconds.map(({ latencyMs }) => latencyMs)),
    keptTokens: median(seconds.map(({ keptTokens }) => keptTokens)),
  };
}

/** Alone on the server: all the CPU it uses meanwhile is this call's. */
async function call({ running, client }: OwnServer, state: string, firstQuestion: number): Promise<Call> {
  const body = JSON.stringify(makeDecisionAbout(state, { questions: 1, kind: 'choice', firstQuestion }));
  const pids = running.server.pids();
  const before = { workerMs: sumWorkerCpuMs(pids), processMs: sumCpuMs(pids) };
  const reply = await client.post('/ai/v1/systemone', body);
  if (reply.status !== 200) throw new Error(`A decision was answered with ${reply.status}: ${reply.text}`);
  return {
    workerMs: sumWorkerCpuMs(pids) - before.workerMs,
    processMs: sumCpuMs(pids) - before.processMs,
    latencyMs: reply.latencyMs,
    keptTokens: Number(reply.headers['x-umpire-kept-tokens'] ?? 0),
  };
}
