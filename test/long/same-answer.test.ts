// The same requests 10,000 times under mixed load, with kept documents: one answer to the bit, whether it is run every time or
// comes from runs and answers that are shared. SAME_ANSWER_REQUESTS says how often.

import { describe, expect, it } from 'vitest';
import { askAgainAndAgain, type SameAnswerRun } from '../load/same-answer-run.ts';
import type { Environment } from '../process/server-process.ts';

const REQUESTS = Number(process.env['SAME_ANSWER_REQUESTS'] ?? 10_000);

const RUN_EVERY_TIME: Environment = { UMPIRE_ANSWERS_CACHE_BYTES: '0', UMPIRE_ANSWERS_MERGE: 'false' };
/** So short a life that answers are run, shared and found. */
const SHARED: Environment = { UMPIRE_ANSWERS_CACHE_TTL_MS: '30', UMPIRE_ANSWERS_SCOPE: 'all' };

function expectOneAnswer({ replies, failures }: SameAnswerRun): void {
  expect(failures).toEqual([]);
  for (const [name, { different }] of replies) expect(`${name}: ${different}`).toBe(`${name}: 1`);
  expect(Math.max(...[...replies.values()].map(({ count }) => count))).toBe(REQUESTS);
}

function tell(name: string, { replies, others, sources, kept }: SameAnswerRun): void {
  const asked = [...replies].map(([what, { count }]) => `${what}: ${count}`).join('; ');
  process.stdout.write(
    `${name}: ${asked}; beside ${others} others; ${JSON.stringify(sources)}, kept ${JSON.stringify(kept)}\n`,
  );
}

describe(`the same requests, ${REQUESTS} times`, () => {
  it('get one answer to the bit when each is run', async () => {
    const run = await askAgainAndAgain(REQUESTS, RUN_EVERY_TIME);
    tell('run every time', run);
    expectOneAnswer(run);
    expect(Object.keys(run.sources).filter((source) => source !== 'none' && source !== 'miss')).toEqual([]);
    expect(run.others).toBeGreaterThan(0);
    // Both ways were gone: with the document encoded anew, and with what was kept of it.
    expect(Math.min(run.kept.yes, run.kept.no)).toBeGreaterThan(0);
  });

  it('get it too when runs and answers are shared', async () => {
    const run = await askAgainAndAgain(REQUESTS, SHARED);
    tell('shared', run);
    expectOneAnswer(run);
    expect(run.sources).toMatchObject({ miss: expect.any(Number), hit: expect.any(Number) });
  });
});
