// The shipped models on a GPU, beside the same server on the CPU: answers, throughput by calls at a time, overload, memory
// over a while. GPU_TEST_SECONDS says how long the last; UMPIRE_ENGINE_GPU_DIR where the provider is; GPU_TEST_DEVICE=cpu
// runs the test itself where there is no GPU.

import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { explainCuda } from '../../src/runtime/cuda/cuda-lacks.ts';
import { findCuda } from '../../src/runtime/cuda/find-cuda.ts';
import { ServerProcess } from '../process/server-process.ts';

const SECONDS = Number(process.env['GPU_TEST_SECONDS'] ?? 600);
const DEVICE = process.env['GPU_TEST_DEVICE'] ?? 'cuda';
/** The models', and what fp16 and batches may move. */
const TOLERATED_MEAN = 0.004;
const TOLERATED_SAME = 0.99;
const DOCUMENTS = 200;

const found = findCuda(process.env['UMPIRE_ENGINE_GPU_DIR']);
const lack = DEVICE === 'cpu' ? undefined : explainCuda(found);
if (lack !== undefined) process.stdout.write(`test:gpu is skipped: CUDA cannot be used here: ${lack}\n`);

const WORDS = ['invoice', 'refund', 'crash', 'late', 'order', 'login', 'thanks', 'urgent', 'twice', 'screen'];

function bodyOf(document: number, words = 40): string {
  const state = Array.from({ length: words }, (_, place) => WORDS[(document * 7 + place * (document + 3)) % 10]).join(
    ' ',
  );
  const criteria = { billing: 'payments, refunds', technical: 'bugs, outages', other: 'anything else' };
  const questions = { team: { type: 'choice', instructions: 'Which team should handle this?', criteria } };
  return JSON.stringify({ model: 'kev', state: `${document}: ${state}`, questions });
}

interface Reply {
  readonly status: number;
  readonly ms: number;
  /** By option. */
  readonly probabilities: Readonly<Record<string, number>>;
}

async function ask(server: ServerProcess, body: string): Promise<Reply> {
  const startedMs = performance.now();
  const headers = { authorization: `Bearer ${server.initialKey()}`, 'content-type': 'application/json' };
  const reply = await fetch(`${await server.ready()}/ai/v1/systemone`, { method: 'POST', headers, body });
  const text = await reply.text();
  const ms = performance.now() - startedMs;
  const probabilities = reply.ok ? findProbabilities(JSON.parse(text)) : {};
  return { status: reply.status, ms, probabilities };
}

/** Wherever they stand in the reply. */
function findProbabilities(value: unknown): Record<string, number> {
  if (typeof value !== 'object' || value === null) return {};
  for (const [name, inner] of Object.entries(value)) {
    if (name === 'probabilities') return inner as Record<string, number>;
    const deeper = findProbabilities(inner);
    if (Object.keys(deeper).length > 0) return deeper;
  }
  return {};
}

/** @returns in the order of the documents */
async function askAll(server: ServerProcess, bodies: readonly string[], atOnce: number): Promise<Reply[]> {
  const replies: Reply[] = [];
  let next = 0;
  const askOn = async (): Promise<void> => {
    for (let place = next++; place < bodies.length; place = next++)
      replies[place] = await ask(server, bodies[place] ?? '');
  };
  await Promise.all(Array.from({ length: atOnce }, askOn));
  return replies;
}

function best({ probabilities }: Reply): string | undefined {
  return Object.entries(probabilities).sort(([, a], [, b]) => b - a)[0]?.[0];
}

/** MiB of the GPU in use; undefined: nobody says. */
function usedOnDevice(): number | undefined {
  try {
    const query = ['--query-gpu=memory.used', '--format=csv,noheader,nounits'];
    return Number.parseInt(execFileSync('nvidia-smi', query, { encoding: 'utf8' }), 10);
  } catch {
    return undefined;
  }
}

function tell(text: string): void {
  process.stdout.write(`${text}\n`);
}

