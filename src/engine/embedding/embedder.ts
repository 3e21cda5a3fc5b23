// Door of embedding: one embedding model's jobs, texts of like length together, in parts that all free workers
// share and that let decisions through.

import { finishVector, meanOfWindows } from '../../runtime/families/text-encoder/embedding-vector.ts';
import type { EmbeddedWindows, EmbedReply, EmbedTask, LongInputs } from '../../runtime/messages.ts';
import { addWork, CostModel, type Work } from '../cost/cost-model.ts';
import { countLetters, TokenRatio } from '../cost/token-ratio.ts';
import { embedWork, TASK_WORK } from '../cost/work-size.ts';
import type { Caller, EmbedInput, EmbedJob, EmbedResult } from '../engine.ts';
import type { CallPart, PartResult } from '../scheduling/call.ts';
import type { Candidate, Dispatcher } from '../scheduling/dispatcher.ts';
import { type EmbedPart, restorePlaces, type SizedInput, splitEmbedInputs } from './embed-parts.ts';

/**
 * A part of an embedding call: what a decision that comes now waits for a worker at most. A task's own time, a third of a
 * millisecond, is little beside it.
 */
const PART_MS = 25;
/** On fast machines too a part is small: its texts are tokenised and its vectors sent in one piece. */
const PART_PADDED_TOKENS = 512;
/** Idle workers share what takes longer than this. */
const LEAST_SHARED_MS = 10;
/** Sums of fractions drift: two halves of a call are two parts, not three. */
const ROUNDING = 1.05;
const SPECIAL_TOKENS = 2;

export interface EmbedderOptions {
  /** Content tokens that the model reads at once. */
  readonly windowTokens: number;
  /** Content tokens that one input may have. */
  readonly limitTokens: number;
  /** What becomes of long inputs where the caller does not say it. */
  readonly longInputs: LongInputs;
}

export class Embedder {
  private readonly dispatcher: Dispatcher;
  private readonly options: EmbedderOptions;
  private readonly costs = new CostModel();
  private readonly ratio = new TokenRatio();

  constructor(dispatcher: Dispatcher, options: EmbedderOptions) {
    this.dispatcher = dispatcher;
    this.options = options;
  }

  /** @param cases one input each, run warm */
  calibrate(cases: readonly { readonly characters: number; readonly tokens: number; readonly wallMs: number }[]): void {
    for (const { characters, tokens } of cases) this.ratio.observe(characters, tokens - SPECIAL_TOKENS);
    this.costs.calibrate(cases.map(({ tokens, wallMs }) => ({ work: embedWork(tokens), wallMs })));
  }

  async embed(job: EmbedJob, caller: Caller): Promise<EmbedResult> {
    const { modelId, dimensions, encoding } = job;
    const longInputs = this.longInputsOf(job);
    const parts = this.split(this.sizeInputs(job));
    const callParts = parts.map(({ inputs, costMs }): CallPart<EmbedTask> => {
      const listed = inputs.map(({ place, input, share }) => ({ place, input, ...(share && { share }) }));
      return { task: () => ({ kind: 'embed', modelId, inputs: listed, longInputs, dimensions, encoding }), costMs };
    });
    const durationMs = this.durationMs(totalMs(parts), parts.length);
    const result = await this.dispatcher.submit(callParts, { ...caller, queueClass: 'embedding', durationMs });
    return this.collect({ job, parts, queueMs: result.queueMs }, result.first);
  }

  /** The job as admission sees it; its texts are not sorted for that. */
  candidate(job: EmbedJob, { keyId, deadlineMs }: Caller): Candidate {
    const inputs = this.sizeInputs(job);
    const costMs = totalMs(inputs) + this.costs.estimateMs(TASK_WORK);
    const durationMs = this.durationMs(costMs, inputs.length);
    return { keyId, deadlineMs, queueClass: 'embedding', costMs, durationMs };
  }

