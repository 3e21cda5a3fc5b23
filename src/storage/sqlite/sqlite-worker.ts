// The thread of one SQLite file: node:sqlite is synchronous, so it must not run where requests are served. Owns the
// connection and its settings; what is asked, the other side decides.

import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import type { SqliteReply, SqliteRequest, SqliteResult, SqliteThreadData, SqliteValue } from './sqlite-messages.ts';

/** The server has a few dozen statements; the bound only keeps a mistake from growing without end. */
const MAX_STATEMENTS = 200;

const statements = new Map<string, StatementSync>();

function openDatabase({ file, busyTimeoutMs }: SqliteThreadData): DatabaseSync {
  const database = new DatabaseSync(file, { timeout: busyTimeoutMs });
  // With WAL readers and a writer of another process do not block each other; with it NORMAL loses at most the last
  // commits when the machine loses power, never the file.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;');
  return database;
}

function prepare(database: DatabaseSync, sql: string): StatementSync {
  const known = statements.get(sql);
  if (known !== undefined) return known;
  const statement = database.prepare(sql);
  // Without this an integer over 2^53 is an error.
  statement.setReadBigInts(true);
  if (statements.size >= MAX_STATEMENTS) statements.clear();
  statements.set(sql, statement);
  return statement;
}

function execute(database: DatabaseSync, sql: string, parameters: readonly SqliteValue[]): SqliteResult {
  const statement = prepare(database, sql);
  if (statement.columns().length > 0) {
    return { rows: statement.all(...parameters).map((row) => narrowIntegers(row as SqliteRow)), changes: undefined };
  }
  return { rows: [], changes: BigInt(statement.run(...parameters).changes) };
}

type SqliteRow = Record<string, SqliteValue>;

/** Integers that a number holds exactly become numbers. */
function narrowIntegers(row: SqliteRow): SqliteRow {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'bigint' && BigInt(Number(value)) === value && Number.isSafeInteger(Number(value))
        ? Number(value)
        : value,
    ]),
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function serve(database: DatabaseSync, port: NonNullable<typeof parentPort>): void {
  const reply = (message: SqliteReply): void => port.postMessage(message);
  port.on('message', (request: SqliteRequest) => {
    const { id } = request;
    try {
      if (request.type === 'query') {
        reply({ type: 'result', id, result: execute(database, request.sql, request.parameters) });
        return;
      }
      statements.clear();
      database.close();
      reply({ type: 'result', id, result: { rows: [], changes: undefined } });
      port.close();
    } catch (error) {
      reply({ type: 'error', id, message: messageOf(error) });
    }
  });
}

if (parentPort === null) throw new Error('This file is the entry of a thread.');
try {
  const database = openDatabase(workerData as SqliteThreadData);
  serve(database, parentPort);
  parentPort.postMessage({ type: 'opened' } satisfies SqliteReply);
} catch (error) {
  parentPort.postMessage({ type: 'open-failed', message: messageOf(error) } satisfies SqliteReply);
}
