// Classes of requests as their users have them, each an endless seeded stream of texts never sent before. All servers get the
// same stream.

import { join } from 'node:path';
import { openTokenizer } from '../../src/runtime/tokenizer/open-tokenizer.ts';
import { ROOT } from '../machine/machine.ts';
import {
  DECISION_MODEL,
  type DecisionBody,
  type DecisionSize,
  decisionJob,
  makeDocument,
  makeMixedInputs,
  makeRandom,
  type Task,
  type Work,
} from './workload.ts';

type Random = () => number;

export interface LoadClass {
  readonly id: string;
  /** What it is made of, for tables. */
  readonly title: string;
  readonly task: Task;
  readonly concurrencies: readonly number[];
  make(random: Random): Work;
}

const ALL_CONCURRENCIES = [1, 2, 4, 8, 16, 32, 64];
/** By the number of inputs. A request keeps a core busy by itself: more of them only wait. */
const EMBEDDING_CONCURRENCIES = { 1: [1, 2, 4, 8], 8: [1, 2, 4, 8], 64: [1, 2, 4] } as const;
/** WordPiece documents of the model for embeddings hold 256 tokens with their two specials. */
const INPUT_TOKENS = { least: 8, most: 254 };
const MIX_STATE_TOKENS = { least: 32, most: 2048 };
/** Cumulative shares of questions in a request of the mix. */
const MIX_QUESTIONS = [
  { share: 0.6, questions: 1 },
  { share: 0.8, questions: 2 },
  { share: 0.95, questions: 4 },
  { share: 1, questions: 8 },
];
const MIX_TITLE =
  '32–2,048 tokens, even by logarithm; 1 (60 %), 2 (20 %), 4 (15 %) or 8 (5 %) questions: choice of 4, noul, score of 5';
const GRID_LENGTHS = [
  ['short', 64],
  ['medium', 512],
  ['long', 2000],
] as const;

export class Loads {
  readonly short = this.#exactly('short', '128 tokens, 1 question of 4 options', { stateTokens: 128, questions: 1 });
  readonly medium = this.#exactly('medium', '512 tokens, 1 question of 4 options', { stateTokens: 512, questions: 1 });
  readonly mix = this.#decisions('mix', MIX_TITLE, mixedSize);
  readonly decisions: readonly LoadClass[] = [this.short, this.medium, this.mix];
  /** One at a time. */
  readonly documents: readonly LoadClass[] = [
    this.#exactly('4000x8x2', '4,000 tokens, 8 questions of 2 options', {
      stateTokens: 4000,
      questions: 8,
      kind: 'pair',
    }),
    this.#exactly('4000x8x4', '4,000 tokens, 8 questions of 4 options', { stateTokens: 4000, questions: 8 }),
  ].map((load) => ({ ...load, concurrencies: [1] }));
  readonly embeddings: readonly LoadClass[] = [embeddingsOf(1), embeddingsOf(8), embeddingsOf(64)];
  readonly #countTokens: (text: string) => number;
  /** Instructions and options are few: each is tokenised once. */
  readonly #known = new Map<string, number>();

  /** @param countTokens of a text in the tokenizer of the model, specials left out */
  constructor(countTokens: (text: string) => number) {
    this.#countTokens = countTokens;
  }

  static async open(): Promise<Loads> {
    const tokenizer = await openTokenizer(join(ROOT, 'models', DECISION_MODEL));
    return new Loads((text) => tokenizer.encode(text).length);
  }

  /** What servers are compared with. */
  classesOf(task: Task): readonly LoadClass[] {
    return task === 'decision' ? [...this.decisions, ...this.documents] : this.embeddings;
  }

  /** Every length with every number of questions, and embeddings: what our server is asked alone. */
  grid(isQuick: boolean): readonly LoadClass[] {
    const lengths = isQuick ? GRID_LENGTHS.slice(0, 2) : GRID_LENGTHS;
    return [
      ...lengths.flatMap(([length, stateTokens]) =>
        (isQuick ? [1, 4] : [1, 4, 16]).map((questions) => {
          const name = `decide ${length} × ${questions}`;
          return this.#exactly(name, name, { stateTokens, questions, kind: 'mixed' });
        }),
      ),
      gridEmbeddings('embed 1 × 16 tokens', (random) => [makeDocument(16, random)]),
      ...(isQuick ? [] : [gridEmbeddings('embed 1 × 254 tokens', (random) => [makeDocument(254, random)])]),
      gridEmbeddings('embed 32 × 8–248 tokens', makeMixedInputs),
    ];
  }

  /** A decision of exact size, for sweeps. */
  decision(size: DecisionSize, random: Random): Work {
    const job = decisionJob(size, random);
    return { job, tokens: size.stateTokens + this.#questionTokens(job.body), group: groupOf(size.stateTokens) };
  }

  #exactly(id: string, title: string, size: DecisionSize): LoadClass {
    return this.#decisions(id, title, () => ({ kind: 'choice', ...size }));
  }

  #decisions(id: string, title: string, sizeOf: (random: Random) => DecisionSize): LoadClass {
    const make = (random: Random): Work => this.decision(sizeOf(random), random);
    return { id, title, task: 'decision', concurrencies: ALL_CONCURRENCIES, make };
  }

  /** Of instructions and options of all questions. */
  #questionTokens({ questions }: DecisionBody): number {
    const texts = Object.values(questions).flatMap((question) => {
      if (question.type === 'noul') return [question.instructions, 'false', 'true'];
      const { type, criteria } = question;
      const named = (): string[] => Object.entries(criteria).map(([name, description]) => `${name}: ${description}`);
      return [question.instructions, ...(type === 'score' ? criteria : named())];
    });
    return texts.reduce((total, text) => total + this.#count(text), 0);
  }

  #count(text: string): number {
    const known = this.#known.get(text) ?? this.#countTokens(text);
    this.#known.set(text, known);
    return known;
  }
}

