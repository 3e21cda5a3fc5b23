// A decision that is cut, from its first part to its outcome: shares of its document are encoded, then groups of its
// questions answered, and slices of those that are too long for a part, which are ended last.

import { sum } from '../../domain/sum.ts';
import type { DecideJob } from '../engine.ts';
import type { PlannedWork } from '../scheduling/queued-ticket.ts';
import type { DecidingModel, DecisionOutcome, MeasuredDecision } from './deciding-model.ts';
import { AnswerPart, EncodePart, EndPart, JoinedWorkers, SlicePart } from './decision-parts.ts';
import { countAnswerParts, type DecisionPlan, type PlanInputs } from './decision-plan.ts';

export interface CutDecisionOptions {
  readonly model: DecidingModel;
  readonly job: DecideJob;
  readonly measured: MeasuredDecision;
  readonly inputs: PlanInputs;
  readonly plan: DecisionPlan;
  /** Of the whole document, the same each time. Asked for once its work has begun. */
  readonly memory: () => SharedArrayBuffer;
}

export class CutDecision {
  readonly #options: CutDecisionOptions;
  readonly #joinMs: number;
  readonly #taskMs: number;
  readonly #joined: JoinedWorkers;
  #encoded: readonly EncodePart[] = [];
  #answered: readonly AnswerPart[] = [];
  #slices: readonly SlicePart[] = [];
  #ended: readonly EndPart[] = [];

