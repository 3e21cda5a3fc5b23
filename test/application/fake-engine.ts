// An engine without models: probabilities by a fixed rule, tokens by counting words. Tests replace either job.

import { type Answer, argmax, choiceConfidence, expectedScore, scoreConfidence } from '../../src/domain/answer.ts';
import type { AppError } from '../../src/domain/errors.ts';
import type { ModelCard } from '../../src/domain/model-card.ts';
import type { Question } from '../../src/domain/question.ts';
import type {
  Caller,
  DecideJob,
  DecideResult,
  EmbedInput,
  EmbedJob,
  EmbedResult,
  Engine,
  EngineState,
  Job,
  JobResult,
  RerankJob,
  RerankResult,
  Ticket,
} from '../../src/engine/engine.ts';

const RUN = { answer: 'run', keptTokens: 0 } as const;
const TIMINGS = { queueMs: 0.25, tokenizeMs: 0.5, inferMs: 2 };
const DIMENSIONS = 4;

export const KEV: ModelCard = {
  id: 'kev',
  type: 'decision',
  description: 'A decision model.',
  ownedBy: 'umpire',
  releaseDate: '2026-11-21',
  price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 },
  digest: `sha256:${'a'.repeat(64)}`,
  limits: { state_tokens: 8192, question_tokens: 32_768 },
  isCalibrated: true,
};

export const MINI: ModelCard = {
  id: 'text-embed-mini',
  type: 'embedding',
  description: 'An embedding model.',
  ownedBy: 'umpire',
  releaseDate: '2026-11-20',
  price: { inputMicroUsd: 0, cachedInputMicroUsd: 0, outputMicroUsd: 0 },
  digest: `sha256:${'b'.repeat(64)}`,
  limits: { input_tokens: 254 },
};

export const RERANKER: ModelCard = {
  id: 'reranker',
  type: 'reranker',
  description: 'A reranker.',
  ownedBy: 'someone',
  releaseDate: '2026-11-19',
  price: { inputMicroUsd: 20_000, cachedInputMicroUsd: 20_000, outputMicroUsd: 0 },
  digest: `sha256:${'c'.repeat(64)}`,
  source: `someone/reranker@${'d'.repeat(40)}`,
  limits: { pair_tokens: 512 },
};

type Fake<Job, Value> = (job: Job, caller: Caller) => Value;

/** The functions are what its tickets do, for tests to replace. */
export interface FakeEngine extends Engine {
  state: EngineState;
  decide: Fake<DecideJob, Promise<DecideResult>>;
  embed: Fake<EmbedJob, Promise<EmbedResult>>;
  rerank: Fake<RerankJob, Promise<RerankResult>>;
  countDecisionTokens: Fake<DecideJob, Promise<number>>;
  countEmbeddingTokens: Fake<EmbedJob, Promise<number>>;
  countPairTokens: Fake<RerankJob, Promise<number>>;
  findRefusal: Fake<Job, AppError | undefined>;
}

export function createFakeEngine(): FakeEngine {
  const engine: FakeEngine = {
    models: [KEV, MINI, RERANKER],
    state: 'ready',
    decide: async (job) => ({
      answers: job.questions.map(answerOf),
      inputTokens: tokensOf(job),
      timings: TIMINGS,
      source: RUN,
    }),
    embed: async (job) => ({
      embeddings: job.inputs.map((input) => vectorOf(input, job)),
      inputTokens: tokensOfInputs(job),
      truncated: [],
      timings: TIMINGS,
      source: RUN,
    }),
    rerank: async (job) => ({
      scores: job.documents.map((document) => scoreOf(job.query, document)),
      inputTokens: tokensOfPairs(job),
      truncated: [],
      timings: TIMINGS,
      source: RUN,
    }),
    countDecisionTokens: async (job) => tokensOf(job),
    countEmbeddingTokens: async (job) => tokensOfInputs(job),
    countPairTokens: async (job) => tokensOfPairs(job),
    findRefusal: () => undefined,
    // `this`: a test may have put the functions of another one in.
    ticketFor(job: Job, caller: Caller) {
      return ticketOf(this, job, caller);
    },
    status: () => ({
      state: engine.state,
      queuedJobs: 3,
      queuedCostMs: 40,
      busyWorkers: 1,
      workers: 2,
      threadsPerWorker: 1,
      device: 'cpu',
      stateCache: { stateTokens: 0, keptTokens: 0 },
      refusals: { jobs: 0, cost: 0, wait: 0, late: 0 },
      expectedDrainMs: 0,
      models: engine.models.map(({ id }) => ({ id, state: 'loaded' as const })),
      memory: { takenBytes: 3_000_000, budgetBytes: 8_000_000 },
    }),
    drain: async () => {
      engine.state = 'draining';
    },
  };
  return engine;
}

