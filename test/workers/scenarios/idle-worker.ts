// One worker and a process whose allocator holds memory that nobody uses: what is left of it when the worker has had
// nothing to do for a while.

import { readModelFolder } from '../../../src/runtime/model-folder/model-folder.ts';
import { isAddon, loadAddon } from '../../../src/runtime/native.ts';
import { WorkerPool } from '../../../src/runtime/worker-pool.ts';
import { until } from '../../waiting/until.ts';
import { longJob, tinyDecision } from '../tiny-engine.ts';

const MIB = 1024 * 1024;
const HELD_MIB = 128;
/** Too small to be mapped by themselves. */
const BLOCK_BYTES = 65_536;

const pool = new WorkerPool({
  workers: 1,
  models: [await readModelFolder(tinyDecision)],
  device: 'cpu',
  allowDeviceFallback: false,
  threads: 1,
  cacheFolder: undefined,
  stateCacheBytes: 0,
  onFault: () => undefined,
});
await pool.loaded;
const task = { kind: 'decide', ...longJob() } as const;
const { probabilities: before } = await pool.run(task, 0);

const blocks = Array.from({ length: (HELD_MIB * MIB) / BLOCK_BYTES }, () => new Uint8Array(BLOCK_BYTES).fill(1));
// The last one stays, on top of all others: without a word to it the allocator keeps them.
const last = blocks.pop();
for (const { buffer } of blocks) buffer.transfer(0);
const heldBytes = process.memoryUsage.rss();
await pool.run(task, 0);

const isFreed = () => heldBytes - process.memoryUsage.rss() > (HELD_MIB / 2) * MIB;
// Where nothing can be given back, nothing is; the test that started this knows.
await until('memory is given back', isFreed, { withinMs: 20_000, pauseMs: 200 }).catch(() => undefined);
const { probabilities: after } = await pool.run(task, 0);
const isSame = JSON.stringify(before) === JSON.stringify(after);
await pool.close();
const freed = isFreed();
const addon = await loadAddon();
const isPossible = isAddon(addon) && addon.giveBackMemory();
process.stdout.write(JSON.stringify({ isPossible, isFreed: freed, isSame, last: last?.length }));
