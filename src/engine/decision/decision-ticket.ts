// The ticket of one decision. It is measured and planned once, and runs as one task on the worker that
// knows the document, or cut into parts that any worker takes (cut-decision.ts). The answer is the same to the bit. On a device
// it is one task, or a few (device-decision.ts).

import { toAnswer } from '../../domain/answer.ts';
import type { DecideTask } from '../../runtime/messages.ts';
import { CountPart } from '../cost/token-counting.ts';
import { countCharacters } from '../cost/work-size.ts';
import type { Caller, DecideJob, DecideResult, Ticket } from '../engine.ts';
import { Part, QueuedTicket } from '../scheduling/queued-ticket.ts';
import { CutDecision } from './cut-decision.ts';
import type { DecidingModel, DecisionOutcome, MeasuredDecision } from './deciding-model.ts';
import type { DecisionSize } from './decision-cost.ts';
import { DeviceDecision } from './device-decision.ts';
import type { DocumentHashes } from './state-directory.ts';

export class DecisionTicket extends QueuedTicket<DecideResult> implements Ticket<DecideResult> {
  readonly queueClass = 'decision';
  readonly #model: DecidingModel;
  readonly #job: DecideJob;
  #known: MeasuredDecision | undefined;
  #whole: WholeDecision | undefined;
  #cut: CutDecision | undefined;
  #onDevice: DeviceDecision | undefined;

  constructor(model: DecidingModel, job: DecideJob, caller: Caller) {
    super(caller);
    this.#model = model;
    this.#job = job;
  }

  async countTokens(): Promise<number> {
    const { inputTokens } = this.#measured.size;
    if (inputTokens !== undefined) return inputTokens;
    const part = new CountPart({ kind: 'count-decision', ...this.#job }, countCharacters(this.#job));
    return await this.#model.counting.count([part], this.caller, this.queueClass);
  }

  enter(): void {
    if (this.isIn) return;
    const model = this.#model;
    const job = this.#job;
    const measured = this.#measured;
    const { inputs, plan, durationMs } = model.plan(measured);
    const slices = model.slicesOf(measured.size);
    if (slices !== undefined) {
      this.#onDevice = new DeviceDecision({ model, job, size: measured.size, slices });
      this.plan(this.#onDevice.begin());
    } else if (plan === undefined) {
      const { size, document } = measured;
      const costMs = model.cost.wholeMs(size, size.stateTokens * inputs.keptPart);
      this.#whole = new WholeDecision(costMs, { model, job, size, document });
      this.plan({ parts: [this.#whole], durationMs });
    } else {
      const memory = () => model.memories.memoryOf(this);
      this.#cut = new CutDecision({ model, job, measured, inputs, plan, memory });
      this.plan({ ...this.#cut.begin(), durationMs });
    }
    model.scheduler.submit(this);
  }

  protected override next() {
    return this.#cut?.next() ?? super.next();
  }

  /** One slice after the other: all at once they would fill the device, and end no sooner. */
  override get mayRun(): boolean {
    return super.mayRun && (this.#onDevice === undefined || this.runningParts === 0);
  }

  /** Only a cut decision needs more than a worker: memory that workers share. */
  protected override hasRoom(): boolean {
    return this.#cut === undefined || this.#model.memories.hasRoom(this);
  }

  protected override takeRoom(): void {
    if (this.#cut !== undefined) this.#model.memories.begin(this);
  }

  protected override giveRoom(): void {
    if (this.#cut !== undefined) this.#model.memories.end(this);
  }

  /** Of the memory it shares. */
  get bytes(): number {
    return this.#model.bytesOf(this.#measured.size.stateTokens);
  }

  protected collect(): DecideResult {
    const outcome = (this.#cut ?? this.#onDevice ?? this.#whole)?.collect();
    if (outcome === undefined) throw new Error('a decision ended that was not planned');
    this.#model.count(outcome);
    const { probabilities, inputTokens, keptTokens, vector, views, tokenizeMs, inferMs } = outcome;
    return {
      answers: this.#job.questions.map((question, place) => toAnswer(question, probabilities[place] ?? [])),
      inputTokens,
      timings: { queueMs: this.queueMs ?? 0, tokenizeMs, inferMs },
      source: { answer: 'run', keptTokens },
      ...(vector && { vector }),
      ...(this.#onDevice?.hadCompany && { isBatched: true }),
      ...(views && { views }),
    };
  }

  get #measured(): MeasuredDecision {
    this.#known ??= this.#model.measure(this.#job);
    return this.#known;
  }
}

interface WholeOptions extends MeasuredDecision {
  readonly model: DecidingModel;
  readonly job: DecideJob;
}

/** All of a decision as one task. */
class WholeDecision extends Part<DecideTask> {
  override readonly mayWait: boolean;
  readonly #model: DecidingModel;
  readonly #job: DecideJob;
  readonly #size: DecisionSize;
  readonly #document: DocumentHashes | undefined;
  readonly #encodeMs: number;

  constructor(costMs: number, { model, job, size, document }: WholeOptions) {
    super(costMs);
    this.#model = model;
    this.#job = job;
    this.#size = size;
    this.#document = document;
    this.mayWait = document !== undefined;
    this.#encodeMs = model.cost.encodeMs(size);
  }

  /** To the worker that has most of the document; where it lies is asked again whenever a worker is free. */
  override savedMs(worker: number): number {
    return this.#document === undefined ? 0 : this.#encodeMs * this.#model.directory.partOn(worker, this.#document);
  }

  begin(worker: number): DecideTask {
    const { modelId, state, questions, wantsVectors } = this.#job;
    return { kind: 'decide', modelId, state, questions, isPassing: this.#isPassing(worker), wantsVectors };
  }

  collect(): DecisionOutcome {
    const model = this.#model;
    const document = this.#document;
    const { reply, worker } = this;
    model.cost.observeWhole(this.#size, this);
    if (reply.isKept) model.remember(worker, document, reply.stateTokens);
    else if (document !== undefined) model.directory.remove(worker, document);
    return reply;
  }

  /** Most documents are asked about once: one that is quickly read again is kept from the second time on. */
  #isPassing(worker: number): boolean {
    const model = this.#model;
    const document = this.#document;
    const size = this.#size;
    if (document === undefined) return true;
    const isShort = size.stateTokens <= model.windowTokens && size.questions.length === 1;
    if (!model.directory.see(document) && isShort) return true;
    // From now on others about the same document do better to wait for this worker.
    model.remember(worker, document, size.stateTokens);
    return false;
  }
}
