// The ticket of one embedding job: texts of like length together, in parts that all free workers share
// and that let decisions through.

import { AppError } from '../../domain/errors.ts';
import { sum } from '../../domain/sum.ts';
import { finishVector, meanOfWindows } from '../../runtime/families/text-encoder/embedding-vector.ts';
import type { EmbeddedWindows, EmbedReply, EmbedTask, LongInputs } from '../../runtime/messages.ts';
import type { CountPart } from '../cost/token-counting.ts';
import type { Caller, EmbedJob, EmbedResult, Ticket } from '../engine.ts';
import type { BatchShare } from '../scheduling/batching.ts';
import { Part, type PlannedWork, QueuedTicket } from '../scheduling/queued-ticket.ts';
import { type InputGroup, restorePlaces, type SizedInput } from './embed-parts.ts';
import { requireRequestTokens } from './embedding-limits.ts';
import type { EmbeddingModel } from './embedding-model.ts';

export class EmbeddingTicket extends QueuedTicket<EmbedResult> implements Ticket<EmbedResult> {
  readonly queueClass = 'embedding';
  readonly #model: EmbeddingModel;
  readonly #job: EmbedJob;
  /** What the job will bill; undefined: not counted. */
  #countedTokens: number | undefined;
  #counts: readonly CountPart[] = [];
  #embeds: readonly EmbedPart[] = [];

  constructor(model: EmbeddingModel, job: EmbedJob, caller: Caller) {
    super(caller);
    this.#model = model;
    this.#job = job;
  }

  async countTokens(): Promise<number> {
    this.#requireSense();
    const model = this.#model;
    const job = this.#job;
    const { caller } = this;
    this.#countedTokens = await model.counting.count(model.countParts(job), caller, this.queueClass);
    this.#requireRoom(this.#countedTokens);
    return this.#countedTokens;
  }

  enter(): void {
    if (this.isIn) return;
    this.#requireSense();
    if (this.#countedTokens === undefined && this.#model.mustCount(this.#job)) this.#planCount();
    else this.#planRun();
    this.#model.scheduler.submit(this);
  }

  #planCount(): void {
    const model = this.#model;
    const job = this.#job;
    this.#counts = model.countParts(job);
    const inputs = model.sizeInputs(job);
    const laterMs = sum(inputs.map(({ costMs }) => costMs)) + model.taskMs();
    const countMs = sum(this.#counts.map(({ costMs }) => costMs));
    const durationMs = countMs + model.durationMs(laterMs, inputs.length);
    this.plan({ parts: this.#counts, laterMs, durationMs });
  }

  #planRun(): void {
    const parts = this.#cut();
    const costMs = sum(parts.map((part) => part.costMs));
    this.plan({ parts, durationMs: this.#model.durationMs(costMs, parts.length) });
  }

  /** After the count. @throws AppError context_length_exceeded */
  protected override next(): PlannedWork {
    if (this.#embeds.length > 0) return { parts: [] };
    this.#requireRoom(sum(this.#counts.map(({ reply }) => reply.inputTokens)));
    return { parts: this.#cut() };
  }

  protected collect(): EmbedResult {
    const model = this.#model;
    const job = this.#job;
    const embeds = this.#embeds;
    const timings = { queueMs: this.queueMs ?? 0, tokenizeMs: 0, inferMs: 0 };
    let inputTokens = 0;
    const truncated: number[] = [];
    const prompt = model.promptOf(job);
    for (const { inputs, reply, wallMs } of embeds) {
      model.learn({ inputs, inputTokens: reply.inputTokens, wallMs, prompt });
      inputTokens += reply.inputTokens;
      timings.tokenizeMs += reply.tokenizeMs;
      timings.inferMs += reply.inferMs;
      truncated.push(...(reply.truncated ?? []));
    }
    const found = restorePlaces(
      embeds,
      embeds.map(({ reply }) => reply.embeddings),
    );
    return {
      embeddings: found.map((values) => joinShares(values, job)),
      inputTokens,
      truncated: truncated.sort((a, b) => a - b),
      timings,
      source: { answer: 'run', keptTokens: 0 },
      ...(embeds.some(({ hadCompany }) => hadCompany) && { isBatched: true }),
    };
  }

  #cut(): readonly EmbedPart[] {
    const model = this.#model;
    const job = this.#job;
    const asked = { job, longInputs: model.longInputsOf(job), prompt: model.promptOf(job) };
    this.#embeds = model.split(model.sizeInputs(job)).map((group) => new EmbedPart(group, asked, model.shareOf(group)));
    return this.#embeds;
  }

  /** @throws AppError invalid_request */
  #requireSense(): void {
    const { dimensions } = this.#job;
    const { manifest } = this.#model;
    this.#model.promptOf(this.#job);
    if (dimensions === undefined || dimensions <= manifest.dimensions) return;
    const message = `The field 'dimensions' must be at most ${manifest.dimensions} for ${manifest.id}.`;
    throw new AppError('invalid_request', message, { param: 'dimensions' });
  }

  #requireRoom(tokens: number): void {
    if (this.#model.mustCount(this.#job)) requireRequestTokens(tokens, this.#job.modelId, this.#model.windowTokens);
  }
}

interface AskedOfPart {
  readonly job: EmbedJob;
  readonly longInputs: LongInputs;
  /** Text before every input. */
  readonly prompt: string;
}

/** Texts, or shares of long ones, for one worker. */
class EmbedPart extends Part<EmbedTask> implements InputGroup {
  readonly inputs: readonly SizedInput[];
  readonly #asked: AskedOfPart;

  constructor({ inputs, costMs }: InputGroup, asked: AskedOfPart, batch: BatchShare | undefined) {
    super(costMs, batch);
    this.inputs = inputs;
    this.#asked = asked;
  }

  begin(): EmbedTask {
    const { job, longInputs, prompt } = this.#asked;
    const { modelId, dimensions, encoding } = job;
    const inputs = this.inputs.map(({ place, input, share }) => ({ place, input, ...(share && { share }) }));
    return { kind: 'embed', modelId, inputs, longInputs, dimensions, encoding, prompt };
  }
}

/** One vector of what came for an input: itself, or windows of each of its shares. */
function joinShares(values: readonly EmbedReply['embeddings'][number][], job: EmbedJob): Float32Array | string {
  const shares: EmbeddedWindows[] = [];
  for (const value of values) {
    if (typeof value === 'string' || value instanceof Float32Array) return value;
    shares.push(value);
  }
  const vectors = shares.flatMap((share) => share.vectors);
  return finishVector(meanOfWindows({ vectors, tokens: shares.flatMap(({ tokens }) => tokens) }), job);
}