/** @returns the same works in the same order for the same class and seed */
export function streamOf({ make }: LoadClass, seed: number): () => Work {
  const random = makeRandom(seed);
  return () => make(random);
}

/** The same for all servers, and never the same twice in a run. FNV-1a over what it is made of. */
export function seedOf(...parts: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(parts.join('/'))) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

function mixedSize(random: Random): DecisionSize {
  const { least, most } = MIX_STATE_TOKENS;
  const stateTokens = Math.round(least * (most / least) ** random());
  const drawn = random();
  const questions = MIX_QUESTIONS.find(({ share }) => drawn < share)?.questions ?? 1;
  return { stateTokens, questions, kind: 'mixed' };
}

function groupOf(stateTokens: number): string {
  if (stateTokens <= 128) return 'up to 128 tokens';
  return stateTokens <= 512 ? '129 to 512 tokens' : 'over 512 tokens';
}

function embeddingsOf(count: keyof typeof EMBEDDING_CONCURRENCIES): LoadClass {
  const { least, most } = INPUT_TOKENS;
  return {
    id: `embed-${count}`,
    title: `${count === 1 ? '1 input' : `${count} inputs`} of ${least}–${most} tokens, evenly`,
    task: 'embedding',
    concurrencies: EMBEDDING_CONCURRENCIES[count],
    make: (random) => {
      const lengths = Array.from({ length: count }, () => least + Math.floor(random() * (most - least + 1)));
      return embeddingWork(lengths.map((tokens) => makeDocument(tokens, random)));
    },
  };
}

function gridEmbeddings(id: string, makeInputs: (random: Random) => string[]): LoadClass {
  const make = (random: Random): Work => embeddingWork(makeInputs(random));
  return { id, title: id, task: 'embedding', concurrencies: ALL_CONCURRENCIES, make };
}

/** Each word is a token. */
function embeddingWork(inputs: readonly string[]): Work {
  const tokens = inputs.reduce((total, input) => total + input.split(' ').length, 0);
  return { job: { task: 'embedding', inputs }, tokens, group: `${inputs.length}` };
}
