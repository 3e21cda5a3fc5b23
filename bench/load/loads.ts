// What is sent: classes of requests as their users have them, each an endless seeded stream of texts never sent before. All
// servers get the same stream. Pure.

import type { PeerJob, Task } from '../servers/peer.ts';
import { type DecisionBody, type DecisionSize, makeDecision, makeDocument, makeRandom } from './workload.ts';

export interface Work {
  readonly job: PeerJob;
  /** Counted here and not by the servers, which count differently: texts, questions and options, each once. */
  readonly tokens: number;
  /** Class of length. */
  readonly group: string;
}

export interface LoadClass {
  readonly id: string;
  /** What it is made of, for tables. */
  readonly title: string;
  readonly task: Task;
  readonly concurrencies: readonly number[];
  make(random: () => number): Work;
}

/** @returns ids that the tokenizer of the model makes of a text, specials left out */
export type CountTokens = (text: string) => number;

const ALL_CONCURRENCIES = [1, 2, 4, 8, 16, 32, 64];
/** Of 1, 8 and 64 inputs. A request keeps a core busy by itself: more of them only wait. */
const EMBEDDING_CONCURRENCIES = { 1: [1, 2, 4, 8], 8: [1, 2, 4, 8], 64: [1, 2, 4] } as const;
/** WordPiece documents of the model for embeddings hold 256 tokens with their two specials. */
const INPUT_TOKENS = { least: 8, most: 254 };
const MIX_STATE_TOKENS = { least: 32, most: 2048 };
/** Cumulative shares of questions in a request of the mix. */
const MIX_QUESTIONS: readonly (readonly [share: number, questions: number])[] = [
  [0.6, 1],
  [0.8, 2],
  [0.95, 4],
  [1, 8],
];

export class Loads {
  readonly short: LoadClass;
  readonly medium: LoadClass;
  readonly mix: LoadClass;
  readonly documents: readonly LoadClass[];
  readonly embeddings: readonly LoadClass[];
  readonly #countTokens: CountTokens;
  /** Instructions and options are few: each is tokenised once. */
  readonly #known = new Map<string, number>();

  constructor(countTokens: CountTokens) {
    this.#countTokens = countTokens;
    const size = (stateTokens: number, questions: number, kind: 'choice' | 'pair' = 'choice') => ({
      stateTokens,
      questions,
      kind,
    });
    const all = { concurrencies: ALL_CONCURRENCIES };
    const alone = { concurrencies: [1] };
    this.short = this.#decisions('short', '128 tokens, 1 question of 4 options', { ...all, make: () => size(128, 1) });
    this.medium = this.#decisions('medium', '512 tokens, 1 question of 4 options', {
      ...all,
      make: () => size(512, 1),
    });
    this.mix = this.#decisions(
      'mix',
      '32–2,048 tokens, even by logarithm; 1 (60 %), 2 (20 %), 4 (15 %) or 8 (5 %) questions: choice of 4, noul, score of 5',
      { ...all, make: mixedSize },
    );
    this.documents = [
      this.#decisions('4000x8x2', '4,000 tokens, 8 questions of 2 options', {
        ...alone,
        make: () => size(4000, 8, 'pair'),
      }),
      this.#decisions('4000x8x4', '4,000 tokens, 8 questions of 4 options', { ...alone, make: () => size(4000, 8) }),
    ];
    this.embeddings = [embeddingsOf(1), embeddingsOf(8), embeddingsOf(64)];
  }

  get decisions(): readonly LoadClass[] {
    return [this.short, this.medium, this.mix];
  }

  /** A decision of exact size, for sweeps. */
  decision(size: DecisionSize, random: () => number): Work {
    const body = makeDecision(size, random);
    return {
      job: { task: 'decision', body },
      tokens: size.stateTokens + this.#questionTokens(body),
      group: groupOf(size.stateTokens),
    };
  }

  /** Of instructions and options of all questions. */
  #questionTokens({ questions }: DecisionBody): number {
    const texts = Object.values(questions).flatMap((question) => {
      if (question.type === 'noul') return [question.instructions, 'false', 'true'];
      const { criteria } = question;
      const options = Array.isArray(criteria)
        ? criteria
        : Object.entries(criteria).map(([name, description]) => `${name}: ${description}`);
      return [question.instructions, ...options];
    });
    return texts.reduce((total, text) => total + this.#count(text), 0);
  }

  #count(text: string): number {
    const known = this.#known.get(text) ?? this.#countTokens(text);
    this.#known.set(text, known);
    return known;
  }

  #decisions(
    id: string,
    title: string,
    { concurrencies, make }: { concurrencies: readonly number[]; make: (random: () => number) => DecisionSize },
  ): LoadClass {
    return { id, title, task: 'decision', concurrencies, make: (random) => this.decision(make(random), random) };
  }
}

/** @returns the same works in the same order for the same class and seed */
export function streamOf({ make }: LoadClass, seed: number): () => Work {
  const random = makeRandom(seed);
  return () => make(random);
}

function mixedSize(random: () => number): DecisionSize {
  const { least, most } = MIX_STATE_TOKENS;
  const stateTokens = Math.round(least * (most / least) ** random());
  const drawn = random();
  const questions = MIX_QUESTIONS.find(([share]) => drawn < share)?.[1] ?? 1;
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
      const inputs = lengths.map((tokens) => makeDocument(tokens, random));
      const tokens = lengths.reduce((total, length) => total + length, 0);
      return { job: { task: 'embedding', inputs }, tokens, group: `${count}` };
    },
  };
}
