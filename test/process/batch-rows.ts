// Files of rows for batches, and what a batch leaves behind.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { findPicoUsd } from '../../src/domain/money.ts';
import { until } from '../waiting/until.ts';
import { runUmpire } from './run-umpire.ts';
import { childEnvironment, type Environment, LAUNCHER, type ServerProcess } from './server-process.ts';

const QUESTIONS = {
  team: { type: 'choice', instructions: 'Which team?', criteria: { billing: 'payments', technical: 'bugs' } },
  urgent: { type: 'noul', instructions: 'Is it urgent?' },
};

const PROBLEMS = ['the invoice is wrong', 'the app crashes', 'I was charged twice', 'the page is slow'];

/** Short ones, no two alike. */
export function writeShortRows(folder: string, count: number): void {
  const rows = Array.from({ length: count }, (_, place) => ({
    id: `row-${place}`,
    text: `Ticket ${place}: ${PROBLEMS[place % PROBLEMS.length]}.`,
  }));
  writeFileSync(join(folder, 'rows.jsonl'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  writeFileSync(join(folder, 'questions.json'), JSON.stringify(QUESTIONS));
}

export function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(0, -1) : [];
}

export interface BatchPlace {
  readonly cwd: string;
  readonly env: Environment;
  readonly output: string;
}

/** Runs it until its output has so many lines, then sends the signal. @returns how it ended */
export async function endBatch(args: readonly string[], place: BatchPlace, end: { lines: number; by: NodeJS.Signals }) {
  const { cwd, env, output } = place;
  const { lines, by } = end;
  const child: ChildProcess = spawn(process.execPath, [LAUNCHER, ...args], {
    cwd,
    env: childEnvironment(env),
    stdio: 'ignore',
  });
  const ended = once(child, 'exit');
  try {
    await until(`${lines} rows are written`, () => linesOf(join(cwd, output)).length >= lines, { withinMs: 300_000 });
  } finally {
    child.kill(by);
  }
  const [code, signal] = await ended;
  return { code: code as number | null, signal: signal as NodeJS.Signals | null };
}

interface BilledRequest {
  readonly cost_usd: string;
  readonly cost_pico_usd: string;
}

/** What the ledger of a server says of all its requests. */
export async function billOf(server: ServerProcess, cwd: string, limit: number) {
  const env = { UMPIRE_DATA_DIR: server.dataDir };
  const { out } = await runUmpire(['requests', '--json', '--limit', String(limit)], { cwd, env });
  const requests = JSON.parse(out) as BilledRequest[];
  const billed = requests.map(({ cost_pico_usd }) => BigInt(cost_pico_usd)).filter((cost) => cost > 0n);
  return { requests: billed.length, costPicoUsd: billed.reduce((total, cost) => total + cost, 0n) };
}

export const BATCH = ['decide', '--input', 'rows.jsonl', '--questions', 'questions.json', '--output', 'out.jsonl'];

/** Kills it at a fifth and at three fifths of the rows, then lets it end, and holds its output against the ledger. */
export async function proveTwiceKilledBatch(server: ServerProcess, place: Omit<BatchPlace, 'output'>, rows: number) {
  const { cwd, env } = place;
  const output = join(cwd, 'out.jsonl');
  for (const lines of [rows * 0.2, rows * 0.6]) {
    const end = await endBatch(BATCH, { cwd, env, output: 'out.jsonl' }, { lines, by: 'SIGKILL' });
    expect(end.signal).toBe('SIGKILL');
    expect(linesOf(output).length).toBeLessThan(rows);
    // As if it had been killed while it wrote.
    appendFileSync(output, '{"id":"row-1","model":"ke');
  }
  const { code, error } = await runUmpire(BATCH, { cwd, env });
  expect(error).toContain('The last row of the output was not whole, and is asked again.');
  expect(error).toContain(`${rows.toLocaleString('en-US')} rows in out.jsonl`);
  expect(code).toBe(0);
  const written = linesOf(output).map((line) => JSON.parse(line));
  expect(written.map(({ id }) => id)).toEqual(Array.from({ length: rows }, (_, place) => `row-${place}`));
  const told = written.map(({ cost_usd }) => findPicoUsd(cost_usd) ?? 0n);
  const bill = await billOf(server, cwd, 10 * rows);
  expect(bill.requests).toBe(rows);
  expect(bill.costPicoUsd).toBe(told.reduce((total, cost) => total + cost, 0n));
}
