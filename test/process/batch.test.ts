// Batches and load tests as typed, against a server with keys and a ledger and in their own process: killed, resumed, stopped.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tinyDecision, tinyEmbedding } from '../workers/tiny-engine.ts';
import { BATCH, billOf, endBatch, linesOf, proveTwiceKilledBatch, writeShortRows } from './batch-rows.ts';
import { PATIENT } from './decisions.ts';
import { runUmpire } from './run-umpire.ts';
import { ServerProcess } from './server-process.ts';

const ROWS = 200;
const folder = mkdtempSync(join(tmpdir(), 'umpire-batch-'));
const server = new ServerProcess(PATIENT);
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  writeShortRows(folder, ROWS);
  env = { UMPIRE_URL: await server.ready(), UMPIRE_API_KEY: server.initialKey() };
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

describe('a batch', () => {
  it('that is killed twice ends complete, with every row once, billed once', async () => {
    await proveTwiceKilledBatch(server, { cwd: folder, env }, ROWS);
  });

  it('asks nothing when it is complete', async () => {
    const before = await billOf(server, folder, 10 * ROWS);
    const { code, out } = await runUmpire([...BATCH, '--json'], { cwd: folder, env });
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ complete: true, rows: ROWS, errors: 0, asked: 0 });
    expect(await billOf(server, folder, 10 * ROWS)).toEqual(before);
  });

  it('ends cleanly when it is interrupted, and goes on', async () => {
    const args = [...BATCH.slice(0, -1), 'stopped.jsonl'];
    const place = { cwd: folder, env, output: 'stopped.jsonl' };
    expect(await endBatch(args, place, { lines: ROWS * 0.3, by: 'SIGINT' })).toEqual({ code: 130, signal: null });
    expect(readFileSync(join(folder, 'stopped.jsonl'), 'utf8').at(-1)).toBe('\n');
    expect(linesOf(join(folder, 'stopped.jsonl')).length).toBeLessThan(ROWS);
    expect((await runUmpire(args, { cwd: folder, env })).code).toBe(0);
    expect(linesOf(join(folder, 'stopped.jsonl'))).toHaveLength(ROWS);
  });

  it('says that the key is missing', async () => {
    const { UMPIRE_URL = '' } = env;
    const args = [...BATCH.slice(0, -1), 'keyless.jsonl'];
    const { code, error } = await runUmpire(args, { cwd: folder, env: { UMPIRE_URL } });
    expect(code).toBe(1);
    expect(error).toContain('UMPIRE_API_KEY takes the key for it.\n0 of 200 rows are in keyless.jsonl.');
  });

  it('runs in its own process without a server', async () => {
    writeFileSync(join(folder, 'few.csv'), 'id,text\n1,the order is late\n2,"the ""order"" is open"\n');
    const own = { cwd: folder, env: { UMPIRE_MODELS: [tinyDecision, tinyEmbedding].join(',') } };
    const files = ['--input', 'few.csv', '--output'];
    const ask = ['--model', 'tiny-decision', '--noul', 'late?'];
    const decided = await runUmpire(['decide', ...files, 'few-answers.csv', ...ask], own);
    expect(decided.error).toContain('2 rows in few-answers.csv: 2 answered.');
    expect(readFileSync(join(folder, 'few-answers.csv'), 'utf8')).toMatch(
      /^id,q1,q1_probability,q1_confidence,input_tokens,cost_usd,error\r\n1,(true|false),0\.\d+,0\.\d+,\d+,[\d.]+,\r\n2,/,
    );
    const embedded = await runUmpire(['embed', ...files, 'few.jsonl', '--model', 'tiny-embedding'], own);
    expect(embedded.code).toBe(0);
    expect(linesOf(join(folder, 'few.jsonl')).map((line) => JSON.parse(line))).toEqual([
      { id: '1', embedding: expect.any(Array) },
      { id: '2', embedding: expect.any(Array) },
    ]);
  });
});

describe('umpire bench', () => {
  const short = ['--duration', '1', '--warmup', '0', '--words', '20'];
  const bench = (...args: readonly string[]) => runUmpire(['bench', ...short, ...args], { cwd: folder, env });

  it('measures clients that wait for their answers, and draws what it found', async () => {
    const { code, out } = await bench('--concurrency', '2');
    expect(code).toBe(0);
    expect(out).toMatch(/^Closed loop, 2 clients: decisions by kev, \d+ s after 0 s of warm-up\.$/m);
    expect(out).toMatch(/^requests +\d+, \d+ answered: [\d.]+ a second$/m);
    expect(out).toMatch(/^latency +p50 [\d.]+ m?s {2}p95 [\d.]+ m?s {2}p99 [\d.]+ m?s/m);
    expect(out).toMatch(/█/);
    expect(out).toMatch(/^cost +\$0\.0\d+$/m);
  });

  it('measures arrivals at a rate, over texts of one’s own, for programs', async () => {
    const { code, out } = await bench('--rate', '20', '--task', 'embeddings', '--input', 'rows.jsonl', '--json');
    expect(code).toBe(0);
    const report = JSON.parse(out);
    expect(report).toMatchObject({ task: 'embeddings', model: 'text-embed-mini', rate: 20, concurrency: null });
    expect(report.answered).toBe(report.requests);
    expect(report.latency_ms.p50).toBeLessThanOrEqual(report.latency_ms.p99);
    expect(report.slices).toHaveLength(40);
  });

  it('says what is wrong where nothing is answered', async () => {
    const { code, error } = await bench('--model', 'nobody', '--concurrency', '1');
    expect([code, error]).toEqual([1, 'umpire: No request was answered: model_not_found.\n']);
    const other = await bench('--model', 'kev', '--task', 'embeddings', '--concurrency', '1');
    expect([other.code, other.error]).toEqual([
      1,
      'umpire: No request was answered: model_type_mismatch. The model is of another type than the task: --task is one of decisions, embeddings, chat.\n',
    ]);
    const without = await runUmpire(['bench'], { cwd: folder });
    expect([without.code, without.error]).toEqual([2, expect.stringContaining('Say it with --url or UMPIRE_URL.')]);
  });
});
