// The parts of a decision that is cut: each makes its task when it begins, and knows on which worker that is cheaper.

import type { AnswerEndTask, AnswerSliceTask, AnswerTask, EncodeTask, SharedDocument } from '../../runtime/messages.ts';
import type { DecideJob } from '../engine.ts';
import { Part } from '../scheduling/queued-ticket.ts';
import type { KeptShare } from './state-directory.ts';

interface EncodeOptions extends Pick<EncodeTask, 'share' | 'shares'> {
  readonly job: DecideJob;
  /** Where this share had been kept, and the time that spares. */
  readonly home: KeptShare | undefined;
  readonly savedMs: number;
  readonly memory: () => SharedArrayBuffer;
}

export class EncodePart extends Part<EncodeTask> {
  override readonly mayWait: boolean;
  readonly #options: EncodeOptions;

  constructor(costMs: number, options: EncodeOptions) {
    super(costMs);
    this.#options = options;
    this.mayWait = options.home !== undefined;
  }

  override savedMs(worker: number): number {
    return this.#options.home?.worker === worker ? this.#options.savedMs : 0;
  }

  begin(): EncodeTask {
    const { job, share, shares, memory } = this.#options;
    // One of them counts the questions for all.
    const questions = share === 0 ? job.questions : [];
    const { modelId, state } = job;
    return { kind: 'encode', modelId, state, questions, share, shares, memory: memory() };
  }
}

interface JoinOptions {
  /** Nobody puts anything together: it is read where it was written. */
  readonly isReadInPlace: boolean;
  readonly isAnsweredByOne: boolean;
  readonly staysJoined: boolean;
  readonly joinMs: number;
}

/** Workers that have the whole document together. */
export class JoinedWorkers {
  readonly #workers = new Set<number>();
  readonly #options: JoinOptions;

  constructor(options: JoinOptions) {
    this.#options = options;
  }

  get isAnsweredByOne(): boolean {
    return this.#options.isAnsweredByOne;
  }

  /** To a worker that has the document together, if one is idle; a giant one to that worker alone. */
  savedMs(worker: number): number {
    const { isAnsweredByOne, joinMs } = this.#options;
    if (!this.#workers.has(worker)) return 0;
    return isAnsweredByOne ? Number.POSITIVE_INFINITY : joinMs;
  }

  /** @returns whether it has to put the document together now */
  add(worker: number): boolean {
    if (this.#options.isReadInPlace) return false;
    if (this.#options.staysJoined && this.#workers.has(worker)) return false;
    this.#workers.add(worker);
    return true;
  }
}

interface EncodedDocument {
  readonly job: DecideJob;
  readonly shared: SharedDocument;
  readonly joined: JoinedWorkers;
}

/** A part that needs the whole document. */
abstract class JoiningPart<T extends AnswerTask | AnswerSliceTask> extends Part<T> {
  override readonly mayWait: boolean;
  /** Its worker put the document together for it. */
  hasJoined = false;
  protected readonly document: EncodedDocument;

  constructor(costMs: number, document: EncodedDocument) {
    super(costMs);
    this.document = document;
    this.mayWait = document.joined.isAnsweredByOne;
  }

  override savedMs(worker: number): number {
    return this.document.joined.savedMs(worker);
  }

  begin(worker: number): T {
    this.hasJoined = this.document.joined.add(worker);
    return this.task();
  }

  protected abstract task(): T;
}

export class AnswerPart extends JoiningPart<AnswerTask> {
  readonly places: readonly number[];

  constructor(costMs: number, document: EncodedDocument, places: readonly number[]) {
    super(costMs, document);
    this.places = places;
  }

  protected task(): AnswerTask {
    const { job, shared } = this.document;
    const questions = this.places.flatMap((place) => job.questions[place] ?? []);
    const { modelId, wantsVectors } = job;
    return { kind: 'answer', modelId, questions, document: shared, wantsVectors };
  }
}

interface SliceOptions extends Pick<AnswerSliceTask, 'slice' | 'slices'> {
  readonly place: number;
}

export class SlicePart extends JoiningPart<AnswerSliceTask> {
  readonly #options: SliceOptions;

  constructor(costMs: number, document: EncodedDocument, options: SliceOptions) {
    super(costMs, document);
    this.#options = options;
  }

  get place(): number {
    return this.#options.place;
  }

  protected task(): AnswerSliceTask {
    const { job, shared } = this.document;
    const { place, slice, slices } = this.#options;
    const question = questionAt(job, place);
    const { modelId, wantsVectors } = job;
    return { kind: 'answer-slice', modelId, question, document: shared, slice, slices, wantsVectors };
  }
}

interface EndOptions extends Pick<AnswerEndTask, 'stateTokens' | 'vectors'> {
  readonly job: DecideJob;
  readonly place: number;
}

export class EndPart extends Part<AnswerEndTask> {
  readonly #options: EndOptions;

  constructor(costMs: number, options: EndOptions) {
    super(costMs);
    this.#options = options;
  }

  /** As a group of one question has them. */
  get places(): readonly number[] {
    return [this.#options.place];
  }

  begin(): AnswerEndTask {
    const { job, place, stateTokens, vectors } = this.#options;
    const question = questionAt(job, place);
    return { kind: 'answer-end', modelId: job.modelId, question, stateTokens, vectors };
  }
}

function questionAt({ questions }: DecideJob, place: number): DecideJob['questions'][number] {
  const question = questions[place];
  if (question === undefined) throw new Error(`a decision has no question ${place}`);
  return question;
}
