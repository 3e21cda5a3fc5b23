// A worker that dies in the middle of a job, in a whole server: its caller is told once, nothing is billed, and the same
// request works right after.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { compareBooks } from './books.ts';
import { type Answer, exchange, type Kind } from './exchange.ts';
import { Fleet } from './fleet.ts';
import { type IssuedKey, issueKey } from './issue-key.ts';
import { SqliteMoneyStore } from './money-store.ts';
import { untilSettled } from './until-settled.ts';

// Whole servers do real work here, on machines that may be busy with other tests.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });

const DYING = pathToFileURL(join(import.meta.dirname, 'dying-run.mjs')).href;

const folder = mkdtempSync(join(tmpdir(), 'umpire-death-'));
const deathFile = join(folder, 'death');
const store = new SqliteMoneyStore();
const answers: Answer[] = [];
let fleet: Fleet;
let address: string;
let key: IssuedKey;

beforeAll(async () => {
  const settings = { NODE_OPTIONS: `--import=${DYING}`, TEST_DEATH_FILE: deathFile, UMPIRE_ENGINE_WORKERS: '2' };
  fleet = await Fleet.over(store, { settings });
  [address = ''] = await fleet.launchMany(1);
  key = await issueKey(address, { budgetPicoUsd: 10n ** 12n });
});

afterAll(async () => {
  await fleet.dispose();
  await store.dispose();
  rmSync(folder, { recursive: true });
});

async function ask(kind: Kind): Promise<Answer> {
  const requestId = `loss-${answers.length}`;
  const order = { requestId, kind, words: 5, keyId: key.id, secret: key.secret, idempotencyKey: `order-${kind}` };
  const answer = await exchange(address, order);
  if (answer === undefined) throw new Error('A connection broke.');
  answers.push(answer);
  return answer;
}

it.each(['ranking', 'decision', 'embedding'] as const)(
  'a lost %s costs nothing, and is made when it is sent again',
  async (kind) => {
    writeFileSync(deathFile, '');
    const lost = await ask(kind);
    expect([lost.status, lost.text, existsSync(deathFile)]).toEqual([
      500,
      expect.stringContaining('"internal_error"'),
      false,
    ]);
    const again = await ask(kind);
    expect([again.status, again.isReplay]).toEqual([200, false]);
    expect(again.costPicoUsd).toBeGreaterThan(0n);
    await untilSettled(store);
    const { faults, answeredPicoUsd, ledgerPicoUsd } = await compareBooks(store, { answers, cut: [] });
    expect(faults).toEqual([]);
    expect(ledgerPicoUsd).toBe(answeredPicoUsd);
  },
);
