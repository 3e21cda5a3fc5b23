// What the bench knows of a server, ours or another's: one description that says what it is, how it is installed and started,
// and what it is asked; and how it becomes a process. All are warmed up alike, by who compares them, and asked in the same terms.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '../../test/postgres/free-port.ts';
import type { Task } from '../load/workload.ts';
import { ROOT } from '../machine/machine.ts';
import { type ServerCommand, ServerProcess } from './server-process.ts';

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
}

export interface Launch extends Pick<ServerCommand, 'file' | 'arguments' | 'settings' | 'readyPath' | 'endsWithZero'> {
  /** Where it runs; the project's root when it does not care. */
  readonly folder?: string;
}

/**
 * @param dataFolder the caller's: holds the log and what the server keeps, so a second start in it may be a warm one
 * @throws if it does not become ready; what it printed stands in the message
 */
export async function startServer({ launch }: Pick<Server, 'launch'>, dataFolder: string): Promise<ServerProcess> {
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 });
  const port = await findFreePort();
  const logFile = join(dataFolder, 'server.log');
  return await ServerProcess.start({
    folder: ROOT,
    ...launch(port, dataFolder),
    origin: `http://127.0.0.1:${port}`,
    logFile,
  });
}
