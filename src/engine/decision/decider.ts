// Door of decision: one decision model's jobs, as one task on the worker that knows the document, or in parts that any
// worker takes. The answer is the same to the bit.

import { toAnswer } from '../../domain/answer.ts';
import { sum } from '../../domain/sum.ts';
import type { AnswerReply, DecideTask, EncodeReply, TimedCase } from '../../runtime/messages.ts';
import type { SplitEncoderManifest } from '../../runtime/model-folder/manifest.ts';
import type { TokenCounter } from '../../runtime/token-counter.ts';
import { countCharacters } from '../cost/work-size.ts';
import type { Caller, DecideJob, DecideResult, StateCacheCounts } from '../engine.ts';
import type { Gate, LaterParts, PartResult, Routing } from '../scheduling/call.ts';
import type { Candidate, Dispatcher } from '../scheduling/dispatcher.ts';
import { DecisionCost, type DecisionSize } from './decision-cost.ts';
import { DecisionParts } from './decision-parts.ts';
import { type DecisionPlan, durationMs, type PlanInputs, planDecision } from './decision-plan.ts';
import type { MemoryHold, SharedMemories } from './shared-memories.ts';
import type { DocumentHashes, StateDirectory } from './state-directory.ts';

export interface DeciderOptions {
  readonly dispatcher: Dispatcher;
  readonly manifest: SplitEncoderManifest;
  readonly directory: StateDirectory;
  readonly memories: SharedMemories;
  /** What counts a job of this many characters at once; undefined: tokens are estimated. */
  readonly findCounter: (characters: number) => TokenCounter | undefined;
}

interface Measured {
  readonly size: DecisionSize;
  readonly document: DocumentHashes | undefined;
}

/** A job, measured and planned. */
interface Prepared extends Measured {
  readonly inputs: PlanInputs;
  readonly plan: DecisionPlan | undefined;
  readonly candidate: Candidate;
}

type TimedReply = Pick<AnswerReply, 'tokenizeMs' | 'inferMs'>;

interface Outcome {
  /** `[questions][options]` */
  readonly probabilities: readonly (readonly number[])[];
  readonly inputTokens: number;
  readonly stateTokens: number;
  readonly keptTokens: number;
  readonly queueMs: number;
  readonly tokenizeMs: number;
  readonly inferMs: number;
}

export class Decider {
  private readonly dispatcher: Dispatcher;
  private readonly directory: StateDirectory;
  private readonly memories: SharedMemories;
  private readonly findCounter: DeciderOptions['findCounter'];
  private readonly cost: DecisionCost;
  private readonly bytesPerToken: number;
  private readonly branches: SplitEncoderManifest['branches'];
  private readonly counts = { stateTokens: 0, keptTokens: 0 };
  /** A job is measured for admission, and again when it comes. */
  private readonly measured = new WeakMap<DecideJob, Measured>();

  constructor({ dispatcher, manifest, directory, memories, findCounter }: DeciderOptions) {
    const { layers, heads, head_size } = manifest.shape;
    this.dispatcher = dispatcher;
    this.directory = directory;
    this.memories = memories;
    this.findCounter = findCounter;
    this.cost = new DecisionCost(manifest.windows.tokens);
    this.branches = manifest.branches;
    this.bytesPerToken = 2 * layers * heads * head_size * Float32Array.BYTES_PER_ELEMENT;
  }

  /** Since the start. */
  get stateCache(): StateCacheCounts {
    return this.counts;
  }

  calibrate(cases: readonly TimedCase[]): void {
    this.cost.calibrate(cases);
  }

  /** The job as admission sees it. */
  candidate(job: DecideJob, caller: Caller): Candidate {
    return this.prepare(job, caller).candidate;
  }

  async decide(job: DecideJob, caller: Caller): Promise<DecideResult> {
    const prepared = this.prepare(job, caller);
    const { plan } = prepared;
    const outcome = await (plan === undefined
      ? this.decideWhole(job, prepared, caller)
      : this.decideInParts(job, { ...prepared, plan }, caller));
    const { probabilities, inputTokens, stateTokens, keptTokens, queueMs, tokenizeMs, inferMs } = outcome;
    this.counts.stateTokens += stateTokens;
    this.counts.keptTokens += keptTokens;
    const answers = job.questions.map((question, place) => toAnswer(question, probabilities[place] ?? []));
    return {
      answers,
      inputTokens,
      timings: { queueMs, tokenizeMs, inferMs },
      source: { answer: 'run', keptTokens },
    };
  }

