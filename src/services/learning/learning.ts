// Door of learning: models that administrators have learned from labelled rows, one at a time. Owns jobs, from the order
// to how they ended, and their audit records. What learns is learner.ts's; which models are served, learned-models.ts's.

import { randomUUID } from 'node:crypto';
import { AppError, messageOf } from '../../domain/errors.ts';
import type { AuditService } from '../audit.ts';
import type { LearnedModelStatus, LearnedModels } from '../learned-models.ts';
import type { Learner, LearningEnd, LearningJournal, LearningUnderWay } from './learner.ts';
import type { LearningError, LearningJob, LearningProgress, LearningReport } from './learning-job.ts';
import { LearningJobs } from './learning-jobs.ts';
import { readSentRows, type SentRows } from './row-reading.ts';

export interface NewLearning extends SentRows {
  readonly modelId: string;
  /** Own id of a local decision model; undefined: that of the model to which rows are added. */
  readonly base: string | undefined;
  readonly usesEmbedder: boolean;
  readonly addsRows: boolean;
}

export interface LearningEvent {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface LearningOptions {
  readonly learner: Learner;
  readonly models: LearnedModels;
  readonly audit: Pick<AuditService, 'record'>;
  readonly journal: LearningJournal;
  /** As it is now: it may change while the server runs. */
  readonly maxRows: () => number;
  readonly onEvent: (event: LearningEvent) => void;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly nowMs?: () => number;
}

/** A learned model, and the last learning of it that was ordered here. One of both is there. */
export interface AdministeredModel {
  readonly id: string;
  readonly status: LearnedModelStatus | undefined;
  readonly job: LearningJob | undefined;
}

/** `cancelled`: what was under way; the model that was there stays. */
export type RemovalOutcome = 'removed' | 'cancelled';

/** The learning that has the only place. */
interface Current {
  readonly modelId: string;
  readonly actor: string;
  process: LearningUnderWay | undefined;
  isCancelled: boolean;
  /** Whether it may write: from then on only the disk says how it ended. */
  isConfirmed: boolean;
  /** Its job tells how it ended. */
  readonly settled: PromiseWithResolvers<void>;
}

const WRITING_MS = 5000;

export class LearningService {
  readonly #options: LearningOptions;
  readonly #nowMs: () => number;
  readonly #jobs: LearningJobs;
  #current: Current | undefined;
  #isClosed = false;

  constructor(options: LearningOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#jobs = new LearningJobs(options.journal, (error) =>
      this.#tell('warn', 'how learnings ended could not be kept for the next start', { reason: messageOf(error) }),
    );
  }

  /** Tells how those ended that an earlier process had begun. */
  async start(): Promise<void> {
    const digests = new Map(this.#options.models.list().map(({ id, card }) => [id, card?.digest]));
    await this.#jobs.recover((job) => {
      const digest = digests.get(job.modelId) ?? null;
      return job.report !== null && digest !== null && digest !== job.digestBefore ? digest : null;
    }, this.#nowMs());
  }

