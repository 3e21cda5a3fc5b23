// What a long document costs: the same questions with their evidence alone, and with the evidence in the middle of some
// 4,000 tokens of texts that have nothing to do with them.

import { type AskedModel, answerRows } from '../../src/quality/asking.ts';
import { mean, measureFigures } from '../../src/quality/figures.ts';
import type { LabelledRow } from '../../src/quality/labelled-row.ts';
import { makeRandom } from '../load/workload.ts';
import type { DecisionTask } from './decision-tasks.ts';

/** They ask what somebody wants of a service, films among them; news and posts do not say, film reviews might. */
const EVIDENCE_TASKS = ['snips', 'sgd_unseen_services'];
const FILLER_TASKS = ['financial_phrasebank', 'newsgroups20'];
const DOCUMENT_TOKENS = 4000;
const SEED = 4000;
const BETWEEN = '\n\n';

/** @param rows of each task, from the first. @returns one entry for each task that asks, and `both` over all questions */
export async function measureLongEvidence(tasks: readonly DecisionTask[], model: AskedModel, rows: number) {
  const filler = shuffle(FILLER_TASKS.flatMap((name) => rowsOf(tasks, name).map(({ state }) => state)));
  const builder = new DocumentBuilder(filler, model);
  const alone = EVIDENCE_TASKS.flatMap((name) => rowsOf(tasks, name).slice(0, rows));
  if (alone.length === 0 || filler.length === 0) return [];
  const long = alone.map((row) => ({ ...row, state: builder.around(row.state) }));
  const [before, after] = [(await answerRows(alone, model)).answers, (await answerRows(long, model)).answers];
  const compare = (task: string, isOf: (name: string) => boolean) => {
    const [short = [], deep = []] = [before, after].map((answers) => answers.filter((answer) => isOf(answer.task)));
    return {
      task,
      questions: short.length,
      documentTokens: mean(deep.map(({ stateTokens }) => stateTokens)),
      aloneAccuracy: measureFigures(short).accuracy,
      middleAccuracy: measureFigures(deep).accuracy,
    };
  };
  const single = EVIDENCE_TASKS.map((task) => compare(task, (name) => name === task));
  return [...single, compare('both', () => true)].filter(({ questions }) => questions > 0);
}

function rowsOf(tasks: readonly DecisionTask[], name: string): readonly LabelledRow[] {
  return tasks.find((task) => task.name === name)?.rows ?? [];
}

/** The same order every time. */
function shuffle(texts: readonly string[]): string[] {
  const random = makeRandom(SEED);
  return texts
    .map((text) => ({ text, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ text }) => text);
}

class DocumentBuilder {
  readonly #filler: readonly string[];
  readonly #model: AskedModel;
  #next = 0;

  constructor(filler: readonly string[], model: AskedModel) {
    this.#filler = filler;
    this.#model = model;
  }

  /** The text in the middle of others, which follow each other in turn. */
  around(evidence: string): string {
    const half = Math.floor((DOCUMENT_TOKENS - this.#model.countTokens(evidence)) / 2);
    return [this.#fill(half), evidence, this.#fill(half)].join(BETWEEN);
  }

  #fill(tokens: number): string {
    const texts: string[] = [];
    for (let rest = tokens; rest > 0; ) {
      const text = this.#filler[this.#next++ % this.#filler.length] ?? '';
      const cut = this.#cut(text, rest);
      // The next word alone would be too long.
      if (cut === '') break;
      texts.push(cut);
      rest -= Math.max(1, this.#model.countTokens(cut));
    }
    return texts.join(BETWEEN);
  }

  /** The text's first words, of no more tokens than that. */
  #cut(text: string, tokens: number): string {
    if (this.#model.countTokens(text) <= tokens) return text;
    const words = text.split(/(?<=\s)/);
    let [low, high] = [0, words.length];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#model.countTokens(words.slice(0, middle).join('')) <= tokens) low = middle;
      else high = middle - 1;
    }
    return words.slice(0, low).join('').trimEnd();
  }
}