  private durationMs(costMs: number, parts: number): number {
    const { queuedJobs, idleWorkers } = this.dispatcher;
    return costMs / (queuedJobs > 0 ? 1 : Math.max(1, Math.min(parts, idleWorkers)));
  }

  private split(inputs: readonly SizedInput[]): EmbedPart[] {
    const costMs = totalMs(inputs);
    const helpers = costMs < LEAST_SHARED_MS ? 1 : Math.max(1, this.dispatcher.idleWorkers);
    const taskMs = this.costs.estimateMs(TASK_WORK);
    const parts = splitEmbedInputs(inputs, {
      paddedTokens: PART_PADDED_TOKENS,
      costMs: Math.min(PART_MS, (costMs / helpers) * ROUNDING),
    });
    return parts.map((part) => ({ ...part, costMs: part.costMs + taskMs }));
  }

  private longInputsOf({ truncate = false }: EmbedJob): LongInputs {
    return truncate ? 'truncate' : this.options.longInputs;
  }

  /** One for each input; for a long one that is read in windows, one for each of about as many windows. */
  private sizeInputs(job: EmbedJob): SizedInput[] {
    const { windowTokens, limitTokens } = this.options;
    const readTokens = this.longInputsOf(job) === 'windows' ? limitTokens : windowTokens;
    return job.inputs.flatMap((input, place) => {
      const content = Math.min(readTokens, this.estimateTokens(input));
      const count = Math.max(1, Math.ceil(content / windowTokens));
      const tokens = content / count + SPECIAL_TOKENS;
      const sized = { place, input, tokens, costMs: this.costs.estimateMs(embedWork(tokens)) };
      if (count === 1) return [sized];
      return Array.from({ length: count }, (_, index): SizedInput => ({ ...sized, share: { index, count } }));
    });
  }

  private estimateTokens(input: EmbedInput): number {
    return typeof input === 'string' ? this.ratio.estimate(countLetters(input)) : input.length;
  }

  private collect({ job, parts, queueMs }: Asked, results: readonly PartResult<EmbedReply>[]): EmbedResult {
    const timings = { queueMs, tokenizeMs: 0, inferMs: 0 };
    let inputTokens = 0;
    for (const [place, { reply, wallMs }] of results.entries()) {
      this.learn(parts[place]?.inputs ?? [], reply.inputTokens, wallMs);
      inputTokens += reply.inputTokens;
      timings.tokenizeMs += reply.tokenizeMs;
      timings.inferMs += reply.inferMs;
    }
    const found = restorePlaces(
      parts,
      results.map(({ reply }) => reply.embeddings),
    );
    const embeddings = found.map((values) => joinShares(values, job));
    const truncated = results.flatMap(({ reply }) => reply.truncated ?? []).sort((a, b) => a - b);
    return { embeddings, inputTokens, truncated, timings, source: { answer: 'run', keptTokens: 0 } };
  }

  private learn(inputs: readonly SizedInput[], inputTokens: number, wallMs: number): void {
    const estimated = inputs.reduce((sum, { tokens }) => sum + tokens - SPECIAL_TOKENS, 0);
    const correction = estimated > 0 ? inputTokens / estimated : 1;
    const works = inputs.map(({ tokens }): Work => embedWork((tokens - SPECIAL_TOKENS) * correction + SPECIAL_TOKENS));
    this.costs.observe({ work: addWork([TASK_WORK, ...works]), wallMs });
    const texts = inputs.filter(({ input }) => typeof input === 'string');
    if (texts.length < inputs.length) return;
    this.ratio.observe(
      texts.reduce((sum, { input, share }) => sum + countLetters(String(input)) / (share?.count ?? 1), 0),
      inputTokens,
    );
  }
}

interface Asked {
  readonly job: EmbedJob;
  readonly parts: readonly EmbedPart[];
  readonly queueMs: number;
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

function totalMs(items: readonly { readonly costMs: number }[]): number {
  return items.reduce((sum, { costMs }) => sum + costMs, 0);
}