  /** Ends what is under way: the model that was there stays. What is being written is waited for, for a while. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const current = this.#current;
    if (current !== undefined) {
      const timer = setTimeout(() => current.process?.stop(), current.isConfirmed ? WRITING_MS : 0);
      await current.settled.promise;
      clearTimeout(timer);
    }
    await this.#jobs.written();
  }

  /** By id. */
  list(): readonly AdministeredModel[] {
    const statuses = this.#options.models.list();
    const ids = new Set([...statuses, ...this.#jobs.all().map(({ modelId: id }) => ({ id }))].map(({ id }) => id));
    return [...ids].sort().map((id) => this.#describe(id, statuses));
  }

  /** @throws AppError `model_not_found` */
  get(id: string): AdministeredModel {
    const found = this.#describe(id, this.#options.models.list());
    if (found.status === undefined && found.job === undefined) throw notFound();
    return found;
  }

  /**
   * Begins to learn, and does not wait for the end. A model that is there is replaced when it has ended, not before.
   * @throws AppError `invalid_request`, `request_too_large` more rows than are taken, `conflict` while another is learned
   *   or when the id is another model's, `model_not_found` when rows are to be added to none, `overloaded` while the
   *   server is stopping
   */
  async learn(wanted: NewLearning, actor: string): Promise<LearningJob> {
    this.#checkOrder(wanted);
    const { modelId } = wanted;
    const settled = Promise.withResolvers<void>();
    const current: Current = {
      ...{ modelId, actor, process: undefined, isCancelled: false, isConfirmed: false, settled },
    };
    this.#current = current;
    try {
      const rows = await readSentRows(wanted);
      const job = this.#newJob(wanted, actor);
      const { id, base, usesEmbedder, addsRows } = job;
      const details = { job: id, base, embedder: usesEmbedder, more: addsRows, rows: rows.length };
      await this.#record('model.learn', current, details);
      if (this.#isClosed) throw stopping();
      if (current.isCancelled) throw new AppError('conflict', 'It was cancelled before it began.');
      this.#jobs.put(job);
      current.process = this.#options.learner.start(
        { modelId, base: wanted.base, usesEmbedder, addsRows, rows },
        {
          progressed: (progress) => this.#progressed(modelId, progress),
          reported: (report) => this.#confirm(current, report),
        },
      );
      this.#tell('info', 'learning began', { model: modelId, ...details });
      void current.process.ended.then((end) => this.#settle(current, end));
      return job;
    } catch (error) {
      this.#leave(current);
      throw error;
    }
  }

  /**
   * Cancels what is under way for this id, and waits for its end; else removes the model, or forgets how a learning of it
   * ended.
   * @throws AppError `model_not_found`, `conflict` while another process learns it
   */
  async remove(id: string, actor: string): Promise<RemovalOutcome> {
    const current = this.#current;
    if (current?.modelId === id) {
      await this.#record('model.cancel', { modelId: id, actor }, { job: this.#jobs.find(id)?.id ?? null });
      current.isCancelled = true;
      current.process?.stop();
      await current.settled.promise;
      return 'cancelled';
    }
    const { status } = this.get(id);
    if (status !== undefined) {
      await this.#record('model.remove', { modelId: id, actor }, { digest: status.card?.digest ?? null });
      await this.#options.models.remove(id);
      this.#tell('info', 'learned model removed', { model: id });
    }
    this.#jobs.forget(id);
    return 'removed';
  }

  #checkOrder({ modelId, base, addsRows, rows }: NewLearning): void {
    const { models } = this.#options;
    const maxRows = this.#options.maxRows();
    if (this.#isClosed) throw stopping();
    const fault = models.findIdFault(modelId);
    if (fault !== undefined) throw new AppError('conflict', fault, { param: 'id' });
    const learned = models.list();
    if (base !== undefined && learned.some(({ id }) => id === base)) {
      throw new AppError('invalid_request', 'A learned model cannot be the base of another.', { param: 'model' });
    }
    if (addsRows && learned.every(({ id }) => id !== modelId)) {
      const message = 'There is no learned model of this id that rows could be added to.';
      throw new AppError('model_not_found', message, { param: 'id' });
    }
    if (rows.length > maxRows) {
      const most = maxRows.toLocaleString('en-US');
      throw new AppError('request_too_large', `At most ${most} rows are taken.`, { param: 'rows' });
    }
    if (this.#current === undefined) return;
    const message = `The model ${this.#current.modelId} is being learned, and one is learned at a time. DELETE cancels it.`;
    throw new AppError('conflict', message);
  }

  #newJob({ modelId, base, usesEmbedder, addsRows, rows }: NewLearning, startedBy: string): LearningJob {
    const before = this.#options.models.list().find(({ id }) => id === modelId);
    return {
      id: `learn_${randomUUID().replaceAll('-', '')}`,
      modelId,
      base: base ?? null,
      usesEmbedder,
      addsRows,
      rows: rows.length,
      state: 'running',
      progress: { step: 'starting', done: 0, total: 0 },
      startedAtMs: this.#nowMs(),
      startedBy,
      endedAtMs: null,
      digestBefore: before?.card?.digest ?? null,
      digest: null,
      error: null,
      report: null,
    };
  }

  #progressed(modelId: string, progress: LearningProgress): void {
    this.#jobs.change(modelId, { progress });
  }

  /** Nothing is written without its record in the audit trail. @throws when it must not be written */
  async #confirm(current: Current, report: LearningReport): Promise<void> {
    this.#jobs.change(current.modelId, { report });
    const learned = report.questions.filter(({ verdict }) => verdict === 'learned').length;
    if (learned > 0) await this.#record('model.write', current, { job: this.#jobs.find(current.modelId)?.id, learned });
    if (current.isCancelled || this.#isClosed) throw new Error('The learning was stopped.');
    current.isConfirmed = true;
    // The next start must know that it may find a model that this one never told of.
    this.#jobs.keep();
    await this.#jobs.written();
  }

  async #settle(current: Current, end: LearningEnd): Promise<void> {
    const { modelId, isConfirmed, isCancelled } = current;
    try {
      const written = end.type === 'written' || isConfirmed ? await this.#takeIn(modelId, end) : undefined;
      const endedAtMs = this.#nowMs();
      if (written?.digest !== undefined) {
        this.#jobs.end(modelId, { state: 'succeeded', digest: written.digest, endedAtMs });
      } else if (isCancelled) {
        this.#jobs.end(modelId, { state: 'cancelled', endedAtMs });
      } else {
        const error = written?.error ?? this.#errorOf(end);
        this.#jobs.end(modelId, { state: 'failed', error, endedAtMs });
        await this.#recordFailure(current, error);
      }
      this.#tellEnd(modelId, end);
    } finally {
      this.#leave(current);
    }
  }

  /** Whether there is a new folder, and the server answers by it. @returns no digest and no error: there is none */
  async #takeIn(modelId: string, end: LearningEnd): Promise<{ digest?: string; error?: LearningError }> {
    const before = this.#jobs.find(modelId)?.digestBefore;
    try {
      const { digest } = await this.#options.models.load(modelId);
      if (digest === undefined || (end.type !== 'written' && digest === before)) return {};
      return { digest };
    } catch (error) {
      if (end.type !== 'written') return {};
      return { error: { code: 'not_served', message: messageOf(error) } };
    }
  }

  #errorOf(end: LearningEnd): LearningError {
    if (end.type === 'failed') return end.error;
    if (this.#isClosed) return { code: 'interrupted', message: 'The server was stopped before it was done.' };
    const reason = end.type === 'lost' ? end.reason : 'nothing was written';
    return { code: 'process_lost', message: `The process that learned did not come to its end: ${reason}.` };
  }

  #tellEnd(modelId: string, end: LearningEnd): void {
    const job = this.#jobs.find(modelId);
    if (job === undefined) return;
    const { id, state, startedAtMs, endedAtMs, error } = job;
    const tookMs = (endedAtMs ?? startedAtMs) - startedAtMs;
    const fault = error === null ? {} : { code: error.code, reason: error.message };
    const level = error === null ? 'info' : 'warn';
    this.#tell(level, 'learning ended', { model: modelId, job: id, outcome: state, end: end.type, tookMs, ...fault });
  }

  /** Whoever reads the trail must not take what was begun for done. */
  async #recordFailure(current: Current, { code }: LearningError): Promise<void> {
    try {
      await this.#record('model.fail', current, { job: this.#jobs.find(current.modelId)?.id, code });
    } catch (error) {
      this.#tell('warn', 'the end of a learning could not be written to the audit trail', { reason: messageOf(error) });
    }
  }

  async #record(
    action: string,
    { modelId: target, actor }: Pick<Current, 'modelId' | 'actor'>,
    details: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await this.#options.audit.record({ atMs: this.#nowMs(), actor, action, target, details });
  }

  #leave(current: Current): void {
    if (this.#current === current) this.#current = undefined;
    current.settled.resolve();
  }

  #describe(id: string, statuses: readonly LearnedModelStatus[]): AdministeredModel {
    return { id, status: statuses.find((status) => status.id === id), job: this.#jobs.find(id) };
  }

  #tell(level: LearningEvent['level'], message: string, details: LearningEvent['details']): void {
    this.#options.onEvent({ level, message, details });
  }
}

function notFound(): AppError {
  return new AppError('model_not_found', 'There is no learned model of this id, and none is being learned.');
}

function stopping(): AppError {
  return new AppError('overloaded', 'The server is stopping.');
}
