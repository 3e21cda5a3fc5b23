// What is known beside the answers from one run to the next: what the model made of each document, so that it is read once,
// and what was passed over. No text is kept. It is also the lock of the answers, as a batch's is of its output: an SQLite
// file, whose lock the operating system lets go of however the process ends.

import { createHash } from 'node:crypto';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Question } from '../../domain/question.ts';
import { writeQuestion } from '../../quality/wire-question.ts';
import type { DocumentReading } from './row-reader.ts';

/** Another run writes the same answers, or the file beside them is not ours. */
export class LabelMemoryTaken extends Error {
  override readonly name = 'LabelMemoryTaken';
}

const LOCK_WAIT_MS = 500;
const SQLITE_BUSY = 5;
const SQLITE_NO_DATABASE = 26;
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS reading (key BLOB PRIMARY KEY, probabilities TEXT NOT NULL, vector BLOB) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS passed (key TEXT PRIMARY KEY) WITHOUT ROWID;
`;

export class LabelMemory {
  readonly #database: DatabaseSync;
  readonly #modelDigest: string;
  readonly #find: StatementSync;
  readonly #keep: StatementSync;

  private constructor(database: DatabaseSync, modelDigest: string) {
    this.#database = database;
    this.#modelDigest = modelDigest;
    this.#find = database.prepare('SELECT probabilities, vector FROM reading WHERE key = ?');
    this.#keep = database.prepare('INSERT OR REPLACE INTO reading (key, probabilities, vector) VALUES (?, ?, ?)');
  }

  /**
   * Holds the lock until it is closed.
   * @param modelDigest readings of another model are not found
   * @throws LabelMemoryTaken
   */
  static open(path: string, modelDigest: string): LabelMemory {
    const database = new DatabaseSync(path, { timeout: LOCK_WAIT_MS });
    try {
      // What is in it can be made anew: not worth a flush each time.
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; BEGIN EXCLUSIVE');
      database.exec(`${SCHEMA} COMMIT`);
      return new LabelMemory(database, modelDigest);
    } catch (error) {
      database.close();
      throw describeOpenFailure(error, path);
    }
  }

  findReading(state: string, questions: readonly Question[]): DocumentReading | undefined {
    const found = this.#find.get(this.#keyOfReading(state, questions));
    if (found === undefined) return undefined;
    const { probabilities, vector } = found;
    return {
      probabilities: JSON.parse(String(probabilities)) as number[][],
      // A copy: a Float32Array begins at a multiple of its size.
      vector: vector instanceof Uint8Array ? new Float32Array(Uint8Array.from(vector).buffer) : undefined,
    };
  }

  keepReading(state: string, questions: readonly Question[], { probabilities, vector }: DocumentReading): void {
    const bytes = vector === undefined ? null : new Uint8Array(vector.slice().buffer);
    this.#keep.run(this.#keyOfReading(state, questions), JSON.stringify(probabilities), bytes);
  }

  /** Keys of items. */
  get passed(): ReadonlySet<string> {
    const rows = this.#database.prepare('SELECT key FROM passed').all();
    return new Set(rows.map(({ key }) => String(key)));
  }

  keepPassed(key: string): void {
    this.#database.prepare('INSERT OR REPLACE INTO passed (key) VALUES (?)').run(key);
  }

  forgetPassed(key: string): void {
    this.#database.prepare('DELETE FROM passed WHERE key = ?').run(key);
  }

  close(): void {
    this.#database.close();
  }

  #keyOfReading(state: string, questions: readonly Question[]): Buffer {
    return digestOf([this.#modelDigest, state, ...questions.map(writeQuestion)]);
  }
}

function digestOf(texts: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(texts)).digest();
}

function describeOpenFailure(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : undefined;
  if (code === SQLITE_BUSY) return new LabelMemoryTaken('Somebody else is asked about these rows now.');
  if (code === SQLITE_NO_DATABASE) return new LabelMemoryTaken(`${path} is not a file of ours: move it away.`);
  return error;
}
