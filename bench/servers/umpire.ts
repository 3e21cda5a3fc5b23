// Our server: among its peers, with its production entry and its defaults but for what would answer without running a model;
// and by itself, for what only we can be asked, with a key as an administrator makes it.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BenchClient } from '../load/client.ts';
import { describeVersions, ROOT } from '../machine/machine.ts';
import { API_KEY, type Server, type Settings, startServer } from './server.ts';
import type { ServerProcess } from './server-process.ts';

/** Every request of the bench is text never sent before: these would only cost. Off, nobody needs to take our word for it. */
export const WITHOUT_CACHES = {
  UMPIRE_ANSWERS_CACHE_BYTES: '0',
  UMPIRE_ANSWERS_MERGE: 'false',
  UMPIRE_ENGINE_STATE_CACHE_BYTES: '0',
};
const SERVE = ['src/launch.js', 'serve'];
/** The bare loops run the graphs of the CPU; a server on another device would be compared with something else. */
export const DEVICE = 'cpu';
/** Everything that can be asked of a key, and nothing that is reached. */
const KEY_OPTIONS = [
  ...['--name=bench', '--budget=1000000', '--reset=month', '--requests-per-minute=1000000000'],
  ...['--tokens-per-minute=1000000000', '--concurrent=1000000'],
];

/** @param settings default: nothing that answers without running a model @param entry file and arguments, from the project's root */
export function umpire(settings: Settings = WITHOUT_CACHES, entry: readonly string[] = SERVE): Server {
  const { umpire: version, node, packages } = describeVersions();
  return {
    id: 'umpire',
    title: 'umpire',
    kind: 'ours',
    tasks: ['decision', 'embedding'],
    settings,
    versions: { umpire: version, node, 'onnxruntime-node': packages['onnxruntime-node'] ?? '' },
    launch: (port, dataFolder) => ({
      file: process.execPath,
      arguments: entry,
      settings: {
        UMPIRE_HOST: '127.0.0.1',
        UMPIRE_PORT: String(port),
        UMPIRE_DATA_DIR: dataFolder,
        UMPIRE_API_KEY: API_KEY,
        UMPIRE_ENGINE_DEVICE: DEVICE,
        ...settings,
      },
      readyPath: '/readyz',
      endsWithZero: true,
    }),
  };
}

export interface OwnOptions {
  /** Default: none. */
  readonly settings?: Settings;
  readonly entry?: readonly string[] | undefined;
  /** Of an earlier start; default: a new one, removed afterwards. */
  readonly dataFolder?: string;
  /** Whether its client has a key with a budget and every limit, or else that of the environment. Default: it has. */
  readonly isMetered?: boolean;
}

export interface OwnServer {
  readonly server: ServerProcess;
  readonly client: BenchClient;
  readonly dataFolder: string;
}

/** Runs while it is used. @throws if it ends before, or not as it should */
export async function withUmpire<T>(options: OwnOptions, use: (own: OwnServer) => Promise<T>): Promise<T> {
  const { settings = {}, entry, dataFolder, isMetered = true } = options;
  if (dataFolder === undefined)
    return await withFolder((folder) => withUmpire({ ...options, dataFolder: folder }, use));
  const server = await startServer(umpire(settings, entry), dataFolder);
  try {
    const client = new BenchClient(server.origin, isMetered ? createKey(dataFolder, settings) : API_KEY, null);
    const result = await Promise.race([use({ server, client, dataFolder }), server.lost]);
    await client.close();
    await server.stop();
    return result;
  } finally {
    server.kill();
  }
}

/** A new folder, removed afterwards. */
export async function withFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const parent = mkdtempSync(join(tmpdir(), 'umpire-bench-'));
  const remove = (): void => rmSync(parent, { recursive: true, force: true });
  // Also when a signal ends the bench.
  process.once('exit', remove);
  try {
    return await use(parent);
  } finally {
    remove();
    process.off('exit', remove);
  }
}

/** @returns the secret */
function createKey(dataFolder: string, settings: Settings): string {
  const args = [join(ROOT, 'src', 'launch.js'), 'keys', 'create', ...KEY_OPTIONS, '--json'];
  const env = { ...process.env, ...settings, UMPIRE_DATA_DIR: dataFolder };
  const made = JSON.parse(execFileSync(process.execPath, args, { env, encoding: 'utf8' })) as { key: string };
  return made.key;
}
