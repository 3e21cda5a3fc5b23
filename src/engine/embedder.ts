// One embedding model's jobs: texts of like length together, in parts that all free workers share and that let decisions
// through.

import type { EmbedReply, EmbedTask } from '../runtime/messages.ts';
import type { CallPart, PartResult } from './call.ts';
import { addWork, CostModel, type Work } from './cost-model.ts';
import type { Candidate, Dispatcher } from './dispatcher.ts';
import { type EmbedPart, restorePlaces, type SizedInput, splitEmbedInputs } from './embed-parts.ts';
import type { Caller, EmbedInput, EmbedJob, EmbedResult } from './engine.ts';
import { countLetters, TokenRatio } from './token-ratio.ts';
import { embedWork, TASK_WORK } from './work-size.ts';

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

export class Embedder {
  private readonly dispatcher: Dispatcher;
  private readonly maxTokens: number;
  private readonly costs = new CostModel();
  private readonly ratio = new TokenRatio();

  /** @param maxTokens of one input, specials included */
  constructor(dispatcher: Dispatcher, maxTokens: number) {
    this.dispatcher = dispatcher;
    this.maxTokens = maxTokens;
  }

  /** @param cases one input each, run warm */
  calibrate(cases: readonly { readonly characters: number; readonly tokens: number; readonly wallMs: number }[]): void {
    for (const { characters, tokens } of cases) this.ratio.observe(characters, tokens - SPECIAL_TOKENS);
    this.costs.calibrate(cases.map(({ tokens, wallMs }) => ({ work: embedWork(tokens), wallMs })));
  }

  async embed(job: EmbedJob, caller: Caller): Promise<EmbedResult> {
    const { modelId, dimensions, encoding } = job;
    const sized = this.sizeInputs(job.inputs);
    const parts = this.split(sized);
    const callParts = parts.map(({ inputs, costMs }): CallPart<EmbedTask> => {
      const listed = inputs.map(({ place, input }) => ({ place, input }));
      return { task: () => ({ kind: 'embed', modelId, inputs: listed, dimensions, encoding }), costMs };
    });
    const durationMs = this.durationMs(totalMs(parts), parts.length);
    const result = await this.dispatcher.submit(callParts, { ...caller, queueClass: 'embedding', durationMs });
    return this.collect(parts, result.first, result.queueMs);
  }

  /** The job as admission sees it; its texts are not sorted for that. */
  candidate(inputs: readonly EmbedInput[], { keyId, deadlineMs }: Caller): Candidate {
    const costMs = totalMs(this.sizeInputs(inputs)) + this.costs.estimateMs(TASK_WORK);
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

  private sizeInputs(inputs: readonly EmbedInput[]): SizedInput[] {
    return inputs.map((input, place) => {
      const content = typeof input === 'string' ? this.ratio.estimate(countLetters(input)) : input.length;
      const tokens = Math.min(this.maxTokens, content + SPECIAL_TOKENS);
      return { place, input, tokens, costMs: this.costs.estimateMs(embedWork(tokens)) };
    });
  }

  private collect(
    parts: readonly EmbedPart[],
    results: readonly PartResult<EmbedReply>[],
    queueMs: number,
  ): EmbedResult {
    const timings = { queueMs, tokenizeMs: 0, inferMs: 0 };
    let inputTokens = 0;
    for (const [place, { reply, wallMs }] of results.entries()) {
      this.learn(parts[place]?.inputs ?? [], reply.inputTokens, wallMs);
      inputTokens += reply.inputTokens;
      timings.tokenizeMs += reply.tokenizeMs;
      timings.inferMs += reply.inferMs;
    }
    const embeddings = restorePlaces(
      parts,
      results.map(({ reply }) => reply.embeddings),
    );
    return { embeddings, inputTokens, timings, source: { answer: 'run', keptTokens: 0 } };
  }

  private learn(inputs: readonly SizedInput[], inputTokens: number, wallMs: number): void {
    const estimated = inputs.reduce((sum, { tokens }) => sum + tokens - SPECIAL_TOKENS, 0);
    const correction = estimated > 0 ? inputTokens / estimated : 1;
    const works = inputs.map(({ tokens }): Work => embedWork((tokens - SPECIAL_TOKENS) * correction + SPECIAL_TOKENS));
    this.costs.observe({ work: addWork([TASK_WORK, ...works]), wallMs });
    const texts = inputs.filter(({ input }) => typeof input === 'string');
    if (texts.length < inputs.length) return;
    this.ratio.observe(
      texts.reduce((sum, { input }) => sum + (typeof input === 'string' ? countLetters(input) : 0), 0),
      inputTokens,
    );
  }
}

function totalMs(items: readonly { readonly costMs: number }[]): number {
  return items.reduce((sum, { costMs }) => sum + costMs, 0);
}
