// The answers of a decision as bars for a terminal. Pure.

import { parsePlainJson } from '../domain/json.ts';
import { horizontalBar } from './plot.ts';
import { clean } from './table.ts';

const BAR_CELLS = 30;
const MAX_LABEL = 32;

interface WireAnswer {
  readonly type: 'choice' | 'score' | 'noul';
  readonly choice?: string;
  readonly score?: number;
  readonly noul?: number;
  readonly legend?: Readonly<Record<string, string>>;
  readonly probabilities?: Readonly<Record<string, number>>;
  readonly confidence?: number;
}

interface WireDecision {
  readonly answers: Readonly<Record<string, WireAnswer>>;
  readonly usage: { readonly input_tokens: number };
}

/**
 * @param body a decision reply
 * @param titles question name → what to print above its answer
 */
export function renderAnswers(body: string, titles: ReadonlyMap<string, string>): string {
  const { answers, usage } = parsePlainJson(body) as WireDecision;
  const blocks = Object.entries(answers).map(
    ([name, answer]) => `${clean(titles.get(name) ?? name)}\n${renderAnswer(answer)}`,
  );
  return `${blocks.join('\n\n')}\n\n${usage.input_tokens} input tokens\n`;
}

function renderAnswer(answer: WireAnswer): string {
  const confidence = `confidence ${(answer.confidence ?? 0).toFixed(2)}`;
  const probabilities = Object.entries(answer.probabilities ?? {});
  switch (answer.type) {
    case 'noul': {
      const yes = answer.noul ?? 0;
      return renderBars([
        ['yes', yes],
        ['no', 1 - yes],
      ]);
    }
    case 'score': {
      const levels = probabilities.map(([level, p]) => [`${level} ${answer.legend?.[level] ?? ''}`, p] as const);
      return `${renderBars(levels)}\n  → ${(answer.score ?? 0).toFixed(2)} of ${levels.length - 1}, ${confidence}`;
    }
    case 'choice': {
      const options = probabilities.toSorted(([, a], [, b]) => b - a);
      return `${renderBars(options)}\n  → ${clean(answer.choice ?? '')}, ${confidence}`;
    }
  }
}

function renderBars(rows: readonly (readonly [label: string, probability: number])[]): string {
  const labels = rows.map(([label]) => shorten(clean(label)));
  const width = Math.max(...labels.map((label) => label.length));
  return rows
    .map(
      ([, p], index) =>
        `  ${labels[index]?.padEnd(width)}  ${horizontalBar(p, BAR_CELLS).padEnd(BAR_CELLS)}  ${(p * 100).toFixed(1).padStart(5)} %`,
    )
    .join('\n');
}

function shorten(label: string): string {
  return label.length > MAX_LABEL ? `${label.slice(0, MAX_LABEL - 1)}…` : label;
}