describe.skipIf(lack !== undefined)(`the shipped models on ${DEVICE}`, () => {
  const OWN = { UMPIRE_MODELS: 'kev', UMPIRE_ANSWERS_CACHE_BYTES: '0', UMPIRE_ANSWERS_MERGE: 'false' };
  let server: ServerProcess;
  let reference: ServerProcess;

  beforeAll(async () => {
    server = new ServerProcess({ ...OWN, UMPIRE_ENGINE_DEVICE: DEVICE });
    reference = new ServerProcess({ ...OWN, UMPIRE_ENGINE_DEVICE: 'cpu' });
    await Promise.all([server.ready(), reference.ready()]);
  });
  afterAll(() => Promise.all([server?.dispose(), reference?.dispose()]));

  it('answer as on the CPU', async () => {
    const bodies = Array.from({ length: DOCUMENTS }, (_, document) => bodyOf(document));
    const [ours, theirs] = [await askAll(server, bodies, 16), await askAll(reference, bodies, 2)];
    expect(new Set([...ours, ...theirs].map(({ status }) => status))).toEqual(new Set([200]));
    const same = ours.filter((reply, place) => best(reply) === best(theirs[place] ?? reply)).length;
    const shifts = ours.flatMap(({ probabilities }, place) =>
      Object.entries(probabilities).map(([name, p]) =>
        Math.abs(p - (theirs[place]?.probabilities[name] ?? Number.NaN)),
      ),
    );
    const mean = shifts.reduce((sum, shift) => sum + shift, 0) / shifts.length;
    tell(
      `same answer ${same} of ${DOCUMENTS}, mean shift ${mean.toExponential(2)}, largest ${Math.max(...shifts).toExponential(2)}`,
    );
    expect(shifts).toHaveLength(3 * DOCUMENTS);
    expect(mean).toBeLessThanOrEqual(TOLERATED_MEAN);
    expect(same / DOCUMENTS).toBeGreaterThanOrEqual(TOLERATED_SAME);
  });

  it.each([1, 4, 16, 64])('answer %i calls at a time', async (atOnce) => {
    const bodies = Array.from({ length: Math.max(100, 10 * atOnce) }, (_, document) => bodyOf(1000 + document));
    const startedMs = performance.now();
    const replies = await askAll(server, bodies, atOnce);
    const answered = replies.filter(({ status }) => status === 200).length;
    const perSecond = answered / ((performance.now() - startedMs) / 1000);
    tell(`${atOnce} at a time: ${perSecond.toFixed(1)} decisions a second, ${answered} of ${bodies.length} answered`);
    // A slow device refuses what it could not answer in time.
    expect(replies.filter(({ status }) => ![200, 503].includes(status))).toEqual([]);
    expect(answered).toBeGreaterThan(0);
  });

  it('answer or refuse in words when there is too much, and go on', async () => {
    const bodies = Array.from({ length: 4000 }, (_, document) => bodyOf(5000 + document, 400));
    const replies = await askAll(server, bodies, 400);
    const answered = replies.filter(({ status }) => status === 200).map(({ ms }) => ms);
    const p99 = answered.sort((a, b) => a - b)[Math.floor(answered.length * 0.99)] ?? Number.NaN;
    tell(`overload: ${answered.length} of ${bodies.length} answered, p99 ${p99.toFixed(0)} ms`);
    expect(replies.filter(({ status }) => ![200, 429, 503].includes(status))).toEqual([]);
    expect(answered.length).toBeGreaterThan(0);
    expect((await ask(server, bodyOf(1))).status).toBe(200);
  });

  it(`keep their memory over ${SECONDS} s`, async () => {
    const round = (seed: number) =>
      askAll(
        server,
        Array.from({ length: 200 }, (_, i) => bodyOf(seed + i, 20 + (i % 300))),
        32,
      );
    await round(0);
    const before = usedOnDevice();
    const endMs = performance.now() + SECONDS * 1000;
    let rounds = 0;
    while (performance.now() < endMs) {
      rounds++;
      expect((await round(rounds * 200)).filter(({ status }) => ![200, 429, 503].includes(status))).toEqual([]);
    }
    const after = usedOnDevice();
    tell(`soak: ${rounds} rounds; memory of the device ${before ?? '?'} MiB, then ${after ?? '?'} MiB`);
    if (before !== undefined && after !== undefined) expect(after).toBeLessThanOrEqual(before * 1.2);
  });
});
