// How learnings ended, in a file of the data folder: whoever asks after a restart is told. No text of a row is in it.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isRecord, parsePlainJson } from '../../domain/json.ts';
import type { LearningJournal } from '../../services/learning/learner.ts';
import type { LearningJob } from '../../services/learning/learning-job.ts';
import { writeForOwner } from '../../storage/data-folder.ts';

const FILE = 'learning-jobs.json';
const FORMAT = 1;

export class JournalFile implements LearningJournal {
  readonly #path: string;

  constructor(dataDir: string) {
    this.#path = join(dataDir, FILE);
  }

  /** @throws Error when it is there and cannot be read */
  async read(): Promise<readonly LearningJob[]> {
    const text = await this.#readText();
    if (text === undefined) return [];
    const journal = parsePlainJson(text);
    if (!isRecord(journal) || journal['format'] !== FORMAT) throw new Error(`${this.#path} is of another version`);
    return journal['jobs'] as LearningJob[];
  }

  async write(jobs: readonly LearningJob[]): Promise<void> {
    await writeForOwner(this.#path, `${JSON.stringify({ format: FORMAT, jobs })}\n`);
  }

  async #readText(): Promise<string | undefined> {
    try {
      return await readFile(this.#path, 'utf8');
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
      throw error;
    }
  }
}
