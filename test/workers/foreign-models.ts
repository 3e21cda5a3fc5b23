// Workers that have loaded models of other people's architectures, some of them changed, and what the reference answers
// on the same weights (models/training/fixtures/foreign_scorers.py).

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DecisionCase, RankingCase } from '../../src/runtime/model-folder/golden.ts';
import type { EntailmentManifest } from '../../src/runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../src/runtime/model-folder/model-folder.ts';
import { WorkerPool } from '../../src/runtime/worker-pool.ts';
import { layForeignFolders, readForeignAnswers } from '../fixtures/foreign-folders.ts';

/** A text whose token has no number in the graph, once its vector there is overwritten. */
interface Poison {
  readonly text: string;
  /** Where the vector begins. */
  readonly byte: number;
}

interface ScorerAnswers {
  readonly entailment: Readonly<
    Record<'deberta-nli' | 'modernbert-nli' | 'bart-nli', { readonly cases: readonly DecisionCase[] }>
  >;
  /** The same graph under each meaning that its three labels could have. */
  readonly orders: readonly {
    readonly labels: EntailmentManifest['labels'];
    readonly cases: readonly DecisionCase[];
  }[];
  readonly rerankers: Readonly<
    Record<'bert-reranker' | 'xlm-r-reranker', { readonly cases: readonly RankingCase[]; readonly poison: Poison }>
  >;
  readonly laya: {
    readonly cases: readonly DecisionCase[];
    readonly config: object;
    /** Around every limit, each with whether Laya reads all of it. */
    readonly edges: readonly {
      readonly state: string;
      readonly question: DecisionCase['questions'][number];
      readonly is_whole: boolean;
    }[];
    readonly poison: Poison;
  };
}

export const ANSWERS = readForeignAnswers('scorers.json') as ScorerAnswers;

/** A fixture under its own name, or changed under another. */
export interface ForeignModel {
  readonly fixture: string;
  /** Default: the fixture's. */
  readonly id?: string;
  readonly manifest?: object;
  readonly cases?: readonly unknown[];
  readonly poison?: Poison;
}

export class ForeignModels {
  readonly pool: WorkerPool;
  readonly #folder: string;

  private constructor(folder: string, pool: WorkerPool) {
    this.#folder = folder;
    this.pool = pool;
  }

  /** @throws StartError where one of them does not load */
  static async load(models: readonly ForeignModel[], workers = 1): Promise<ForeignModels> {
    const folder = mkdtempSync(join(tmpdir(), 'umpire-foreign-'));
    const folders = models.map((model) => layModel(folder, model));
    const pool = new WorkerPool({
      models: await Promise.all(folders.map(readModelFolder)),
      device: 'cpu',
      allowDeviceFallback: false,
      threads: 1,
      cacheFolder: undefined,
      stateCacheBytes: 0,
      workers,
      onFault: () => undefined,
    });
    const loaded = new ForeignModels(folder, pool);
    await pool.loaded.catch(async (error: unknown) => {
      await loaded.close();
      throw error;
    });
    return loaded;
  }

  async close(): Promise<void> {
    await this.pool.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** @returns its folder */
export function layModel(folder: string, { fixture, id = fixture, manifest, cases, poison }: ForeignModel): string {
  const scratch = mkdtempSync(join(folder, 'laying-'));
  const [laid = ''] = layForeignFolders(scratch, [fixture]);
  const path = join(folder, id);
  renameSync(laid, path);
  const write = (name: string, content: string | Buffer): void => {
    writeFileSync(join(path, name), content);
    const sums = readFileSync(join(path, 'SHA256SUMS'), 'utf8').split('\n');
    const sum = createHash('sha256').update(content).digest('hex');
    const lines = sums.map((line) => (line.endsWith(`  ${name}`) ? `${sum}  ${name}` : line));
    writeFileSync(join(path, 'SHA256SUMS'), lines.join('\n'));
  };
  const known = JSON.parse(readFileSync(join(path, 'model.json'), 'utf8')) as object;
  write('model.json', JSON.stringify({ ...known, id, ...manifest }));
  if (cases !== undefined) write('golden.json', JSON.stringify({ format: 1, cases }));
  if (poison !== undefined) {
    const graph = readFileSync(join(path, 'model.onnx'));
    graph.writeFloatLE(Number.NaN, poison.byte);
    write('model.onnx', graph);
  }
  return path;
}
