// A PostgreSQL server of the tests, in a process of its own that ends it when the tests end, however they end. Started
// by postgres-server.ts; answers its commands over the channel between the two.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findIdentity, findPrograms } from './postgres-programs.ts';

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

const ATTEMPTS = 20;
/** Below those that systems give to whoever asks for any, so that nobody gets ours by chance while it is away. */
const FIRST_PORT = 20_000;
const PORTS = 10_000;
/** A file system in memory, on most Linux machines. */
const MEMORY_FOLDER = '/dev/shm';
/** A database is 300 files and 8 MB; there is one for each case of a test file. */
const ROOM_BYTES = 2 * 1024 ** 3;

const options = JSON.parse(process.argv[2] ?? '') as PostgresProcessOptions;
const identity = findIdentity();
/** Programs if they have to be copied, which a file system in memory may not let run; and the data. */
const folder = makeFolder(tmpdir());
const dataFolder = makeFolder(options.settings['fsync'] === 'off' ? findFastFolder() : tmpdir());
let programs: string | undefined;
let server: ChildProcess | undefined;
let port = 0;

function makeFolder(parent: string): string {
  const made = mkdtempSync(join(parent, 'umpire-postgres-'));
  if (identity.uid !== undefined && identity.gid !== undefined) chownSync(made, identity.uid, identity.gid);
  return made;
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

/** @returns folder of the programs */
function initialise(): string {
  const found = findPrograms(identity, join(folder, 'programs'));
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, `${options.password}\n`, { mode: 0o644 });
  const { status, stderr, error } = spawnSync(
    join(found, 'initdb'),
    [
      ...[`--pgdata=${dataFolder}`, '--auth=scram-sha-256', `--username=${options.user}`, `--pwfile=${passwordFile}`],
      ...['--no-sync', '--no-instructions', '--encoding=UTF8', '--locale=C'],
    ],
    { ...identity, cwd: folder, encoding: 'utf8' },
  );
  if (status !== 0) throw error ?? new Error(stderr);
  return found;
}

/** Whether a port is free, PostgreSQL tells by binding it. Once bound, it stays the same over restarts. */
async function start(): Promise<PostgresReply> {
  const isFirst = programs === undefined;
  programs ??= initialise();
  let log: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    if (isFirst) port = FIRST_PORT + ((process.pid * ATTEMPTS + attempt) % PORTS);
    log = await launch(join(programs, 'postgres'));
    if (log === undefined) return { type: 'started', port };
    if (!log.includes('could not bind')) break;
  }
  throw new Error(log);
}

/** @returns what it said if it ended; undefined: it takes connections */
async function launch(program: string): Promise<string | undefined> {
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', ...options.settings };
  const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(program, ['-D', dataFolder, '-p', String(port), ...flags], {
    ...identity,
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let log = '';
  const isReady = new Promise<boolean>((resolve) => {
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-10_000);
      if (log.includes('ready to accept connections')) resolve(true);
    });
    child.once('close', () => resolve(false));
    child.once('error', (error) => {
      log += error.message;
    });
  });
  if (!(await isReady)) return log;
  server = child;
  return undefined;
}

/** SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one: the first of its processes ends all others. */
async function end(signal: 'SIGINT' | 'SIGQUIT'): Promise<PostgresReply> {
  if (server !== undefined && server.exitCode === null && server.signalCode === null) {
    server.kill(signal);
    await once(server, 'exit');
  }
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
  for (const made of [dataFolder, folder]) rmSync(made, { recursive: true, force: true });
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
// A terminal tells the whole group; the tests decide when it ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
