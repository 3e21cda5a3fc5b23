// The ticket of one decision by a learned model: a decision of its base, of which the heads answer the questions that were
// learned, and where the model reads an embedder's vector, too, an embedding of the document beside it.

import { probabilitiesInOrder, toAnswer } from '../../domain/answer.ts';
import { AppError } from '../../domain/errors.ts';
import { answerLearned, findLearned, type LearnedMatch } from '../../learning/answer-learned.ts';
import { joinVectors } from '../../learning/document-vector.ts';
import type { LearnedModel } from '../../learning/learned-model.ts';
import type { Caller, DecideJob, DecideResult, EmbedResult, Engine, ResultSource, Ticket } from '../engine.ts';

export interface LearnedTicketOptions {
  /** That runs the base and the embedder. */
  readonly engine: Engine;
  readonly model: LearnedModel;
  readonly job: DecideJob;
  readonly caller: Caller;
}

/** What the base, and the embedder, are to do. */
interface InnerTickets {
  /** `[questions]`; undefined: the base answers it. */
  readonly matches: readonly (LearnedMatch | undefined)[];
  readonly base: Ticket<DecideResult>;
  readonly embedder: Ticket<EmbedResult> | undefined;
  /** Takes both out of the queue. */
  readonly giveUp: (reason: unknown) => void;
}

export class LearnedTicket implements Ticket<DecideResult> {
  readonly #options: LearnedTicketOptions;
  #knownInner: InnerTickets | undefined;
  #result: Promise<DecideResult> | undefined;

  constructor(options: LearnedTicketOptions) {
    this.#options = options;
  }

  /** Those of the base: an embedder that reads the same document is not billed. */
  countTokens(): Promise<number> {
    return this.#inner.base.countTokens();
  }

  enter(): void {
    if (this.#result !== undefined) return;
    this.#options.caller.signal.throwIfAborted();
    const { base, embedder, giveUp } = this.#inner;
    base.enter();
    try {
      embedder?.enter();
    } catch (error) {
      giveUp(error);
      throw this.#inWordsOfState(error);
    }
    this.#result = this.#answer();
    // It may fail before anybody waits for it.
    this.#result.catch(() => undefined);
  }

  async run(): Promise<DecideResult> {
    this.enter();
    return await (this.#result as Promise<DecideResult>);
  }

  async #answer(): Promise<DecideResult> {
    const { base, embedder, giveUp } = this.#inner;
    const embedding = embedder?.run();
    try {
      const [decided, embedded] = await Promise.all([base.run(), embedding]);
      return this.#withHeads(decided, embedded);
    } catch (error) {
      // Whichever of both failed, nobody needs the other.
      giveUp(error);
      throw this.#inWordsOfState(error);
    }
  }

  #withHeads(decided: DecideResult, embedded: EmbedResult | undefined): DecideResult {
    const { model, job } = this.#options;
    const { matches } = this.#inner;
    const { vector: ofDocument, views, ...result } = decided;
    const answeredBy = matches.map((match) => (match === undefined ? 'base' : 'head'));
    if (!answeredBy.includes('head')) return { ...result, answeredBy };
    const ofEmbedder = floatsOf(embedded);
    const answers = decided.answers.map((answer, place) => {
      const [match, question] = [matches[place], job.questions[place]];
      if (match === undefined || question === undefined) return answer;
      const vector = joinVectors([ofDocument, views?.[place], ofEmbedder]);
      if (vector.length !== model.dimensions)
        throw new Error(`a document of ${model.id} has a vector of another length`);
      return toAnswer(question, answerLearned(match, probabilitiesInOrder(answer), vector));
    });
    return { ...result, answers, answeredBy, ...(embedded && bothOf(decided, embedded)) };
  }

  /** Opened when they are first needed: nothing is done for a ticket before. */
  get #inner(): InnerTickets {
    this.#knownInner ??= openInner(this.#options);
    return this.#knownInner;
  }

  /** An embedder knows of inputs, the caller of a state. */
  #inWordsOfState(error: unknown): unknown {
    const { embedder, id } = this.#options.model;
    const isOfInput = error instanceof AppError && error.param?.startsWith('input') === true;
    if (!isOfInput || error.code !== 'context_length_exceeded') return error;
    const message = `The state is too long for ${embedder?.id}, which ${id} reads it with, too.`;
    return new AppError('context_length_exceeded', message, { param: 'state' });
  }
}

function openInner({ engine, model, job, caller }: LearnedTicketOptions): InnerTickets {
  const matches = job.questions.map((question) => findLearned(model.questions, question));
  const isLearned = matches.some((match) => match !== undefined);
  const { state, questions } = job;
  // Nothing learned: the very job that a caller of the base would have, so that both share runs and kept answers.
  const baseJob = { modelId: model.base.id, state, questions, ...(isLearned && { wantsVectors: true }) };
  const { embedder } = model;
  if (!isLearned || embedder === undefined) {
    return { matches, base: engine.ticketFor(baseJob, caller), embedder: undefined, giveUp: () => undefined };
  }
  // A caller that leaves takes the base out of the queue, and with it the embedder; a base that has begun runs to its end,
  // and then the embedder does, too, for the decision is billed.
  const [baseLeaver, embedderLeaver] = [new AbortController(), new AbortController()];
  const base = { ...caller, signal: AbortSignal.any([caller.signal, baseLeaver.signal]) };
  const embedJob = {
    modelId: embedder.id,
    inputs: [state],
    dimensions: undefined,
    encoding: 'float',
    readsWindows: true,
  } as const;
  return {
    matches,
    base: engine.ticketFor(baseJob, base),
    embedder: engine.ticketFor(embedJob, { ...caller, signal: embedderLeaver.signal }),
    giveUp: (reason) => {
      baseLeaver.abort(reason);
      embedderLeaver.abort(reason);
    },
  };
}

function floatsOf(embedded: EmbedResult | undefined): Float32Array | undefined {
  const embedding = embedded?.embeddings[0];
  if (typeof embedding === 'string') throw new Error('an embedder gave text where numbers were asked for');
  return embedding;
}

/** What is told of a decision and of the embedding beside it. */
function bothOf(decided: DecideResult, embedded: EmbedResult): Pick<DecideResult, 'timings' | 'source' | 'isBatched'> {
  const [a, b] = [decided.timings, embedded.timings];
  const sources: readonly ResultSource['answer'][] = [decided.source.answer, embedded.source.answer];
  const answer = (['run', 'merged', 'kept'] as const).find((source) => sources.includes(source)) ?? 'run';
  return {
    timings: {
      queueMs: Math.max(a.queueMs, b.queueMs),
      tokenizeMs: a.tokenizeMs + b.tokenizeMs,
      inferMs: a.inferMs + b.inferMs,
    },
    source: { answer, keptTokens: decided.source.keptTokens },
    ...((decided.isBatched || embedded.isBatched) && { isBatched: true }),
  };
}
