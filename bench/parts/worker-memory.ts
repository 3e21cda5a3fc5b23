// What our server's memory is made of: one worker, a second one, kept documents. Shared pages count once.

import { runClosedSlice } from '../load/closed-loop.ts';
import { type Loads, streamOf } from '../load/loads.ts';
import type { Member } from '../servers/fleet.ts';
import { type OwnServer, type Settings, startOwnServer, withDataFolder } from '../servers/own-server.ts';

const CONCURRENCY = 4;
const WITHOUT_KEPT_DOCUMENTS = { UMPIRE_ENGINE_STATE_CACHE_BYTES: '0' };

export interface MemoryFigures {
  readonly workers: number;
  readonly keepsDocuments: boolean;
  readonly startedBytes: number | null;
  /** After decisions of the short class and the mix, four at a time. */
  readonly loadedBytes: number | null;
}

export async function measureWorkerMemory(loads: Loads, loadMs: number): Promise<MemoryFigures[]> {
  return await withDataFolder(async (dataFolder) => {
    const measure = (settings: Settings) =>
      startOwnServer(settings, dataFolder, (own) => measureBytes(own, loads, loadMs));
    const figures: MemoryFigures[] = [];
    for (const [workers, keepsDocuments] of [
      // The first start of all fills the cache of optimised graphs, which costs memory of its own.
      [2, false],
      [1, false],
      [2, false],
      [2, true],
    ] as const) {
      const kept = keepsDocuments ? {} : WITHOUT_KEPT_DOCUMENTS;
      const bytes = await measure({ UMPIRE_ENGINE_WORKERS: String(workers), ...kept });
      figures.push({ workers, keepsDocuments, ...bytes });
    }
    return figures.slice(1);
  });
}

async function measureBytes({ running, client }: OwnServer, loads: Loads, durationMs: number) {
  const startedBytes = running.server.proportionalBytes() ?? null;
  const member: Pick<Member, 'running' | 'client'> = { running, client };
  for (const load of [loads.short, loads.mix]) {
    await runClosedSlice({ member, next: streamOf(load, 99), concurrency: CONCURRENCY, durationMs });
  }
  return { startedBytes, loadedBytes: running.server.proportionalBytes() ?? null };
}
