// A server with a small heap under attack by bodies, seen by somebody else: how long its decisions take before and during
// it, how long `/healthz` takes, and how long the server's event loop stands still.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchClient } from '../../bench/load/client.ts';
import { makeDecision, makeRandom } from '../../bench/load/workload.ts';
import { ADMIN_KEY } from '../money/fleet.ts';
import { issueKey } from '../money/issue-key.ts';
import { type Exit, ServerProcess } from '../process/server-process.ts';
import type { AttackOrder, AttackReport } from './body-attacker.ts';
import type { StallSample } from './stall-probe.ts';

const HEAP_MB = 512;
const LOWEST_PRIORITY = 19;
const BASELINE_MS = 10_000;
const HEALTH_EVERY_MS = 20;

export interface AttackRun {
  readonly attack: AttackReport;
  /** Milliseconds of each of another key's decisions. */
  readonly usualMs: readonly number[];
  readonly attackedMs: readonly number[];
  /** Statuses of those that were not 200. */
  readonly failures: readonly number[];
  readonly healthMs: readonly number[];
  /** The same before the attack: what the machine adds by itself. */
  readonly usualHealthMs: readonly number[];
  readonly stalls: readonly StallSample[];
  readonly exit: Exit;
}

export interface AttackPlan extends Pick<AttackOrder, 'connections' | 'streams' | 'lastsMs'> {
  /** Budgets of the attacker's keys in pico-dollars; null: none. */
  readonly budgets: readonly (bigint | null)[];
}

export async function runAttack({ budgets, ...plan }: AttackPlan): Promise<AttackRun> {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-stalls-'));
  const attacker = fork(join(import.meta.dirname, 'body-attacker.ts'), { execArgv: [] });
  // An attacker has a machine of his own: here he must not take the server's cores by making his bodies.
  if (attacker.pid !== undefined) setPriority(attacker.pid, LOWEST_PRIORITY);
  const [{ port }] = (await once(attacker, 'message')) as [{ port: number }];
  const server = startServer(folder, port);
  try {
    const address = await server.ready();
    const keys = await Promise.all(
      budgets.map((budgetPicoUsd) => issueKey(address, budgetPicoUsd === null ? {} : { budgetPicoUsd })),
    );
    const victim = new BenchClient(address, (await issueKey(address)).secret, 1);
    const quiet = wait(BASELINE_MS);
    const [usual, usualHealthMs] = await Promise.all([decideUntil(victim, quiet), askHealthUntil(address, quiet)]);
    const attacking = orderAttack(attacker, { ...plan, address, secrets: keys.map(({ secret }) => secret) });
    const startedAtMs = Date.now();
    const [attack, attacked, healthMs] = await Promise.all([
      attacking,
      decideUntil(victim, attacking),
      askHealthUntil(address, attacking),
    ]);
    await victim.close();
    const stalls = readStalls(folder).filter(({ atMs }) => atMs >= startedAtMs);
    const exit = await server.stop();
    return {
      attack,
      usualMs: usual.latenciesMs,
      attackedMs: attacked.latenciesMs,
      failures: attacked.failures,
      healthMs,
      usualHealthMs,
      stalls,
      exit,
    };
  } finally {
    attacker.kill('SIGKILL');
    await server.dispose();
    rmSync(folder, { recursive: true, force: true });
  }
}

function startServer(folder: string, upstreamPort: number): ServerProcess {
  const probe = join(import.meta.dirname, 'stall-probe.ts');
  const upstreams = [
    {
      name: 'silent',
      baseUrl: `http://127.0.0.1:${upstreamPort}/v1`,
      models: [{ id: 'silent' }],
      maxConcurrentRequests: 1000,
    },
  ];
  return new ServerProcess({
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB} --import ${probe}`,
    STALL_FOLDER: folder,
    UMPIRE_API_KEY: ADMIN_KEY,
    UMPIRE_UPSTREAMS: JSON.stringify(upstreams),
  });
}

async function orderAttack(attacker: ChildProcess, order: AttackOrder): Promise<AttackReport> {
  attacker.send(order);
  const [{ report }] = (await once(attacker, 'message')) as [{ report: AttackReport }];
  return report;
}

const random = makeRandom(13);

/** One after the other, each of a fresh document. */
async function decideUntil(client: BenchClient, end: Promise<unknown>) {
  const [latenciesMs, failures]: number[][] = [[], []];
  const isOver = watchEnd(end);
  while (!isOver()) {
    const reply = await client.post(
      '/ai/v1/systemone',
      JSON.stringify(makeDecision({ stateTokens: 60, questions: 1 }, random)),
    );
    if (reply.status === 200) latenciesMs?.push(reply.latencyMs);
    else failures?.push(reply.status);
  }
  return { latenciesMs: latenciesMs ?? [], failures: failures ?? [] };
}

async function askHealthUntil(address: string, end: Promise<unknown>): Promise<number[]> {
  const client = new BenchClient(address, '', 4);
  const isOver = watchEnd(end);
  const latenciesMs: number[] = [];
  while (!isOver()) {
    latenciesMs.push((await client.get('/healthz')).latencyMs);
    await wait(HEALTH_EVERY_MS);
  }
  await client.close();
  return latenciesMs;
}

function watchEnd(end: Promise<unknown>): () => boolean {
  let isOver = false;
  const note = (): void => {
    isOver = true;
  };
  end.then(note, note);
  return () => isOver;
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The launcher writes some too: nothing happens there. */
function readStalls(folder: string): StallSample[] {
  const lines = readdirSync(folder).flatMap((file) => readFileSync(join(folder, file), 'utf8').trim().split('\n'));
  return lines.map((line) => JSON.parse(line) as StallSample);
}
