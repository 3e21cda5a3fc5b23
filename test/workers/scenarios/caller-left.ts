// Five decisions; the first is shared by both workers, the others wait. The callers of the last two leave while they wait: those two are never run.

import { caller, createTinyEngine, longJob } from '../tiny-engine.ts';

const engine = await createTinyEngine();
await engine.ready;
const leaver = new AbortController();
const stay = [1, 2, 3].map((salt) => engine.ticketFor(longJob(salt), caller).run());
const leave = [4, 5].map((salt) =>
  engine
    .ticketFor(longJob(salt), { keyId: 'key', signal: leaver.signal })
    .run()
    .catch((error: unknown) => String(error)),
);
const queuedBefore = engine.status().queuedJobs;
leaver.abort('left');
const queuedAfter = engine.status().queuedJobs;
const reasons = await Promise.all(leave);
const answered = (await Promise.all(stay)).length;
await engine.drain();
process.stdout.write(JSON.stringify({ queuedBefore, queuedAfter, reasons, answered }));
