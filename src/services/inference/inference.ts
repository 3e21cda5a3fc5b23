// The use cases of the local models: decisions, embeddings and rerankings. All go one way: find the model, let the request
// in, run it, write the reply, bill it. What a job is worth waiting for, the engine knows; what its reply looks like, its
// route.

import type { Answer } from '../../domain/answer.ts';
import type { StoredReply } from '../../domain/ledger.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { PromptChoice } from '../../domain/prompt-choice.ts';
import type { NamedQuestion } from '../../domain/question.ts';
import { type RankedDocument, rankDocuments } from '../../domain/relevance.ts';
import { inSpan } from '../../domain/trace.ts';
import type { JobTimings, Usage } from '../../domain/usage.ts';
import type {
  AnswerOrigin,
  DecideJob,
  EmbedInput,
  EmbedJob,
  Engine,
  RerankJob,
  ResultSource,
  Ticket,
} from '../../engine/engine.ts';
import type { Accounting, Booking, FinishedWork, NewBooking, Receipt, Replay } from '../accounting/accounting.ts';
import type { AuthenticatedCaller } from '../caller.ts';
import type { Catalog } from '../catalog.ts';
import { jobSpan } from './job-span.ts';

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
  /** undefined: the model's default, mostly none. */
  readonly prompt: PromptChoice | undefined;
}

export interface RerankRequest {
  /** undefined: the only reranker that the key may use. */
  readonly modelId: string | undefined;
  /** Not empty. */
  readonly query: string;
  /** 1 to 1,000, none of them empty. */
  readonly documents: readonly string[];
  /** Whether the end of a document that is too long beside the query is cut off. */
  readonly truncate: boolean;
  /** How many of the most relevant documents are wanted; undefined: all. */
  readonly topN: number | undefined;
}