function ticketOf(engine: FakeEngine, job: Job, caller: Caller): Ticket<never> {
  let running: Promise<JobResult> | undefined;
  const enter = (): void => {
    if (running !== undefined) return;
    const refusal = engine.findRefusal(job, caller);
    if (refusal !== undefined) throw refusal;
    running = perform(engine, job, caller);
    // It may fail before anybody waits for it.
    running.catch(() => undefined);
  };
  return {
    countTokens: async () => await count(engine, job, caller),
    enter,
    run: async () => {
      enter();
      return (await running) as never;
    },
  };
}

function perform(engine: FakeEngine, job: Job, caller: Caller): Promise<JobResult> {
  if ('state' in job) return engine.decide(job, caller);
  return 'inputs' in job ? engine.embed(job, caller) : engine.rerank(job, caller);
}

function count(engine: FakeEngine, job: Job, caller: Caller): Promise<number> {
  if ('state' in job) return engine.countDecisionTokens(job, caller);
  return 'inputs' in job ? engine.countEmbeddingTokens(job, caller) : engine.countPairTokens(job, caller);
}

function answerOf(question: Question): Answer {
  if (question.type === 'noul') return { type: 'noul', noul: 1 / 3 };
  const probabilities = probabilitiesOf(question.type === 'choice' ? question.options.length : question.levels.length);
  if (question.type === 'score') {
    const { levels } = question;
    const score = expectedScore(probabilities);
    return { type: 'score', score, levels, probabilities, confidence: scoreConfidence(probabilities) };
  }
  const named = question.options.map(({ name }, index) => ({ name, probability: probabilities[index] ?? 0 }));
  const choice = named[argmax(probabilities)]?.name ?? '';
  return { type: 'choice', choice, probabilities: named, confidence: choiceConfidence(probabilities) };
}

/** 1 : 2 : 3 : … so that the last option wins and no two are equal. */
function probabilitiesOf(count: number): number[] {
  return Array.from({ length: count }, (_, index) => (2 * (index + 1)) / (count * (count + 1)));
}

const words = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;

function tokensOf(job: DecideJob): number {
  return words(job.state) + job.questions.reduce((sum, { instructions }) => sum + words(instructions), 0);
}

function tokensOfInputs(job: EmbedJob): number {
  return job.inputs.reduce((sum, input) => sum + inputTokensOf(input), 0);
}

function tokensOfPairs({ query, documents }: RerankJob): number {
  return documents.reduce((sum, document) => sum + words(query) + words(document), 0);
}

/** How many words of the query a document has. */
function scoreOf(query: string, document: string): number {
  const has = new Set(document.split(/\s+/));
  return query.split(/\s+/).filter((word) => has.has(word)).length;
}

function inputTokensOf(input: EmbedInput): number {
  return typeof input === 'string' ? words(input) : input.length;
}

function vectorOf(input: EmbedInput, job: EmbedJob): Float32Array | string {
  const vector = Float32Array.from({ length: job.dimensions ?? DIMENSIONS }, (_, index) => (input.length + index) / 7);
  return job.encoding === 'float' ? vector : Buffer.from(vector.buffer).toString('base64');
}
