// The models under judgement, behind the server's own engine with its workers, started as the server starts it.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEngine } from '../../src/app/app.ts';
import { loadConfig } from '../../src/config/load.ts';
import { probabilitiesInOrder } from '../../src/domain/answer.ts';
import type { Caller } from '../../src/engine/engine.ts';
import type { LocalEngine } from '../../src/engine/local-engine.ts';
import { createLogger } from '../../src/observability/logger.ts';
import type { AskedModel } from '../../src/quality/asking.ts';
import type {
  ModelFolder,
  SplitEncoderManifest,
  TextEncoderManifest,
} from '../../src/runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { BertTokenizer } from '../../src/runtime/tokenizer/bert-tokenizer.ts';

const MODELS = resolve(import.meta.dirname, '..', '..', 'models');
const BASELINE_MODEL = 'text-embed-mini';
const SPECIAL_TOKENS = 2;
const caller: Caller = { keyId: 'bench', signal: new AbortController().signal };

export interface ModelIdentity {
  readonly id: string;
  readonly digest: string;
}

interface JudgedParts {
  readonly engine: LocalEngine;
  readonly cacheFolder: string;
  readonly decision: ModelFolder & { readonly manifest: SplitEncoderManifest };
  readonly baseline: ModelFolder & { readonly manifest: TextEncoderManifest };
}

export class JudgedModels {
  readonly decision: ModelIdentity & { readonly asked: AskedModel };
  readonly baseline: ModelIdentity;
  readonly #engine: LocalEngine;
  readonly #cacheFolder: string;
  readonly #baselineTokenizer: BertTokenizer;
  readonly #baselineTokens: number;

  /** @param decisionFolder default: the shipped model. Call `stop` in any case. @throws StartError */
  static async start(decisionFolder: string = join(MODELS, 'kev')): Promise<JudgedModels> {
    const [decision, baseline] = await Promise.all([decisionFolder, join(MODELS, BASELINE_MODEL)].map(readModelFolder));
    if (decision?.manifest.type !== 'decision') throw new Error('The judged model must be of type "decision".');
    if (baseline?.manifest.type !== 'embedding') throw new Error(`${BASELINE_MODEL} must be of type "embedding".`);
    const folders = [decision, baseline];
    const cacheFolder = mkdtempSync(join(tmpdir(), 'umpire-quality-'));
    const logger = createLogger({ level: 'warn', format: 'text', destination: process.stderr });
    const { config } = loadConfig({ flags: {} });
    const engine = await startEngine(config, { folders: folders.map(({ path }) => path), logger, cacheFolder });
    const models = new JudgedModels({
      engine,
      cacheFolder,
      decision: { ...decision, manifest: decision.manifest },
      baseline: { ...baseline, manifest: baseline.manifest },
    });
    try {
      await engine.ready;
    } catch (error) {
      await models.stop();
      throw error;
    }
    return models;
  }

  private constructor({ engine, cacheFolder, decision, baseline }: JudgedParts) {
    const { id, temperatures } = decision.manifest;
    const tokenizer = readTokenizer(decision);
    this.#engine = engine;
    this.#cacheFolder = cacheFolder;
    this.#baselineTokenizer = readTokenizer(baseline);
    this.#baselineTokens = baseline.manifest.limits.input_tokens - SPECIAL_TOKENS;
    this.baseline = { id: baseline.manifest.id, digest: baseline.digest };
    const ask: AskedModel['ask'] = async (state, questions) => {
      const { answers } = await engine.ticketFor({ modelId: id, state, questions }, caller).run();
      return answers.map(probabilitiesInOrder);
    };
    const countTokens = (text: string) => tokenizer.encode(text).length;
    const asked = { ask, temperatures, countTokens, atOnce: engine.status().workers };
    this.decision = { id, digest: decision.digest, asked };
  }

  /** Execution provider in use. */
  get device(): string {
    return this.#engine.status().device;
  }

  /** Sentence vectors, normalised. Texts over the model's limit are read up to it. @returns `[texts][dimensions]` */
  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    const inputs = texts.map((text) =>
      Array.from(this.#baselineTokenizer.encode(text).subarray(0, this.#baselineTokens)),
    );
    const job = { modelId: this.baseline.id, inputs, dimensions: undefined, encoding: 'float' } as const;
    const { embeddings } = await this.#engine.ticketFor(job, caller).run();
    return embeddings.filter((vector) => vector instanceof Float32Array);
  }

  async stop(): Promise<void> {
    await this.#engine.drain();
    rmSync(this.#cacheFolder, { recursive: true, force: true });
  }
}

function readTokenizer({ path }: ModelFolder): BertTokenizer {
  return new BertTokenizer(JSON.parse(readFileSync(join(path, 'tokenizer.json'), 'utf8')));
}
