// The use cases of the local models, decisions and embeddings, which share one way: find the model, let the request in,
// run it, write the reply, bill it. What a job is worth waiting for, the engine knows; what its reply looks like, its route.

import type { Answer } from '../../domain/answer.ts';
import type { StoredReply } from '../../domain/ledger.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { NamedQuestion } from '../../domain/question.ts';
import type { JobTimings, Usage } from '../../domain/usage.ts';
import type { Caller, DecideJob, EmbedInput, EmbedJob, Engine, ResultSource, Ticket } from '../../engine/engine.ts';
import type { Accounting, MeteredRequest, OpenRequest, Receipt, Replay } from '../accounting/accounting.ts';
import type { Catalog } from '../catalog.ts';
import type { Requester } from '../requester.ts';

export interface DecisionRequest {
  readonly modelId: string;
  readonly state: string;
  /** At least one, names all different, in the order of the request. */
  readonly questions: readonly NamedQuestion[];
}

export interface EmbeddingRequest {
  readonly modelId: string;
  /** 1 to 2,048, none of them empty. */
  readonly inputs: readonly EmbedInput[];
  readonly dimensions: number | undefined;
  readonly encoding: 'float' | 'base64';
  /** Whether no more than the first tokens of a long input are read. */
  readonly truncate: boolean;
}

/** What the results of both have in common. */
export interface LocalResult {
  readonly model: ModelCard;
  readonly usage: Usage;
  readonly timings: JobTimings;
  readonly source: ResultSource;
}

export interface NamedAnswer {
  readonly name: string;
  readonly answer: Answer;
}

export interface Decision extends LocalResult {
  /** In the order of the questions. */
  readonly answers: readonly NamedAnswer[];
}

export interface Embeddings extends LocalResult {
  /** `[inputs]`: Float32Array `[dimensions]`, or base64 of the same bytes, as asked. */
  readonly embeddings: readonly (Float32Array | string)[];
  /** Places of inputs that were cut, ascending. */
  readonly truncated: readonly number[];
}

/** How a route words a result. */
export interface ReplyWriter<Result> {
  /** The body: text, or the same as bytes in UTF-8. */
  write(result: Result): string | Promise<string | Buffer>;
  /** What a retry with the same idempotency key is given. */
  keep(result: Result, body: string, costPicoUsd: bigint): StoredReply;
}

export type LocalReply<Result> =
  | { readonly type: 'answered'; readonly result: Result; readonly body: string | Buffer; readonly receipt: Receipt }
  | Replay;

/** One job, as far as both use cases are alike. */
interface LocalWork<Found, Result> {
  readonly requester: Requester;
  readonly model: ModelCard;
  /** What the model will read, but for what its family adds: from it the tokens are guessed. */
  readonly inputs: readonly { readonly length: number }[];
  readonly ticket: Ticket<Found>;
  readonly toResult: (found: Found) => Result;
  readonly writer: ReplyWriter<Result>;
}

const CHARACTERS_PER_TOKEN = 3;

/**
 * Both resolve when the row is committed.
 * @throws AppError of the catalog, the accounting and the engine; the signal's reason when the client left before dispatch
 */
export class InferenceService {
  readonly #engine: Engine;
  readonly #catalog: Catalog;
  readonly #accounting: Accounting;

  constructor(engine: Engine, catalog: Catalog, accounting: Accounting) {
    this.#engine = engine;
    this.#catalog = catalog;
    this.#accounting = accounting;
  }

