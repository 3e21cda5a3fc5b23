// One embedding model, and what its tickets have in common: what it takes, how a job is cut, and what was learnt of its
// cost.

import { sum } from '../../domain/sum.ts';
import { inputTokenLimit, windowTokens } from '../../runtime/families/text-encoder/embedding-tokens.ts';
import type { LoadedModelReport } from '../../runtime/load-report.ts';
import type { LongInputs } from '../../runtime/messages.ts';
import type { TextEncoderManifest } from '../../runtime/model-folder/manifest.ts';
import { countFrameIds, type Frames } from '../../runtime/tokenizer/frames.ts';
import { addWork, CostModel } from '../cost/cost-model.ts';
import { CountPart, MS_PER_CHARACTER, type TokenCounting } from '../cost/token-counting.ts';
import { countLetters, TokenRatio } from '../cost/token-ratio.ts';
import { embedWork, TASK_WORK } from '../cost/work-size.ts';
import type { EmbedInput, EmbedJob } from '../engine.ts';
import {
  type BatchedModel,
  type BatchLimits,
  type BatchShare,
  estimateShare,
  openBatches,
} from '../scheduling/batching.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { type InputGroup, type SizedInput, splitEmbedInputs } from './embed-parts.ts';
import { embeddingLimits, mayBeTooLarge } from './embedding-limits.ts';
import { resolvePrompt } from './prompts.ts';

/**
 * A part of an embedding: what a decision that comes now waits for a worker at most. A task's own time, a third of a
 * millisecond, is little beside it.
 */
const PART_MS = 25;
/** On fast machines too a part is small: its texts are tokenised and its vectors sent in one piece. */
const PART_PADDED_TOKENS = 512;
/** Idle workers share what takes longer than this. */
const LEAST_SHARED_MS = 10;
/** A token array counts as the text it stands for, roughly. */
const CHARACTERS_PER_TOKEN = 4;
/** Sums of fractions drift: two halves of an embedding are two parts, not three. */
const ROUNDING = 1.05;

export interface EmbeddingModelOptions {
  readonly scheduler: Scheduler;
  readonly manifest: TextEncoderManifest;
  readonly frames: Frames;
  readonly counting: TokenCounting;
  /** What becomes of long inputs where the caller does not say it. */
  readonly longInputs: LongInputs;
  /** Of runs that texts of several callers share, where the workers say that they may. Default: never */
  readonly batch?: BatchLimits | undefined;
}

/** What one part has come to. */
interface DonePart {
  readonly inputs: readonly SizedInput[];
  readonly inputTokens: number;
  readonly wallMs: number | undefined;
  /** Text that stood before every input. */
  readonly prompt: string;
}

export class EmbeddingModel {
  readonly scheduler: Scheduler;
  readonly manifest: TextEncoderManifest;
  readonly counting: TokenCounting;
  /** Content tokens that it reads at once. */
  readonly windowTokens: number;
  readonly #specialTokens: number;
  readonly #longInputs: LongInputs;
  readonly #costs = new CostModel();
  readonly #ratio = new TokenRatio();
  readonly #batchLimits: BatchLimits | undefined;
  /** undefined: each text runs by itself. */
  #batched: BatchedModel | undefined;

  constructor({ scheduler, manifest, frames, counting, longInputs, batch }: EmbeddingModelOptions) {
    this.#batchLimits = batch;
    this.scheduler = scheduler;
    this.manifest = manifest;
    this.counting = counting;
    this.windowTokens = windowTokens(manifest, frames);
    this.#specialTokens = countFrameIds(frames.single);
    this.#longInputs = longInputs;
  }

