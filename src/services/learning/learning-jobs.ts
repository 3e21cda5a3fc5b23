// The last job of each model, in memory and in the journal: written at its begin, before anything is changed, and at its
// end; progress is for those who ask.

import type { LearningJournal } from './learner.ts';
import type { LearningError, LearningJob, LearningState } from './learning-job.ts';

/** Older ones are forgotten: a model outlives its job. */
const MOST_JOBS = 100;

const INTERRUPTED: LearningError = {
  code: 'interrupted',
  message: 'The server ended before it was done.',
};

export interface JobEnd {
  readonly state: Exclude<LearningState, 'running'>;
  readonly endedAtMs: number;
  readonly digest?: string;
  readonly error?: LearningError;
}

export class LearningJobs {
  readonly #journal: LearningJournal;
  readonly #onFailure: (error: unknown) => void;
  /** By model, the newest last. */
  readonly #jobs = new Map<string, LearningJob>();
  #lastWrite: Promise<void> = Promise.resolve();

  constructor(journal: LearningJournal, onFailure: (error: unknown) => void) {
    this.#journal = journal;
    this.#onFailure = onFailure;
  }

  /** @param findWritten the digest of what a job that was under way has written all the same; null: nothing */
  async recover(findWritten: (job: LearningJob) => string | null, nowMs: number): Promise<void> {
    for (const job of await this.#read()) {
      const digest = job.state === 'running' ? findWritten(job) : job.digest;
      this.#jobs.set(job.modelId, job.state === 'running' ? recovered(job, digest, nowMs) : job);
    }
  }

  all(): readonly LearningJob[] {
    return [...this.#jobs.values()];
  }

  find(modelId: string): LearningJob | undefined {
    return this.#jobs.get(modelId);
  }

  put(job: LearningJob): void {
    this.#jobs.delete(job.modelId);
    this.#jobs.set(job.modelId, job);
    const [oldest] = this.#jobs.keys();
    if (this.#jobs.size > MOST_JOBS && oldest !== undefined) this.#jobs.delete(oldest);
    this.keep();
  }

  change(modelId: string, change: Partial<Pick<LearningJob, 'progress' | 'report'>>): void {
    const job = this.#jobs.get(modelId);
    if (job?.state === 'running') this.#jobs.set(modelId, { ...job, ...change });
  }

  end(modelId: string, end: JobEnd): void {
    const job = this.#jobs.get(modelId);
    if (job === undefined) return;
    this.#jobs.set(modelId, { ...job, ...end });
    this.keep();
  }

  forget(modelId: string): void {
    if (this.#jobs.delete(modelId)) this.keep();
  }

  /** As they are now; one write after the other. */
  keep(): void {
    const jobs = this.all();
    this.#lastWrite = this.#lastWrite.then(() => this.#journal.write(jobs)).catch(this.#onFailure);
  }

  /** When everything is written that was to be kept. */
  async written(): Promise<void> {
    await this.#lastWrite;
  }

  async #read(): Promise<readonly LearningJob[]> {
    try {
      return await this.#journal.read();
    } catch (error) {
      this.#onFailure(error);
      return [];
    }
  }
}

function recovered(job: LearningJob, digest: string | null, endedAtMs: number): LearningJob {
  if (digest !== null) return { ...job, state: 'succeeded', digest, endedAtMs };
  return { ...job, state: 'failed', error: INTERRUPTED, endedAtMs };
}