  /** Names of questions stop here: what goes to the engine holds none. */
  async decide(
    { modelId, state, questions: named }: DecisionRequest,
    requester: Requester,
    writer: ReplyWriter<Decision>,
  ): Promise<LocalReply<Decision>> {
    const model = this.#catalog.getModelOfType(requester.key, modelId, 'decision');
    const questions = named.map(({ question }) => question);
    const job: DecideJob = { modelId: model.id, state, questions };
    return await this.#answer({
      requester,
      model,
      inputs: [state, ...questions.map(({ instructions }) => instructions)],
      ticket: this.#engine.ticketFor(job, callerOf(requester)),
      toResult: ({ answers, inputTokens, timings, source }) => {
        return { model, answers: nameAnswers(named, answers), usage: usageOf(inputTokens), timings, source };
      },
      writer,
    });
  }

  async embed(
    { modelId, ...asked }: EmbeddingRequest,
    requester: Requester,
    writer: ReplyWriter<Embeddings>,
  ): Promise<LocalReply<Embeddings>> {
    const model = this.#catalog.getModelOfType(requester.key, modelId, 'embedding');
    const job: EmbedJob = { modelId: model.id, ...asked };
    return await this.#answer({
      requester,
      model,
      inputs: job.inputs,
      ticket: this.#engine.ticketFor(job, callerOf(requester)),
      toResult: ({ embeddings, inputTokens, truncated, timings, source }) => {
        return { model, embeddings, truncated, usage: usageOf(inputTokens), timings, source };
      },
      writer,
    });
  }

  async #answer<Found, Result extends LocalResult>(work: LocalWork<Found, Result>): Promise<LocalReply<Result>> {
    const { requester, model, inputs, ticket } = work;
    if (this.#accounting.expectsToAdmit({ requester, model, roughTokens: countRoughly(inputs) })) {
      return await this.#answerEarly(work);
    }
    const opening = await this.#accounting.open(await this.#requestFor(work));
    return opening.type === 'replayed' ? opening : await runAndBill(work, opening.request, () => ticket.run());
  }

  /**
   * Begins before the accounting has decided, and ends with what it says first: a refusal or the job's result. What the
   * engine refuses leaves nothing in the books, so nothing is opened for it. Only here: a key that may have no room is
   * told that first.
   */
  async #answerEarly<Found, Result extends LocalResult>(work: LocalWork<Found, Result>): Promise<LocalReply<Result>> {
    work.ticket.enter();
    const running = work.ticket.run();
    // It may fail, or come to nothing, before anybody waits for it.
    running.catch(() => undefined);
    const { request, letIn } = this.#accounting.openEarly(await this.#requestFor(work));
    return await runAndBill(work, request, () => Promise.race([running, letIn.then(() => running)]));
  }

  /** Tokens are counted only where they matter. */
  async #requestFor<Found, Result>({ requester, model, ticket }: LocalWork<Found, Result>): Promise<MeteredRequest> {
    const inputTokens = this.#accounting.needsCount(requester) ? await ticket.countTokens() : 0;
    return { requester, model, isStreamed: false, expected: { inputTokens, cachedTokens: 0, outputTokens: 0 } };
  }
}

async function runAndBill<Found, Result extends LocalResult>(
  work: LocalWork<Found, Result>,
  request: OpenRequest,
  run: () => Promise<Found>,
): Promise<LocalReply<Result>> {
  const { result, body } = await runAndWrite(work, request, run);
  const { usage, timings } = result;
  const receipt = await request.complete({
    usage: { ...usage, cachedTokens: 0, reasoningTokens: 0 },
    isEstimated: false,
    waitMs: timings.queueMs,
    reply: ({ costPicoUsd }) => work.writer.keep(result, body.toString(), costPicoUsd),
  });
  return { type: 'answered', result, body, receipt };
}

/** The body is written before the bill: what cannot be written is not billed. */
async function runAndWrite<Found, Result>(
  { toResult, writer }: LocalWork<Found, Result>,
  request: OpenRequest,
  run: () => Promise<Found>,
) {
  try {
    const result = toResult(await run());
    return { result, body: await writer.write(result) };
  } catch (error) {
    await request.fail(error);
    throw error;
  }
}

function callerOf({ key, signal, deadlineMs }: Requester): Caller {
  return { keyId: key.id, signal, deadlineMs };
}

function countRoughly(inputs: readonly { readonly length: number }[]): number {
  return Math.ceil(inputs.reduce((sum, { length }) => sum + length, 0) / CHARACTERS_PER_TOKEN);
}

function usageOf(inputTokens: number): Usage {
  return { inputTokens, outputTokens: 0 };
}

function nameAnswers(questions: readonly NamedQuestion[], answers: readonly Answer[]): NamedAnswer[] {
  return questions.map(({ name }, index) => {
    const answer = answers[index];
    if (answer === undefined) throw new Error(`The engine gave ${answers.length} of ${questions.length} answers.`);
    return { name, answer };
  });
}
