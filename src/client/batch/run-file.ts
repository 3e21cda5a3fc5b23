// What is known of a batch beside its output: which run it is, and of what. It is also the lock: an SQLite file, because the
// operating system lets go of its lock however the process ends, and a killed run blocks nobody.

import { DatabaseSync } from 'node:sqlite';

/** What the rows of one output have in common, as texts to compare. */
export interface BatchTraits {
  /** `decide` or `embed` */
  readonly command: string;
  readonly model: string;
  /** Everything else that is in a request but the rows. */
  readonly questions: string;
  /** What is written: format, columns. */
  readonly columns: string;
}

/** What a batch was when a run of it began. */
export interface BatchIdentity extends BatchTraits {
  /** Of the batch: the same for all its runs. */
  readonly id: string;
  /** Rows of the input, and the digest of their ids and documents; 0 and empty for standard input. */
  readonly inputRows: string;
  readonly inputDigest: string;
}

/** Another run holds the output, or it belongs to another batch. */
export class OutputTaken extends Error {
  override readonly name = 'OutputTaken';
}

const LOCK_WAIT_MS = 500;
const SQLITE_BUSY = 5;
const SQLITE_NO_DATABASE = 26;

export class RunFile {
  readonly #database: DatabaseSync;
  readonly #known: ReadonlyMap<string, string>;

  private constructor(database: DatabaseSync) {
    this.#database = database;
    const rows = database.prepare('SELECT name, value FROM run').all();
    this.#known = new Map(rows.map(({ name, value }) => [String(name), String(value)]));
  }

  /** Holds the lock until it is closed. @throws OutputTaken */
  static open(path: string): RunFile {
    const database = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    try {
      // Kept from the first transaction to the end of the process.
      database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
      database.exec('CREATE TABLE IF NOT EXISTS run (name TEXT PRIMARY KEY, value TEXT NOT NULL); COMMIT');
      return new RunFile(database);
    } catch (error) {
      database.close();
      throw describeOpenFailure(error, path);
    }
  }

  /** undefined: nothing was written yet. */
  get identity(): BatchIdentity | undefined {
    const of = (name: string): string => this.#known.get(name) ?? '';
    if (!this.#known.has('id')) return undefined;
    return {
      id: of('id'),
      command: of('command'),
      model: of('model'),
      questions: of('questions'),
      columns: of('columns'),
      inputRows: of('inputRows'),
      inputDigest: of('inputDigest'),
    };
  }

  keep(identity: BatchIdentity): void {
    const insert = this.#database.prepare('INSERT OR REPLACE INTO run (name, value) VALUES (?, ?)');
    this.#database.exec('BEGIN');
    for (const [name, value] of Object.entries(identity)) insert.run(name, value);
    this.#database.exec('COMMIT');
  }

  close(): void {
    this.#database.close();
  }
}

function describeOpenFailure(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
  if (code === SQLITE_BUSY)
    return new OutputTaken('Another run is writing to this output. Wait for its end, or stop it.');
  if (code === SQLITE_NO_DATABASE) return new OutputTaken(`${path} is not a file of ours: move it away.`);
  return error;
}
