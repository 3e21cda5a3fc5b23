// One local job under the accounting: let in, run, written out, billed. The same for decisions and embeddings; what the
// job is, its service knows, and what its reply looks like, its route.

import type { AppError } from '../../domain/errors.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { JobTimings, Usage } from '../../domain/usage.ts';
import type { ResultSource } from '../../engine/engine.ts';
import type {
  Accounting,
  MeteredRequest,
  OpenRequest,
  Receipt,
  Replay,
  StoredReply,
} from '../accounting/accounting.ts';
import type { Requester } from '../requester.ts';

export interface LocalResult {
  readonly model: ModelCard;
  readonly usage: Usage;
  readonly timings: JobTimings;
  readonly source: ResultSource;
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

export interface MeteredRun<Result> {
  readonly accounting: Accounting;
  readonly requester: Requester;
  readonly model: ModelCard;
  readonly roughTokens: number;
  /** Whether the run would be refused at this moment; cheap. @returns what it would throw */
  readonly findRefusal: () => AppError | undefined;
  /** Asked only where it matters: what the run will bill as input. */
  readonly countTokens: () => Promise<number>;
  readonly run: () => Promise<Result>;
  readonly writer: ReplyWriter<Result>;
}

/**
 * Resolves when the row is committed.
 * @throws AppError of the accounting and of the engine; the signal's reason when the client left before dispatch
 */
export async function runMetered<Result extends LocalResult>(work: MeteredRun<Result>): Promise<LocalReply<Result>> {
  const { accounting } = work;
  if (accounting.expectsToAdmit(work)) return await runEarly(work);
  const opening = await accounting.open(await requestFor(work));
  return opening.type === 'replayed' ? opening : await runAndBill(work, opening.request);
}

/** Begins before the accounting has decided, and ends with what it says first: a refusal or the job's result. */
async function runEarly<Result extends LocalResult>(work: MeteredRun<Result>): Promise<LocalReply<Result>> {
  const running = runOrRefuse(work);
  // It may fail, or come to nothing, before anybody waits for it.
  running.catch(() => undefined);
  const { request, letIn } = work.accounting.openEarly(await requestFor(work));
  const run = () => Promise.race([running, letIn.then(() => running)]);
  return await runAndBill({ ...work, run }, request);
}

/**
 * A refusal leaves nothing in the books, so nothing is opened for it. Only here: a key that may have no room is told that
 * first.
 */
function runOrRefuse<Result>({ findRefusal, run }: MeteredRun<Result>): Promise<Result> {
  const refusal = findRefusal();
  if (refusal !== undefined) throw refusal;
  return run();
}

async function requestFor<Result>({
  accounting,
  requester,
  model,
  countTokens,
}: MeteredRun<Result>): Promise<MeteredRequest> {
  const inputTokens = accounting.needsCount(requester) ? await countTokens() : 0;
  return { requester, model, isStreamed: false, expected: { inputTokens, cachedTokens: 0, outputTokens: 0 } };
}

async function runAndBill<Result extends LocalResult>(
  work: MeteredRun<Result>,
  request: OpenRequest,
): Promise<LocalReply<Result>> {
  const { result, body } = await runAndWrite(work, request);
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
async function runAndWrite<Result>({ run, writer }: MeteredRun<Result>, request: OpenRequest) {
  try {
    const result = await run();
    return { result, body: await writer.write(result) };
  } catch (error) {
    await request.fail(error);
    throw error;
  }
}

const CHARACTERS_PER_TOKEN = 3;

/** @param inputs texts, or ids of tokens */
export function countRoughly(inputs: readonly { readonly length: number }[]): number {
  return Math.ceil(inputs.reduce((sum, { length }) => sum + length, 0) / CHARACTERS_PER_TOKEN);
}
