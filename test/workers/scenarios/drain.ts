// Six decisions over two workers, two embeddings, then a drain in the midst of it: all are answered, later ones refused,
// and the process ends by itself.

import { caller, createTinyEngine, longJob } from '../tiny-engine.ts';

const engine = await createTinyEngine();
await engine.ready;
const decisions = Array.from({ length: 6 }, (_, i) => engine.ticketFor(longJob(i), caller).run());
const inputs = ['the parcel', 'is late'];
const embeddings = [1, 2].map(() =>
  engine.ticketFor({ modelId: 'tiny-embedding', inputs, dimensions: undefined, encoding: 'base64' }, caller).run(),
);
const { busyWorkers } = engine.status();
const drained = engine.drain();
const late = await engine
  .ticketFor(longJob(), caller)
  .run()
  .catch((error: unknown) => (error as { code: string }).code);
const results = await Promise.all([...decisions, ...embeddings]);
await drained;
process.stdout.write(JSON.stringify({ busyWorkers, answered: results.length, late, state: engine.status().state }));
