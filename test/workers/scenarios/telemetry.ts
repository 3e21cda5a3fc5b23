// Starts the engine, decides, stops. The test looks at what was left in the home folder.

import { caller, createTinyEngine, longJob } from '../tiny-engine.ts';

const engine = await createTinyEngine();
await engine.ready;
await Promise.all([1, 2].map((salt) => engine.ticketFor(longJob(salt), caller).run()));
await engine.drain();
process.stdout.write(JSON.stringify({ done: true }));
