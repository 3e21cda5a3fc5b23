// Connections to PostgreSQL as the configured address wants them. Opens none by itself.

import { Pool, type PoolConfig } from 'pg';
import { StorageError } from '../storage-error.ts';
import { exactIntegers } from './postgres-types.ts';

export interface PoolOptions {
  /** `postgres://user:password@host:5432/name?sslmode=verify-full`; more parameters as the driver takes them. */
  readonly url: string;
  readonly maxConnections: number;
  /** Until a connection stands, or one of the pool is free. */
  readonly connectTimeoutMs: number;
}

/** What can be kept: either encrypted or not, with the server's certificate checked or not. */
const SSL_MODES = ['disable', 'require', 'verify-ca', 'verify-full'];
/** Idle connections are dropped after this time; a failover that went by unnoticed is then forgotten too. */
const IDLE_TIMEOUT_MS = 30_000;

/** @throws StorageError when the address cannot be used; without quoting it, because a password is in it */
export function createPool({ url, maxConnections, connectTimeoutMs }: PoolOptions): Pool {
  const config: PoolConfig = {
    application_name: 'umpire',
    connectionString: withLibpqModes(url),
    max: maxConnections,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    // Without it a connection whose other end has vanished is never missed.
    keepAlive: true,
    // Statements are sent without waiting for the answer to the one before: see PostgresConnection.begin().
    pipeline: true,
    types: exactIntegers,
  };
  const pool = new Pool(config);
  // A lost connection is told to whoever waits for an answer on it. Without listeners it would end the process.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/**
 * The driver is about to change what `sslmode=require` means, and warns until then. Here the modes mean what they mean to
 * PostgreSQL's own programs: `require` encrypts and trusts any certificate, `verify-full` trusts only the right one.
 */
function withLibpqModes(text: string): string {
  const url = new URL(text);
  const mode = url.searchParams.get('sslmode');
  if (mode === null) return text;
  if (!SSL_MODES.includes(mode)) {
    throw new StorageError(`databaseUrl: sslmode must be one of ${SSL_MODES.join(', ')}.`);
  }
  if (mode === 'verify-ca' && !url.searchParams.has('sslrootcert')) {
    throw new StorageError('databaseUrl: sslmode=verify-ca needs sslrootcert; verify-full does not.');
  }
  url.searchParams.set('uselibpqcompat', 'true');
  return url.href;
}
