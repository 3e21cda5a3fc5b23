// The shipped models on a GPU, beside the same server on the CPU: answers, throughput by calls at a time, overload, memory
// over a while. GPU_TEST_SECONDS says how long the last; UMPIRE_ENGINE_GPU_DIR where the provider is, if not in the data folder;
// GPU_TEST_DEVICE=cpu runs the test itself where there is no GPU, with runs that rows share there.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  askAll,
  BESIDE_FULL_PRECISION,
  BESIDE_INT8,
  countShared,
  findParityFault,
  listParityJobs,
  type ParityLimits,
  readAnswers,
  reckonParity,
} from '../../bench/answers/parity.ts';
import { BenchClient } from '../../bench/load/client.ts';
import { joinRuns, runClosedLoop } from '../../bench/load/closed-loop.ts';
import { summariseOutcomes } from '../../bench/load/goodput.ts';
import { type LoadClass, Loads, seedOf, streamOf } from '../../bench/load/loads.ts';
import { planArrivals, runOpenLoop } from '../../bench/load/open-loop.ts';
import { readDevices, sumUsedBytes } from '../../bench/machine/device-memory.ts';
import { findMemoryUse } from '../../bench/machine/processes.ts';
import { deviceSettings, EXACT_SETTINGS, findDeviceLack } from '../../bench/servers/device-servers.ts';
import { WITHOUT_CACHES } from '../../bench/servers/umpire.ts';
import { type Environment, ServerProcess } from '../process/server-process.ts';

const SECONDS = Number(process.env['GPU_TEST_SECONDS'] ?? 600);
const DEVICE = process.env['GPU_TEST_DEVICE'] ?? 'cuda';
/** A processor takes much longer for what a GPU does at once. */
const IS_SLOW = DEVICE === 'cpu';
/** Long enough for more to wait than the queue lets in. */
const OVERLOAD = { share: 2, durationMs: 20_000, atOnce: IS_SLOW ? 8 : 64 };
const SOAK = { atOnce: IS_SLOW ? 4 : 32, sliceMs: 2000 };
/** Arenas and heaps grow to what the largest mixture of requests takes, which may come late. */
const TOLERATED_GROWTH = 1.25;
const MEBIBYTE = 1024 * 1024;

const lack = findDeviceLack(DEVICE);
if (lack !== undefined) process.stdout.write(`test:gpu is skipped: CUDA cannot be used here: ${lack}\n`);

function tell(text: string): void {
  process.stdout.write(`${text}\n`);
}

interface Started {
  readonly server: ServerProcess;
  readonly client: BenchClient;
}

async function start(settings: Environment): Promise<Started> {
  const server = new ServerProcess({ ...WITHOUT_CACHES, UMPIRE_MODELS: 'kev,text-embed-mini', ...settings });
  const origin = await server.ready();
  return { server, client: new BenchClient(origin, server.initialKey(), null) };
}

async function stop({ server, client }: Started): Promise<void> {
  await client.close();
  await server.dispose();
}

