// What the server says of itself when it starts, as lines of its log; on a terminal greeting.ts says less. Pure.

import type { ModelCard } from '../domain/model-card.ts';

const DIGEST_SHOWN = 'sha256:'.length + 12;

export interface StartedServer {
  readonly models: readonly ModelCard[];
  /** Ids of models by their other names. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Execution provider in use. */
  readonly device: string;
  readonly workers: number;
  readonly threadsPerWorker: number;
  readonly caches: CacheSettings;
  readonly dataDir: string;
}

interface CacheSettings {
  /** Of documents, in each worker. */
  readonly stateCacheBytes: number;
  /** Of answers. */
  readonly cacheBytes: number;
  readonly cacheTtlMs: number;
  readonly scope: 'key' | 'all';
  readonly merge: boolean;
}

export function describeServer(started: StartedServer): string[] {
  return [
    ...started.models.map(
      ({ id, type, digest }) => `model   ${id} (${type}${digest ? `, ${digest.slice(0, DIGEST_SHOWN)}` : ''})`,
    ),
    ...Object.entries(started.aliases).map(([alias, modelId]) => `alias   ${alias} → ${modelId}`),
    `device  ${describeDevice(started)}`,
    `caches  ${describeCaches(started.caches)}`,
    `data    ${started.dataDir}`,
  ];
}

/** `cpu, 2 workers × 1 thread` */
export function describeDevice({ device, workers, threadsPerWorker: threads }: StartedServer): string {
  return `${device}, ${workers} ${plural('worker', workers)} × ${threads} ${plural('thread', threads)}`;
}

/** `documents 128 MiB a worker, answers 16 MiB for 300 s of one key, identical requests run once` */
function describeCaches({ stateCacheBytes, cacheBytes, cacheTtlMs, scope, merge }: CacheSettings): string {
  const sharers = scope === 'all' ? 'all keys' : 'one key';
  return [
    stateCacheBytes === 0 ? 'no documents' : `documents ${toMebibytes(stateCacheBytes)} a worker`,
    cacheBytes === 0 ? 'no answers' : `answers ${toMebibytes(cacheBytes)} for ${cacheTtlMs / 1000} s of ${sharers}`,
    ...(merge ? ['identical requests run once'] : []),
  ].join(', ');
}

function toMebibytes(bytes: number): string {
  return `${Math.round((10 * bytes) / 2 ** 20) / 10} MiB`;
}

function plural(noun: string, count: number): string {
  return count === 1 ? noun : `${noun}s`;
}

/** Where it listens, as it was told. */
export function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Address to call from this machine: a server that listens on every interface is reached over the loopback one. */
export function addressToCall(host: string, port: number): string {
  return addressOf(host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host, port);
}

/** `http://127.0.0.1:8080`, or `http://0.0.0.0:8080, every interface; from this machine http://127.0.0.1:8080` */
export function describeAddress(host: string, port: number): string {
  const [listening, callable] = [addressOf(host, port), addressToCall(host, port)];
  return listening === callable ? listening : `${listening}, every interface; from this machine ${callable}`;
}
