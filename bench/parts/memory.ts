// The server's memory: after warm-up, after a thousand decisions, and at the largest document a model takes.

import type { BenchClient } from '../load/client.ts';
import { makeDecision, makeRandom } from '../load/workload.ts';
import type { ServerProcess } from '../servers/child-processes.ts';

const DECISIONS = 1000;
const LARGEST_STATE_TOKENS = 8192;
const IN_FLIGHT = 4;

/** Resident bytes; null where the operating system does not say. */
export interface MemoryReport {
  readonly afterWarmUpBytes: number | null;
  readonly decisions: number;
  /** After decisions of 1 to 512 tokens of state, four at a time. */
  readonly afterDecisionsBytes: number | null;
  /** The same with pages that several workers map counted once. */
  readonly afterDecisionsDistinctBytes: number | null;
}

export interface PeakReport {
  readonly stateTokens: number;
  /** The highest the process ever reached, with such documents four at a time. */
  readonly peakBytes: number | null;
  /** What stayed afterwards. */
  readonly afterBytes: number | null;
}

export async function measureMemory(
  server: ServerProcess,
  client: BenchClient,
  isQuick: boolean,
): Promise<MemoryReport> {
  const decisions = isQuick ? DECISIONS / 10 : DECISIONS;
  const random = makeRandom(512);
  const afterWarmUpBytes = server.memoryUse()?.residentBytes ?? null;
  await sendDecisions(
    client,
    Array.from({ length: decisions }, () => 1 + Math.floor(random() * 512)),
  );
  const use = server.memoryUse();
  return {
    afterWarmUpBytes,
    decisions,
    afterDecisionsBytes: use?.residentBytes ?? null,
    afterDecisionsDistinctBytes: use?.distinctBytes ?? null,
  };
}

/** Last of all: what was once taken for a giant document may stay with the process. */
export async function measurePeak(server: ServerProcess, client: BenchClient): Promise<PeakReport> {
  await sendDecisions(
    client,
    Array.from({ length: 8 }, () => LARGEST_STATE_TOKENS),
  );
  const use = server.memoryUse();
  return {
    stateTokens: LARGEST_STATE_TOKENS,
    peakBytes: use?.peakBytes ?? null,
    afterBytes: use?.residentBytes ?? null,
  };
}

async function sendDecisions(client: BenchClient, lengthsTokens: readonly number[]): Promise<void> {
  const waiting = lengthsTokens.values();
  const sendRest = async (): Promise<void> => {
    for (const stateTokens of waiting) {
      const body = JSON.stringify(makeDecision({ stateTokens, questions: 1 }));
      const reply = await client.post('/ai/v1/systemone', body);
      if (reply.status !== 200) throw new Error(`A decision was answered with ${reply.status}: ${reply.text}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, sendRest));
}