describe.skipIf(lack !== undefined)(`the shipped models on ${DEVICE}`, () => {
  let own: Started;
  let loads: Loads;

  beforeAll(async () => {
    loads = await Loads.open();
    own = await start(deviceSettings(DEVICE));
  });
  afterAll(async () => {
    if (own !== undefined) await stop(own);
  });

  it.each<[string, Environment, ParityLimits]>([
    ['in full precision, a row a run', EXACT_SETTINGS, BESIDE_FULL_PRECISION],
    ['with int8', { UMPIRE_ENGINE_DEVICE: 'cpu' }, BESIDE_INT8],
  ])('answer as on the CPU %s', async (name, settings, limits) => {
    const jobs = await listParityJobs();
    const replies = await askAll(own.client, jobs, 16);
    const reference = await start(settings);
    const expected = await askAll(reference.client, jobs, 2);
    await stop(reference);
    const parity = reckonParity(readAnswers(jobs, expected), readAnswers(jobs, replies));
    const { questions, same, meanShift, largestShift, vectors, smallestCosine } = parity;
    const shared = `${countShared(replies)} of ${jobs.length} requests shared runs`;
    const shifts = `mean shift ${meanShift.toExponential(2)}, largest ${largestShift.toExponential(2)}`;
    tell(
      `${name}: same answer ${same} of ${questions}, ${shifts}; ${vectors} vectors, least cosine ${smallestCosine}; ${shared}`,
    );
    expect(findParityFault(parity, limits)).toBeUndefined();
    expect(countShared(replies)).toBeGreaterThan(0);
  });

  it.each([1, 4, 16, 64])('answer decisions and embeddings, %i calls at a time', async (atOnce) => {
    for (const load of [loads.short, ...loads.embeddings.slice(0, 1)]) {
      const run = joinRuns([await runLoad(load, atOnce, 3000)]);
      const { p50Ms, p99Ms } = run.latency;
      tell(
        `${load.id}, ${atOnce} at a time: ${run.requestsPerSecond.toFixed(1)} a second, p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, ${run.refused} refused`,
      );
      expect(run.errors).toBe(0);
      expect(run.latency.samples).toBeGreaterThan(0);
    }
  });

  function runLoad(load: LoadClass, atOnce: number, durationMs: number) {
    const next = streamOf(load, seedOf(load.id, atOnce, performance.now()));
    return runClosedLoop({ client: own.client, next, concurrency: atOnce, durationMs });
  }

  it('answer or refuse in words when twice as much comes as they can take, and go on', async () => {
    const { atOnce, durationMs, share } = OVERLOAD;
    const capacity = joinRuns([await runLoad(loads.mix, atOnce, durationMs)]).requestsPerSecond;
    const plan = planArrivals({ requestsPerSecond: share * capacity, durationMs, seed: 1 });
    const { outcomes } = await runOpenLoop({ client: own.client, plan, next: streamOf(loads.mix, 77) });
    const { answered, goodPerSecond, refusedShare, refusedWithRetryAfter, failed, givenUp, latency } =
      summariseOutcomes(outcomes, durationMs);
    tell(
      `overload: capacity ${capacity.toFixed(1)}/s; of ${plan.length} at ${share} × ${answered} answered, ${goodPerSecond.toFixed(1)}/s within 200 ms; p50 ${latency.p50Ms.toFixed(0)}, p95 ${latency.p95Ms.toFixed(0)}, p99 ${latency.p99Ms.toFixed(0)} ms; refused ${(100 * refusedShare).toFixed(0)} %, given up ${givenUp}`,
    );
    expect(failed).toBe(0);
    expect(answered).toBeGreaterThan(0);
    // Whoever is refused is told when to come back.
    expect(refusedWithRetryAfter).toBe(outcomes.filter(({ ending }) => ending.kind === 'refused').length);
    const [job] = await listParityJobs();
    expect(job && (await own.client.askUntilLetIn(job)).status).toBe(200);
  });

  it(`keep their memory over ${SECONDS} s`, async () => {
    const [embeddings = loads.mix] = loads.embeddings.slice(1);
    const slice = async (): Promise<void> => {
      for (const load of [loads.mix, embeddings]) {
        const { errors } = await runLoad(load, SOAK.atOnce, SOAK.sliceMs);
        expect(errors).toBe(0);
      }
    };
    await slice();
    const endMs = performance.now() + SECONDS * 1000;
    const samples: { readonly device: number; readonly process: number }[] = [];
    do {
      await slice();
      const use = own.server.pid === undefined ? undefined : findMemoryUse(own.server.pid);
      samples.push({ device: sumUsedBytes(readDevices()), process: use?.distinctBytes ?? Number.NaN });
      // With one alone nothing would be compared.
    } while (samples.length < 2 || performance.now() < endMs);
    for (const place of ['device', 'process'] as const) {
      const used = samples.map((sample) => sample[place]);
      const early = Math.max(...used.slice(0, Math.ceil(used.length / 2)));
      const late = used.at(-1) ?? Number.NaN;
      const show = (bytes: number): string =>
        Number.isNaN(bytes) ? 'not told' : `${Math.round(bytes / MEBIBYTE)} MiB`;
      tell(
        `soak: ${samples.length} rounds; memory of the ${place}: ${show(used[0] ?? Number.NaN)}, at the end ${show(late)}`,
      );
      if (!Number.isNaN(late)) expect(late).toBeLessThanOrEqual(early * TOLERATED_GROWTH);
    }
  });
});
