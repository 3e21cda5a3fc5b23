// Bodies of every hostile shape, by 64 connections at once, against a server with a heap of 512 MB: it lives, answers its
// health check, and another key's decisions take at most twice as long. Then each shape alone: what it does to the event
// loop. ATTACK_SECONDS says how long.

import { expect, it } from 'vitest';
import { runAttack } from '../load/body-attack-run.ts';
import type { Exchange } from '../load/body-attacker.ts';
import type { StallSample } from '../load/stall-probe.ts';

const SECONDS = Number(process.env['ATTACK_SECONDS'] ?? 60);
const MAX_HEALTH_MS = 250;
const MAX_TIMES_USUAL = 2;
const MAX_STALL_MS = 50;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}

/** A sample is of the quarter of a second before it. */
function isDuring({ atMs }: StallSample, { fromMs, toMs }: Exchange): boolean {
  return atMs >= fromMs && atMs - 250 <= toMs;
}

const ms = (value: number): string => `${value.toFixed(1)} ms`;

async function attackAndTell(name: string, connections: number, streams: number) {
  const run = await runAttack({ budgets: [0n, null], connections, streams, lastsMs: SECONDS * 1000 });
  const [usual, attacked] = [run.usualMs, run.attackedMs].map((values) => quantile(values, 0.99));
  const figures = {
    usualP99Ms: usual ?? Number.NaN,
    attackedP99Ms: attacked ?? Number.NaN,
    healthMs: Math.max(...run.healthMs),
    stallMs: Math.max(...run.stalls.map(({ stallMs }) => stallMs)),
    workMs: Math.max(...run.stalls.map(({ workMs }) => workMs)),
    heapBytes: Math.max(...run.stalls.map(({ heapBytes }) => heapBytes)),
    residentBytes: Math.max(...run.stalls.map(({ residentBytes }) => residentBytes)),
  };
  process.stdout.write(
    `${name}: ${run.attack.sent} bodies, ${JSON.stringify(run.attack.byStatus)}; another key's p99 ${ms(figures.usualP99Ms)} ` +
      `before (${run.usualMs.length}), ${ms(figures.attackedP99Ms)} during it (${run.attackedMs.length}, ${run.failures.length} refused); ` +
      `p50 ${ms(quantile(run.usualMs, 0.5))} and ${ms(quantile(run.attackedMs, 0.5))}; healthz at most ${ms(figures.healthMs)} of ${run.healthMs.length}, before ${ms(Math.max(...run.usualHealthMs))}; ` +
      `loop at most ${ms(figures.stallMs)}, of it work ${ms(figures.workMs)}; heap ${(figures.heapBytes / 1e6).toFixed(0)} MB, resident ${(figures.residentBytes / 1e6).toFixed(0)} MB\n`,
  );
  return { run, figures };
}

it('64 connections of an attacker do not stop the server or slow others', async () => {
  const { run, figures } = await attackAndTell('64 connections', 64, 40);
  expect(run.exit).toEqual({ code: 0, signal: null });
  expect(run.failures).toEqual([]);
  expect(figures.healthMs).toBeLessThanOrEqual(MAX_HEALTH_MS);
  expect(figures.attackedP99Ms).toBeLessThanOrEqual(MAX_TIMES_USUAL * figures.usualP99Ms);
});

it('no shape of a body keeps the event loop for long', async () => {
  const { run, figures } = await attackAndTell('one connection', 1, 0);
  expect(run.exit).toEqual({ code: 0, signal: null });
  const worst = run.attack.exchanges.map((exchange) => ({
    ...exchange,
    workMs: Math.max(0, ...run.stalls.filter((stall) => isDuring(stall, exchange)).map(({ workMs }) => workMs)),
  }));
  for (const { body, status, workMs, fromMs, toMs } of worst.toSorted((a, b) => b.workMs - a.workMs).slice(0, 12)) {
    process.stdout.write(`  ${ms(workMs)} at ${body}: ${status} after ${toMs - fromMs} ms\n`);
  }
  expect(figures.workMs).toBeLessThanOrEqual(MAX_STALL_MS);
});