  private prepare(job: DecideJob, { keyId, deadlineMs }: Caller): Prepared {
    const { size, document } = this.measure(job);
    const { max_tokens: maxTokens, max_scores: maxScores } = this.branches;
    const runTokens = Math.max(1, Math.min(maxTokens, Math.floor(maxScores / size.stateTokens)));
    const inputs: PlanInputs = {
      idleWorkers: this.dispatcher.idleWorkers,
      queuedJobs: this.dispatcher.queuedJobs,
      stateTokens: size.stateTokens,
      windowTokens: this.cost.windowTokens,
      keptPart: document === undefined ? 0 : (this.directory.find(document)?.part ?? 0),
      encodeMs: this.cost.encodeMs(size),
      answersMs: this.cost.answersMs(size),
      answerRuns: size.questions.map(({ tokens, options }) => Math.ceil((tokens + options) / runTokens)),
      instructionsMs: this.cost.instructionsMs(size),
      rejoinMs: this.directory.canKeep(size.stateTokens * this.bytesPerToken) ? 0 : this.cost.joinMs(size),
    };
    const plan = planDecision(inputs);
    const costMs = this.cost.wholeMs(size, size.stateTokens * inputs.keptPart);
    const candidate = {
      keyId,
      deadlineMs,
      queueClass: 'decision',
      costMs,
      durationMs: durationMs(plan, inputs),
    } as const;
    return { size, document, inputs, plan, candidate };
  }

  private measure(job: DecideJob): Measured {
    const known = this.measured.get(job);
    if (known !== undefined) return known;
    const size = this.cost.sizeOf(job, this.findExactCounter(job));
    const measured = { size, document: this.directory.hash(job.modelId, job.state) };
    this.measured.set(job, measured);
    return measured;
  }

  /** Only where counting is next to nothing; otherwise the estimate will do. */
  private findExactCounter(job: DecideJob): TokenCounter | undefined {
    const counter = this.findCounter(countCharacters(job));
    return counter?.isNative ? counter : undefined;
  }

  private async decideWhole(job: DecideJob, prepared: Prepared, caller: Caller): Promise<Outcome> {
    const { size, document, candidate } = prepared;
    let isPassing = document === undefined;
    const task = (): DecideTask => ({ kind: 'decide', ...job, isPassing });
    const begin = (worker: number, known: DocumentHashes) => {
      // Most documents are asked about once: one that is quickly read again is kept from the second time on.
      isPassing = !this.directory.see(known) && this.isShort(size);
      // From now on others about the same document do better to wait for this worker.
      if (!isPassing) this.remember(worker, known, size.stateTokens);
    };
    const routing = document === undefined ? undefined : this.routeWhole(document, size, begin);
    const { first, queueMs } = await this.dispatcher.submit([{ task, costMs: candidate.costMs, routing }], {
      ...caller,
      ...candidate,
    });
    const [result] = first;
    if (result === undefined) throw new Error('a decision came back without its only part');
    this.cost.observeWhole(size, result);
    const { worker, reply } = result;
    if (reply.isKept) this.remember(worker, document, reply.stateTokens);
    else if (document !== undefined) this.directory.remove(worker, document);
    return { ...reply, queueMs };
  }

