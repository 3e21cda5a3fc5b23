// The models under judgement, behind the server's own engine with its workers, started as the server starts it.

import { join } from 'node:path';
import { startEngine } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import { probabilitiesInOrder } from '../../src/domain/answer.ts';
import type { Question } from '../../src/domain/question.ts';
import type { Caller } from '../../src/engine/engine.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { AskedModel } from '../../src/quality/asking.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { openTokenizer } from '../../src/runtime/tokenizer/open-tokenizer.ts';
import { DECISION_MODEL, EMBEDDING_MODEL } from '../load/workload.ts';
import { withFolder } from '../machine/folder.ts';
import { ROOT } from '../machine/machine.ts';

const MODELS = join(ROOT, 'models');
const SPECIAL_TOKENS = 2;
const caller: Caller = { keyId: 'bench', signal: new AbortController().signal };

export interface ModelIdentity {
  readonly id: string;
  readonly digest: string;
}

export interface FrozenDocument {
  /** `[options]`, in the order of the question; noul: false, true. */
  readonly zeroShot: readonly number[];
  /** `[parts]`: the base's vector, the question's view where the base gives one, the embedder's vector of the whole text. */
  readonly vectors: readonly Float32Array[];
}

export interface JudgedModels {
  readonly decision: ModelIdentity & { readonly asked: AskedModel };
  readonly baseline: ModelIdentity;
  /** Of each of the base's vectors. */
  readonly hidden: number;
  /** Of the baseline's vectors. */
  readonly embedDimensions: number;
  /** Execution provider in use. */
  readonly device: string;
  /** What heads are fitted on: the base's own probabilities of a question, and its vector joined to the embedder's. */
  freeze(state: string, question: Question): Promise<FrozenDocument>;
  /** Sentence vectors, normalised. Texts over the model's limit are read up to it. @returns `[texts][dimensions]` */
  embed(texts: readonly string[]): Promise<Float32Array[]>;
}

/** They run while they are used. @param decisionFolder default: the shipped model. @throws StartError */
export async function withModels<T>(
  decisionFolder: string = join(MODELS, DECISION_MODEL),
  use: (models: JudgedModels) => Promise<T>,
): Promise<T> {
  const decision = await readModelFolder(decisionFolder);
  const baseline = await readModelFolder(join(MODELS, EMBEDDING_MODEL));
  if (decision.manifest.type !== 'decision') throw new Error('The judged model must be of type "decision".');
  if (baseline.manifest.type !== 'embedding') throw new Error(`${EMBEDDING_MODEL} must be of type "embedding".`);
  const { id, temperatures } = decision.manifest;
  const hidden =
    decision.manifest.family === 'split-encoder'
      ? decision.manifest.shape.heads * decision.manifest.shape.head_size
      : 0;
  const { id: baselineId, limits, dimensions } = baseline.manifest;
  const tokenizer = await openTokenizer(decision.path, 'javascript');
  const baselineTokenizer = await openTokenizer(baseline.path, 'javascript');
  return await withFolder(async (cacheFolder) => {
    const logger = createLogger({ level: 'warn', format: 'text', destination: process.stderr });
    const folders = [decision.path, baseline.path];
    const engine = await startEngine(loadConfig({ flags: {} }).config, { folders, logger, cacheFolder });
    const ask: AskedModel['ask'] = async (state, questions) => {
      const { answers } = await engine.ticketFor({ modelId: id, state, questions }, caller).run();
      return answers.map(probabilitiesInOrder);
    };
    const freeze = async (state: string, question: Question): Promise<FrozenDocument> => {
      const job = { modelId: id, state, questions: [question], wantsVectors: true } as const;
      const { answers, vector, views = [] } = await engine.ticketFor(job, caller).run();
      const [answer] = answers;
      if (answer === undefined || vector === undefined) throw new Error(`${id} gives no vectors.`);
      return { zeroShot: probabilitiesInOrder(answer), vectors: [vector, ...views, await embedWhole(state)] };
    };
    const embedWhole = async (text: string): Promise<Float32Array> => {
      const whole = { dimensions: undefined, encoding: 'float', readsWindows: true } as const;
      const { embeddings } = await engine.ticketFor({ modelId: baselineId, inputs: [text], ...whole }, caller).run();
      const [vector] = embeddings;
      if (!(vector instanceof Float32Array)) throw new Error(`${baselineId} gives no vectors.`);
      return vector;
    };
    const embed = async (texts: readonly string[]): Promise<Float32Array[]> => {
      const most = limits.input_tokens - SPECIAL_TOKENS;
      const inputs = texts.map((text) => Array.from(baselineTokenizer.encode(text).subarray(0, most)));
      const job = { modelId: baselineId, inputs, dimensions: undefined, encoding: 'float' } as const;
      const { embeddings } = await engine.ticketFor(job, caller).run();
      return embeddings.filter((vector) => vector instanceof Float32Array);
    };
    try {
      await engine.ready;
      const { device, workers: atOnce } = engine.status();
      const asked = { ask, temperatures, countTokens: (text: string) => tokenizer.encode(text).length, atOnce };
      return await use({
        decision: { id, digest: decision.digest, asked },
        baseline: { id: baselineId, digest: baseline.digest },
        hidden,
        embedDimensions: dimensions,
        device,
        freeze,
        embed,
      });
    } finally {
      await engine.drain();
    }
  });
}
