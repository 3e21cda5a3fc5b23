// How much of the machine the server uses: decisions of 512 tokens against bare loops on all workers, beside the same client at
// the same rate against an endpoint that does nothing.

import { join } from 'node:path';
import { BenchClient } from '../load/client.ts';
import { type DecisionSize, type Mix, makeDecision } from '../load/workload.ts';
import { BareLoops } from '../servers/bare-loop.ts';
import { API_KEY, NullEndpoint } from '../servers/child-processes.ts';
import { readEngineSettings } from '../servers/engine-settings.ts';
import { withOwnServer } from '../servers/own-server.ts';
import { measureThroughputRatio, type ThroughputRatio } from './overhead.ts';

const CONCURRENCY = 8;
const SIZE: DecisionSize = { stateTokens: 512, questions: 1, kind: 'choice' };

export type BareFigures = ThroughputRatio;

export async function measureBareLimit(rounds: number, durationMs: number): Promise<BareFigures> {
  return await withOwnServer({}, async ({ client, dataFolder }) => {
    const engine = await readEngineSettings(client);
    const loops = await BareLoops.start({
      ...engine,
      decision: makeDecision(SIZE),
      cacheFolder: join(dataFolder, 'cache'),
    });
    const endpoint = await NullEndpoint.start();
    const nullClient = new BenchClient(endpoint.origin, API_KEY, CONCURRENCY);
    const makeBody = (): string => JSON.stringify(makeDecision(SIZE));
    const mix: Mix = { name: 'decide 512 × 1', path: '/ai/v1/systemone', makeBody };
    try {
      const load = { client, nullClient, loops, mix, concurrency: CONCURRENCY, rounds, durationMs };
      return await measureThroughputRatio(load);
    } finally {
      await nullClient.close();
      endpoint.stop();
      await loops.stop();
    }
  });
}