  private async decideInParts(
    job: DecideJob,
    prepared: Prepared & { readonly plan: DecisionPlan },
    caller: Caller,
  ): Promise<Outcome> {
    const { size, document, candidate } = prepared;
    const hold: MemoryHold = { bytes: size.stateTokens * this.bytesPerToken, submittedMs: this.dispatcher.nowMs };
    const used: SharedArrayBuffer[] = [];
    const parts = this.partsOf(job, prepared);
    let encodedParts: readonly PartResult<EncodeReply>[] = [];
    const open = (encoded: readonly PartResult<EncodeReply>[]) => {
      encodedParts = encoded;
      used.push(...encoded.map(({ reply }) => reply.share.memory));
      return parts.answerParts(encoded);
    };
    const end: LaterParts = {
      costMs: prepared.plan.sliced.length * this.cost.taskMs(),
      open: (answers) =>
        parts.endParts(answers as Parameters<DecisionParts['endParts']>[0], tokensOfParts(encodedParts)),
    };
    const { first, later, last, queueMs } = await this.dispatcher.submit(parts.encodeParts(), {
      ...caller,
      ...candidate,
      gate: this.gateOf(hold, used),
      later: { costMs: parts.answersCostMs(), open, after: prepared.plan.sliced.length > 0 ? end : undefined },
    });
    const answered = parts.toGroups(later);
    const sliced = parts.toSlices(later);
    this.cost.observeParts(size, { encoded: first, answered, sliced });
    const stateTokens = tokensOfParts(first);
    for (const worker of new Set(later.map((result) => result.worker))) this.remember(worker, document, stateTokens);
    const probabilities: (readonly number[])[] = [];
    for (const { reply, places } of answered) {
      for (const [at, place] of places.entries()) probabilities[place] = reply.probabilities[at] ?? [];
    }
    for (const [place, question] of sliced.entries()) {
      const ended = last[place]?.reply as AnswerReply | undefined;
      probabilities[question.place] = ended?.probabilities[0] ?? [];
    }
    const replies = [...first, ...later, ...last].map(({ reply }) => reply as TimedReply);
    return {
      probabilities,
      // The first share has counted the questions; a share that failed would have ended the call.
      inputTokens: first[0]?.reply.inputTokens ?? 0,
      stateTokens,
      keptTokens: sum(first.map(({ reply }) => reply.keptTokens)),
      queueMs,
      tokenizeMs: sum(replies.map((reply) => reply.tokenizeMs)),
      inferMs: sum(replies.map((reply) => reply.inferMs)),
    };
  }

  private partsOf(
    job: DecideJob,
    { size, document, inputs, plan }: Prepared & { readonly plan: DecisionPlan },
  ): DecisionParts {
    const windows = Math.ceil(size.stateTokens / this.cost.windowTokens);
    const memoryBytes = Math.ceil(windows / plan.shares) * this.cost.windowTokens * this.bytesPerToken;
    return new DecisionParts({
      job,
      plan,
      costs: { ...inputs, joinMs: this.cost.joinMs(size), taskMs: this.cost.taskMs() },
      workers: this.dispatcher.workers,
      staysJoined: inputs.rejoinMs === 0,
      kept: document === undefined ? undefined : this.directory.find(document),
      takeMemory: () => this.memories.take(memoryBytes),
    });
  }

  /** Room for keys and values that workers share; what was used is free again when none of the call's parts runs. */
  private gateOf(hold: MemoryHold, used: readonly SharedArrayBuffer[]): Gate {
    return {
      isOpen: () => this.memories.hasRoom(hold),
      enter: () => this.memories.begin(hold),
      leave: () => this.memories.end(hold, used),
    };
  }

  /** To the worker that has most of the document; where it lies is asked again whenever a worker is free. */
  private routeWhole(
    document: DocumentHashes,
    size: DecisionSize,
    begin: (worker: number, document: DocumentHashes) => void,
  ): Routing {
    const encodeMs = this.cost.encodeMs(size);
    return {
      mayWait: true,
      savedMs: (worker) => encodeMs * this.directory.partOn(worker, document),
      begin: (worker) => begin(worker, document),
    };
  }

  private isShort({ stateTokens, questions }: DecisionSize): boolean {
    return stateTokens <= this.cost.windowTokens && questions.length === 1;
  }

  private remember(worker: number, document: DocumentHashes | undefined, stateTokens: number): void {
    if (document !== undefined) this.directory.put(worker, document, stateTokens * this.bytesPerToken);
  }
}

/** Of a document, specials included. */
function tokensOfParts(encoded: readonly PartResult<EncodeReply>[]): number {
  return sum(encoded.flatMap(({ reply }) => reply.share.windows.map(({ tokens }) => tokens)));
}
