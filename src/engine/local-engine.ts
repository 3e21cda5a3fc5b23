// The engine on this machine: model folders, a pool of workers and our own queue in front of it. Owns the wiring and the
// states from loading to drained; knows nothing of HTTP, keys or money.

import type { Clock } from './clock.ts';
import type { Engine } from './engine.ts';

export interface LocalEngineOptions {
  /** Model folders as models/README.md describes them; their order is the order of `Engine.models`. At least one. */
  readonly modelFolders: readonly string[];
  /** Execution provider: `auto`, `cpu`, `cuda`, or any other name of the runtime library. */
  readonly device: string;
  /** Whether a named device that cannot be used may be replaced by `cpu`; otherwise the start fails. */
  readonly allowDeviceFallback: boolean;
  /** undefined: cores of the cgroup ÷ threads, at least 1. */
  readonly workers: number | undefined;
  readonly threadsPerWorker: number;
  /** Folder for optimised graphs, created if missing; undefined: none are kept and every start optimises again. */
  readonly cacheFolder: string | undefined;
  readonly queue: {
    /** Calls that may wait at once. */
    readonly maxJobs: number;
    /** Estimated worker time that may wait at once. */
    readonly maxCostMs: number;
    /** Longest wait before work on a call begins; a call that cannot meet it is refused as `overloaded`. */
    readonly deadlineMs: number;
  };
  readonly probe: {
    /** Time between probe inferences on an otherwise idle engine; 0: no probes. */
    readonly intervalMs: number;
    /** A probe or task that runs longer makes the engine `unresponsive` until it ends. */
    readonly timeoutMs: number;
  };
  /** What an operator should know; never texts of callers. */
  readonly onEvent: (event: EngineEvent) => void;
  /** Default: the system's. */
  readonly clock?: Clock;
}

export interface EngineEvent {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

export interface LocalEngine extends Engine {
  /** Resolves when every worker has loaded, checked and warmed every model; rejects with `StartError`. */
  readonly ready: Promise<void>;
}

/**
 * Reads and verifies the model folders, then starts the workers. Jobs are refused as `overloaded` until `ready` resolves.
 * @throws StartError when a folder is broken; the message says which folder, which file and why. What only the workers
 *   find (device, golden answers) rejects `ready` instead; the workers are ended by then.
 */
export async function createLocalEngine(_options: LocalEngineOptions): Promise<LocalEngine> {
  throw new Error('being built');
}
