// What memory this process may still take: of the machine, or of its control group where that has a limit.

import { freemem, totalmem } from 'node:os';

const MIB = 2 ** 20;
/** For requests under way, the store, and whatever else runs beside. */
const RESERVE_BYTES = 64 * MIB;

export interface MemoryFigures {
  readonly platform: NodeJS.Platform;
  /** Of the machine. On macOS what is free leaves out what could be freed at once. */
  readonly freeBytes: number;
  readonly totalBytes: number;
  /** Of the control group; undefined: none. */
  readonly limitBytes: number | undefined;
  /** What this process has. */
  readonly ownBytes: number;
}

/** @returns what models and caches may take unless the configuration says it; 0 or more */
export function memoryForModels(figures: MemoryFigures = readFigures()): number {
  const { platform, freeBytes, totalBytes, limitBytes = Infinity, ownBytes } = figures;
  const ofMachine = platform === 'darwin' ? totalBytes - ownBytes : freeBytes;
  // Files that were read count for the group as used, and make room when it is needed: what is left of the limit tells more.
  return Math.max(0, Math.min(ofMachine, limitBytes - ownBytes) - RESERVE_BYTES);
}

function readFigures(): MemoryFigures {
  const limitBytes = process.constrainedMemory();
  return {
    platform: process.platform,
    freeBytes: freemem(),
    totalBytes: totalmem(),
    // Without a limit the system tells none, or one beyond all memory.
    limitBytes: limitBytes > 0 && limitBytes < totalmem() ? limitBytes : undefined,
    ownBytes: process.memoryUsage.rss(),
  };
}
