// What the bench knows of a server, ours or another's: one description that says what it is, what it is asked and how it is
// started. Whoever measures it starts it from that, and asks all of them in the same terms.

import type { Task } from '../load/workload.ts';

export type Settings = Readonly<Record<string, string>>;

/** For the `authorization` header; servers without keys do not read it. */
export const API_KEY = 'bench-key-of-fixed-text';

export interface Server {
  /** Names it in results: `umpire`, `python`, `python-tuned`, `infinity`, …. */
  readonly id: string;
  /** For tables and plots. */
  readonly title: string;
  /** What is compared with what: ours, a server as its users write it, or the same tuned for this machine. */
  readonly kind: 'ours' | 'as-written' | 'tuned';
  /** What it is asked. */
  readonly tasks: readonly Task[];
  /** Every setting that is not the software's default, for the report. */
  readonly settings: Settings;
  /** Software and versions that answer, for the report. */
  readonly versions: Settings;
  /** Called at each start, before the time to ready is measured: work that belongs to an installation is done here. */
  readonly launch: (port: number, dataFolder: string) => Launch;
  /** What it is called with, made while it runs; absent: `API_KEY`. */
  readonly makeKey?: (dataFolder: string) => string;
}

export interface Launch {
  readonly file: string;
  readonly arguments: readonly string[];
  /** Added to the environment. */
  readonly settings: Settings;
  /** A path that answers 200 once, and only when, requests are answered. */
  readonly readyPath: string;
  /** Where it runs; the project's root when it does not care. */
  readonly folder?: string;
  /** Whether any other end than exit code 0, when it is told to stop, is a fault. */
  readonly endsWithZero?: boolean;
}