/** What the results of all have in common. */
export interface LocalResult {
  readonly model: ModelCard;
  readonly usage: Usage;
  readonly timings: JobTimings;
  readonly source: ResultSource;
  /** `[questions]` of a learned model's decision; absent: of any other. */
  readonly answeredBy?: readonly AnswerOrigin[] | undefined;
  /** It shared runs with others: alone it may differ within a tolerance. */
  readonly isBatched?: boolean | undefined;
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

export interface Reranking extends LocalResult {
  /** As many as were wanted, the most relevant first. */
  readonly ranking: readonly RankedDocument[];
  /** Places of documents that were cut, ascending. */
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

/** One job, as far as the use cases are alike. */
interface LocalWork<Found, Result> {
  readonly caller: AuthenticatedCaller;
  readonly model: ModelCard;
  /** What the model will read, but for what its family adds: from it the tokens are guessed. */
  readonly inputs: readonly { readonly length: number }[];
  readonly ticket: Ticket<Found>;
  readonly toResult: (found: Found) => Result;
  readonly writer: ReplyWriter<Result>;
}

const CHARACTERS_PER_TOKEN = 3;

/**
 * All resolve when the row is committed.
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
    caller: AuthenticatedCaller,
    writer: ReplyWriter<Decision>,
  ): Promise<LocalReply<Decision>> {
    const model = this.#catalog.getModelOfType(caller.key, modelId, 'decision');
    const questions = named.map(({ question }) => question);
    const job: DecideJob = { modelId: model.id, state, questions };
    return await this.#answer({
      caller,
      model,
      inputs: [state, ...questions.map(({ instructions }) => instructions)],
      ticket: this.#engine.ticketFor(job, caller),
      toResult: ({ answers, inputTokens, timings, source, answeredBy, isBatched }) => {
        const usage = usageOf(inputTokens);
        return { model, answers: nameAnswers(named, answers), usage, timings, source, answeredBy, isBatched };
      },
      writer,
    });
  }

  async embed(
    { modelId, ...asked }: EmbeddingRequest,
    caller: AuthenticatedCaller,
    writer: ReplyWriter<Embeddings>,
  ): Promise<LocalReply<Embeddings>> {
    const model = this.#catalog.getModelOfType(caller.key, modelId, 'embedding');
    const job: EmbedJob = { modelId: model.id, ...asked };
    return await this.#answer({
      caller,
      model,
      inputs: job.inputs,
      ticket: this.#engine.ticketFor(job, caller),
      toResult: ({ embeddings, inputTokens, truncated, timings, source, isBatched }) => {
        return { model, embeddings, truncated, usage: usageOf(inputTokens), timings, source, isBatched };
      },
      writer,
    });
  }

  async rerank(
    { modelId, topN, ...asked }: RerankRequest,
    caller: AuthenticatedCaller,
    writer: ReplyWriter<Reranking>,
  ): Promise<LocalReply<Reranking>> {
    const model =
      modelId === undefined
        ? this.#catalog.getOnlyModelOfType(caller.key, 'reranker')
        : this.#catalog.getModelOfType(caller.key, modelId, 'reranker');
    const job: RerankJob = { modelId: model.id, ...asked };
    return await this.#answer({
      caller,
      model,
      // The query is read beside every document.
      inputs: job.documents.flatMap((document) => [job.query, document]),
      ticket: this.#engine.ticketFor(job, caller),
      toResult: ({ scores, inputTokens, truncated, timings, source, isBatched }) => {
        return {
          model,
          ranking: rankDocuments(scores).slice(0, topN),
          truncated,
          usage: usageOf(inputTokens),
          timings,
          source,
          isBatched,
        };
      },
      writer,
    });
  }

  async #answer<Found, Result extends LocalResult>(work: LocalWork<Found, Result>): Promise<LocalReply<Result>> {
    const { ticket } = work;
    const hasBegun = this.#accounting.expectsRoom(bookingOf(work, countRoughly(work.inputs)));
    const begun = hasBegun ? begin(ticket) : undefined;
    // It may fail, or come to nothing, before anybody waits for it.
    begun?.catch(() => undefined);
    // Tokens are counted only where they matter.
    const inputTokens = this.#accounting.needsCount(work.caller)
      ? await inSpan(work.caller.span, 'count_tokens', () => ticket.countTokens())
      : 0;
    const booking = this.#accounting.book({ ...bookingOf(work, inputTokens), hasBegun });
    if (begun !== undefined) {
      // What is said first counts: that the request is refused, or the result, whose bill then waits to be let in.
      return await runAndBill(work, booking, () => Promise.race([begun, booking.letIn.then(() => begun)]));
    }
    const opening = await inSpan(work.caller.span, 'reserve', () => booking.letIn);
    return opening.type === 'replayed' ? opening : await runAndBill(work, booking, () => ticket.run());
  }
}

function bookingOf<Found, Result>({ caller, model }: LocalWork<Found, Result>, inputTokens: number): NewBooking {
  return { caller, model, isStreamed: false, expected: { inputTokens, cachedTokens: 0, outputTokens: 0 } };
}

/**
 * What the engine refuses leaves nothing in the books, so nothing is booked for it. Only here: a key that may have no room
 * is told that first.
 */
function begin<Found>(ticket: Ticket<Found>): Promise<Found> {
  ticket.enter();
  return ticket.run();
}

async function runAndBill<Found, Result extends LocalResult>(
  { caller, model, toResult, writer }: LocalWork<Found, Result>,
  booking: Booking,
  run: () => Promise<Found>,
): Promise<LocalReply<Result>> {
  let result: Result;
  let body: string | Buffer;
  const job = jobSpan(caller.span, model.id);
  try {
    result = toResult(await run());
    job?.tell(result);
    // Before the bill: what cannot be written is not billed.
    body = await writer.write(result);
  } catch (error) {
    job?.fail(error);
    await booking.fail(error);
    throw error;
  }
  const finished: FinishedWork = {
    usage: { ...result.usage, cachedTokens: 0, reasoningTokens: 0 },
    isEstimated: false,
    waitMs: result.timings.queueMs,
    reply: ({ costPicoUsd }) => writer.keep(result, body.toString(), costPicoUsd),
  };
  const receipt = await inSpan(caller.span, 'settle', () => booking.complete(finished));
  return { type: 'answered', result, body, receipt };
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