  constructor(options: CutDecisionOptions) {
    const { model, measured, inputs, plan } = options;
    this.#options = options;
    this.#joinMs = inputs.isReadInPlace ? 0 : model.cost.joinMs(measured.size);
    this.#taskMs = model.cost.taskMs();
    this.#joined = new JoinedWorkers({
      isReadInPlace: inputs.isReadInPlace,
      isAnsweredByOne: plan.isAnsweredByOne,
      staysJoined: inputs.rejoinMs === 0,
      joinMs: this.#joinMs,
    });
  }

  /** The shares of the document. */
  begin(): PlannedWork {
    const { model, job, measured, inputs, plan, memory } = this.#options;
    const kept = measured.document && model.directory.find(measured.document);
    if (kept?.part === 1) this.#joined.add(kept.worker);
    const shareMs = inputs.encodeMs / plan.shares;
    const copyMs = this.#taskMs + model.cost.joinMs(measured.size) / plan.shares;
    this.#encoded = Array.from({ length: plan.shares }, (_, share) => {
      const isKept = kept !== undefined && (share + 1) / plan.shares <= kept.part;
      return new EncodePart(isKept ? copyMs : copyMs + shareMs, {
        job,
        share,
        shares: plan.shares,
        home: isKept ? kept : undefined,
        savedMs: shareMs,
        memory,
      });
    });
    return { parts: this.#encoded, laterMs: this.#answersCostMs() + this.#endsCostMs() };
  }

  /** What comes when all parts so far are done. */
  next(): PlannedWork {
    if (this.#answered.length + this.#slices.length === 0) return this.#answer();
    return this.#slices.length > 0 && this.#ended.length === 0 ? this.#end() : { parts: [] };
  }

  collect(): DecisionOutcome {
    const { model, measured, plan } = this.#options;
    const stateTokens = this.#countStateTokens();
    const sliced = plan.sliced.map(({ place, slices }) => {
      const ofQuestion = this.#slices.filter((slice) => slice.place === place);
      const knownMs = ofQuestion.flatMap((slice) => slice.wallMs ?? []);
      const wallMs = knownMs.length === ofQuestion.length ? sum(knownMs) : undefined;
      return { place, wallMs, slices, joins: ofQuestion.filter(({ hasJoined }) => hasJoined).length };
    });
    model.cost.observeParts(measured.size, { encoded: this.#encoded, answered: this.#answered, sliced });
    const answering = [...this.#answered, ...this.#slices];
    for (const worker of new Set(answering.map((part) => part.worker))) {
      model.remember(worker, measured.document, stateTokens);
    }
    const probabilities: (readonly number[])[] = [];
    for (const { reply, places } of [...this.#answered, ...this.#ended]) {
      for (const [at, place] of places.entries()) probabilities[place] = reply.probabilities[at] ?? [];
    }
    const replies = [...this.#encoded, ...answering, ...this.#ended].map(({ reply }) => reply);
    return {
      probabilities,
      // The first share has counted the questions; a share that failed would have ended the ticket.
      inputTokens: this.#encoded[0]?.reply.inputTokens ?? 0,
      stateTokens,
      keptTokens: sum(this.#encoded.map(({ reply }) => reply.keptTokens)),
      tokenizeMs: sum(replies.map(({ tokenizeMs }) => tokenizeMs)),
      inferMs: sum(replies.map(({ inferMs }) => inferMs)),
      ...this.#collectVectors(),
    };
  }

  /** The document's is the same in all parts; a sliced question's view comes with its first run. */
  #collectVectors(): Pick<DecisionOutcome, 'vector' | 'views'> {
    const replies = [...this.#answered, ...this.#slices].map(({ reply }) => reply);
    const vector = replies.find((reply) => reply.vector !== undefined)?.vector;
    const views: Float32Array[] = [];
    for (const { reply, places } of this.#answered) {
      for (const [at, view] of (reply.views ?? []).entries()) views[places[at] ?? 0] = view;
    }
    for (const { reply, place } of this.#slices) for (const view of reply.views ?? []) views[place] = view;
    return { ...(vector && { vector }), ...(views.length > 0 && { views }) };
  }

  /** Groups of questions first, then the slices of the others. */
  #answer(): PlannedWork {
    const { job, inputs, plan, memory } = this.#options;
    const windows = this.#encoded.flatMap(({ reply }) => reply.windows);
    let joins = this.#countJoins();
    const costMs = (answerMs: number): number => {
      joins -= 1;
      return this.#taskMs + answerMs + (joins >= 0 ? this.#joinMs : 0);
    };
    const document = { job, shared: { windows, memory: memory() }, joined: this.#joined };
    this.#answered = plan.groups.map((places) => {
      const answerMs = sum(places.map((place) => inputs.answersMs[place] ?? 0));
      return new AnswerPart(costMs(answerMs), document, places);
    });
    this.#slices = plan.sliced.flatMap(({ place, slices }) => {
      const answerMs = (inputs.answersMs[place] ?? 0) / slices;
      const part = (_: unknown, slice: number) => new SlicePart(costMs(answerMs), document, { place, slice, slices });
      return Array.from({ length: slices }, part);
    });
    return { parts: [...this.#answered, ...this.#slices], laterMs: this.#endsCostMs() };
  }

  /** One for each question that came in slices. */
  #end(): PlannedWork {
    const { job, plan } = this.#options;
    const stateTokens = this.#countStateTokens();
    this.#ended = plan.sliced.map(({ place }) => {
      const ofQuestion = this.#slices.filter((slice) => slice.place === place);
      const vectors = ofQuestion.flatMap(({ reply }) => reply.vectors);
      return new EndPart(this.#taskMs, { job, place, stateTokens, vectors });
    });
    return { parts: this.#ended };
  }

  #answersCostMs(): number {
    const { inputs, plan } = this.#options;
    return sum(inputs.answersMs) + this.#countJoins() * this.#joinMs + countAnswerParts(plan) * this.#taskMs;
  }

  #endsCostMs(): number {
    return this.#options.plan.sliced.length * this.#taskMs;
  }

  /** Parts that will have to put the document together: the first on each worker, or all. */
  #countJoins(): number {
    const { model, inputs, plan } = this.#options;
    const parts = countAnswerParts(plan);
    if (inputs.isReadInPlace) return 0;
    if (inputs.rejoinMs > 0) return parts;
    return plan.isAnsweredByOne ? 1 : Math.min(parts, model.scheduler.workers);
  }

  /** Of the document, specials included. */
  #countStateTokens(): number {
    return sum(this.#encoded.flatMap(({ reply }) => reply.windows.map(({ tokens }) => tokens)));
  }
}