  /** As the card of the model tells them. */
  get limits(): Record<string, number> {
    return embeddingLimits(this.windowTokens, this.#longInputs);
  }

  /** @param cases one input each, run warm */
  calibrate({ timedCases: cases, batches }: Pick<LoadedModelReport, 'timedCases' | 'batches'>): void {
    this.#batched = openBatches(this.manifest.id, batches, this.#batchLimits);
    for (const { characters, tokens } of cases) this.#ratio.observe(characters, tokens - this.#specialTokens);
    this.#costs.calibrate(cases.map(({ tokens, wallMs }) => ({ work: embedWork(tokens), wallMs })));
  }

  /** Whether its tokens are counted before anything is run: the refusal of a job that is too large costs no inference. */
  mustCount(job: EmbedJob): boolean {
    return this.longInputsOf(job) === 'windows' && mayBeTooLarge(job, this.promptOf(job), this.windowTokens);
  }

  /** What is put before every input. @throws AppError invalid_request */
  promptOf({ prompt }: EmbedJob): string {
    return resolvePrompt(prompt, this.manifest);
  }

  longInputsOf({ truncate = false, readsWindows = false }: EmbedJob): LongInputs {
    if (readsWindows) return 'windows';
    return truncate ? 'truncate' : this.#longInputs;
  }

  /** What workers count. For counting, a text is as long and as dear as its characters. */
  countParts(job: EmbedJob): CountPart[] {
    const { modelId } = job;
    const longInputs = this.longInputsOf(job);
    const prompt = this.promptOf(job);
    const sized = job.inputs.map((input, place): SizedInput => {
      const own = typeof input === 'string' ? input.length : input.length * CHARACTERS_PER_TOKEN;
      const characters = prompt.length + own;
      return { place, input, tokens: characters, costMs: characters * MS_PER_CHARACTER };
    });
    return splitEmbedInputs(sized, { costMs: PART_MS, paddedTokens: Infinity }).map((group) => {
      const inputs = group.inputs.map(({ place, input }) => ({ place, input }));
      const characters = sum(group.inputs.map(({ tokens }) => tokens));
      return new CountPart({ kind: 'count-embedding', modelId, inputs, longInputs, prompt }, characters);
    });
  }

  /** One for each input; for a long one that is read in windows, one for each of about as many windows. */
  sizeInputs(job: EmbedJob): SizedInput[] {
    const longInputs = this.longInputsOf(job);
    const prompt = this.#estimateTokens(this.promptOf(job));
    const inWindow = Math.max(1, this.windowTokens - prompt);
    const readTokens = longInputs === 'windows' ? inputTokenLimit(this.windowTokens, longInputs) - prompt : inWindow;
    return job.inputs.flatMap((input, place) => {
      const content = Math.min(readTokens, this.#estimateTokens(input));
      const count = Math.max(1, Math.ceil(content / inWindow));
      const tokens = prompt + content / count + this.#specialTokens;
      const sized = { place, input, tokens, costMs: this.#costs.estimateMs(embedWork(tokens)) };
      if (count === 1) return [sized];
      return Array.from({ length: count }, (_, index): SizedInput => ({ ...sized, share: { index, count } }));
    });
  }

  /** In parts that all free workers share, and that let decisions through. */
  split(inputs: readonly SizedInput[]): InputGroup[] {
    const { limits } = this.#batched ?? {};
    if (limits !== undefined) {
      const groups = splitEmbedInputs(inputs, { paddedTokens: limits.tokens, costMs: Infinity });
      return groups.map((group) => ({ ...group, costMs: this.#costOf(group) }));
    }
    const costMs = sum(inputs.map((input) => input.costMs));
    const helpers = costMs < LEAST_SHARED_MS ? 1 : Math.max(1, this.scheduler.idleWorkers);
    const groups = splitEmbedInputs(inputs, {
      paddedTokens: PART_PADDED_TOKENS,
      costMs: Math.min(PART_MS, (costMs / helpers) * ROUNDING),
    });
    return groups.map((group) => ({ ...group, costMs: group.costMs + this.taskMs() }));
  }

  /** How much of a shared run these are; undefined: they have their own. */
  shareOf({ inputs }: Pick<InputGroup, 'inputs'>): BatchShare | undefined {
    const model = this.#batched;
    return model && { model, tokens: sum(inputs.map(({ tokens }) => tokens)) };
  }

  #costOf(group: InputGroup): number {
    const share = this.shareOf(group);
    return share === undefined ? group.costMs : estimateShare(share).costMs;
  }

  /** What a task takes besides its runs. */
  taskMs(): number {
    return this.#costs.estimateMs(TASK_WORK);
  }

  /** From the begin of the work to the answer, when nothing comes between. */
  durationMs(costMs: number, parts: number): number {
    const { queuedJobs, idleWorkers } = this.scheduler;
    return costMs / (queuedJobs > 0 ? 1 : Math.max(1, Math.min(parts, idleWorkers)));
  }

  /** From one part that is done. */
  learn({ inputs, inputTokens, wallMs, prompt }: DonePart): void {
    const specials = this.#specialTokens;
    const estimated = sum(inputs.map(({ tokens }) => tokens - specials));
    const correction = estimated > 0 ? inputTokens / estimated : 1;
    const works = inputs.map(({ tokens }) => embedWork((tokens - specials) * correction + specials));
    this.#costs.observe({ work: addWork([TASK_WORK, ...works]), wallMs });
    const texts = inputs.filter(({ input }) => typeof input === 'string');
    if (texts.length < inputs.length) return;
    const letters = texts.map(({ input, share }) => countLetters(String(input)) / (share?.count ?? 1));
    this.#ratio.observe(sum(letters) + texts.length * countLetters(prompt), inputTokens);
  }

  #estimateTokens(input: EmbedInput): number {
    return typeof input === 'string' ? this.#ratio.estimate(countLetters(input)) : input.length;
  }
}
