// Thirty decisions into a queue for four; the first is shared by both workers. What was taken is answered, the rest refused with a time to come back.

import { AppError } from '../../../src/domain/errors.ts';
import { caller, createTinyEngine, longJob } from '../tiny-engine.ts';

const engine = await createTinyEngine({ queue: { maxJobs: 4, maxCostMs: 600_000, deadlineMs: 60_000 } });
await engine.ready;
const calls = Array.from({ length: 30 }, (_, i) =>
  engine
    .ticketFor(longJob(i), { ...caller, keyId: `key ${i}` })
    .run()
    .then(
      () => ({ code: 'answered', retryAfterMs: 0 }),
      (error: unknown) => (error instanceof AppError ? error : { code: 'unexpected', retryAfterMs: 0 }),
    ),
);
const outcomes = await Promise.all(calls);
await engine.drain();
const count = (code: string) => outcomes.filter((outcome) => outcome.code === code).length;
const retries = outcomes.filter(({ code }) => code === 'overloaded').map(({ retryAfterMs }) => retryAfterMs ?? 0);
const least = Math.min(...retries);
process.stdout.write(JSON.stringify({ answered: count('answered'), overloaded: count('overloaded'), least }));
