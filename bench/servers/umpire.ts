// Our server, with its production entry and its defaults, or told otherwise; ours with parts left out; and an endpoint of ours
// that does nothing.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describeVersions, ROOT } from '../machine/machine.ts';
import { API_KEY, type Server, type Settings } from './server.ts';

/** Every request of the bench is text never sent before: these would only cost. Off, nobody needs to take our word for it. */
export const WITHOUT_CACHES = {
  UMPIRE_ANSWERS_CACHE_BYTES: '0',
  UMPIRE_ANSWERS_MERGE: 'false',
  UMPIRE_ENGINE_STATE_CACHE_BYTES: '0',
};
export const LAUNCHER = join(ROOT, 'src', 'launch.js');
const REDUCED = join(import.meta.dirname, 'reduced-server.ts');
const NULL_ENDPOINT = join(import.meta.dirname, 'null-endpoint.ts');
/** The bare loops run the graphs of the CPU; a server on another device would be compared with something else. */
export const DEVICE = 'cpu';
/** Everything that can be asked of a key, and nothing that is reached. */
const KEY_OPTIONS = [
  ...['--name=bench', '--budget=1000000', '--reset=month', '--requests-per-minute=1000000000'],
  ...['--tokens-per-minute=1000000000', '--concurrent=1000000'],
];

export interface UmpireOptions {
  /** Default: none. */
  readonly settings?: Settings;
  /** What `reduced-server.ts` leaves out; default: nothing. */
  readonly without?: readonly ('model' | 'accounting')[];
  /** Whether it is called with a key as an administrator makes it, with a budget and every limit. */
  readonly hasLimits?: boolean;
}

export function umpire({ settings = {}, without, hasLimits = false }: UmpireOptions = {}): Server {
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
      arguments: without === undefined ? [LAUNCHER, 'serve'] : [REDUCED, ...without],
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
    ...(hasLimits ? { makeKey: (dataFolder) => createKey({ ...settings, UMPIRE_DATA_DIR: dataFolder }) } : {}),
  };
}

/** @returns the secret */
function createKey(settings: Settings): string {
  const env = { ...process.env, ...settings };
  const made = execFileSync(process.execPath, [LAUNCHER, 'keys', 'create', ...KEY_OPTIONS, '--json'], { env });
  return (JSON.parse(made.toString()) as { key: string }).key;
}

/** Reads the body and answers a constant: what the client of the bench costs by itself. */
export function nullEndpoint(): Server {
  return {
    id: 'null-endpoint',
    title: 'an endpoint that does nothing',
    kind: 'ours',
    tasks: ['decision'],
    settings: {},
    versions: { node: process.version },
    launch: (port) => ({
      file: process.execPath,
      arguments: [NULL_ENDPOINT],
      settings: { PORT: String(port) },
      readyPath: '/',
    }),
  };
}
