// What only reading answers: entailment, passages, levels, scope and spam, on rows that training never sees; written
// documents, and pairs that one edit tells apart; choices under foreign instructions; the same question in other words.

import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { argmax } from '../../src/domain/answer.ts';
import { type AskedModel, answerRows } from '../../src/quality/asking.ts';
import { mean } from '../../src/quality/figures.ts';
import { goldOf, type LabelledAnswer } from '../../src/quality/labelled-answer.ts';
import type { LabelledRow } from '../../src/quality/labelled-row.ts';
import { type DecisionTask, readNamedTask, readWordedTasks } from './decision-tasks.ts';
import { readWrittenDev, sidesOf } from './written-documents.ts';

/** Their first 500 rows are never trained on (models/training/umpire_training/dev.py). */
const DEVELOPMENT: Readonly<Record<string, readonly string[]>> = {
  entailment: ['mnli_dev', 'nli_counterfactual'],
  'yes/no on passages': ['boolq', 'negation_passages'],
  levels: ['graded_sentiment', 'drug_reviews'],
  scope: ['bot_scope', 'support_scope'],
  'unwanted mail': ['spam_mail'],
  roles: ['verb_roles'],
};
const FIVE_LEVELS = 'graded_sentiment';
const SHARED_OPTIONS = 'verb_roles';
const NONE =
  /^(none( of (these|the above))?|no match|other|something else|not listed|nothing fits|out of scope|unknown)$/;
const OWN_DOCUMENTS = resolve(import.meta.dirname, '..', '..', 'models', 'training', 'written');
const WORDINGS = 4;

interface Share {
  readonly questions: number;
  readonly share: number;
}

type Ask = (rows: readonly LabelledRow[]) => Promise<readonly LabelledAnswer[]>;

/** @param rows of each development task, from the first. @returns undefined where the development data is not at hand */
export async function measureReading(data: string, model: AskedModel, rows: number) {
  const second = join(dirname(data), 'decisions-2');
  if (rows === 0 || !existsSync(second)) return undefined;
  const ask: Ask = async (asked) => (await answerRows(asked, model)).answers;
  const tasks = new Map<string, DecisionTask>();
  const answers = new Map<string, readonly LabelledAnswer[]>();
  for (const name of Object.values(DEVELOPMENT).flat()) {
    const task = readNamedTask([data, second], name, rows);
    tasks.set(name, task);
    answers.set(name, await ask(task.rows));
  }
  const of = (names: readonly string[]) => names.flatMap((name) => answers.get(name) ?? []);
  const documents = readWrittenDev([join(dirname(data), 'written'), OWN_DOCUMENTS]);
  const sides = documents.map((document, at) => sidesOf(document, at + 1));
  const choices = sides.flatMap(([plain]) => (plain === undefined ? [] : choicesOf(plain.row)));
  const roles = (tasks.get(SHARED_OPTIONS)?.rows ?? []).flatMap(choicesOf);
  return {
    /** Accuracy by kind of task. */
    development: Object.fromEntries(
      Object.entries(DEVELOPMENT).map(([kind, names]): [string, Share] => [kind, shareRight(of(names))]),
    ),
    sentiment: judgeLevels(of([FIVE_LEVELS])),
    scope: judgeScope(of(DEVELOPMENT['scope'] ?? [])),
    ...judgeSides(sides, await ask(sides.flat().map(({ row }) => row))),
    /** Choices under another question's instructions. */
    swapped: [await swap('roles, options shared', roles, ask), await swap('written choices', choices, ask)],
    wordings: await askInOtherWords(data, ask, rows),
  };
}

function isRight(answer: LabelledAnswer): boolean {
  return argmax(answer.logits) === goldOf(answer);
}

function shareOf(hits: readonly boolean[]): Share {
  return { questions: hits.length, share: mean(hits.map(Number)) };
}

function shareRight(answers: readonly LabelledAnswer[]): Share {
  return shareOf(answers.map(isRight));
}

/** Exact, and levels between the likeliest and the right one. */
function judgeLevels(answers: readonly LabelledAnswer[]) {
  const away = answers.map((answer) => Math.abs(argmax(answer.logits) - goldOf(answer)));
  return { questions: answers.length, exact: shareRight(answers).share, levelsAway: mean(away) };
}

/** Choices with a "none": it is chosen where nothing fits, and the right option where one does. */
function judgeScope(answers: readonly LabelledAnswer[]) {
  const isNone = (name: string | undefined) => NONE.test((name ?? '').toLowerCase().replaceAll('_', ' '));
  const asked = answers.filter(({ type, names }) => type === 'choice' && names.some(isNone));
  const isOutside = (answer: LabelledAnswer) => isNone(answer.names[goldOf(answer)]);
  return {
    outside: shareRight(asked.filter(isOutside)),
    inside: shareRight(asked.filter((answer) => !isOutside(answer))),
  };
}

/** @param answers of every question of every side, in their order */
function judgeSides(sides: readonly ReturnType<typeof sidesOf>[], answers: readonly LabelledAnswer[]) {
  const plain: LabelledAnswer[] = [];
  const pairs: boolean[] = [];
  const rest = [...answers];
  for (const document of sides) {
    const [first, ...edited] = document.map(({ row, changed }) => ({
      changed,
      own: rest.splice(0, row.questions.length),
    }));
    plain.push(...(first?.own ?? []));
    for (const { changed, own } of edited) {
      for (const [at, answer] of own.entries()) {
        const before = first?.own[at];
        if (before !== undefined && changed.has(answer.task)) pairs.push(isRight(before) && isRight(answer));
      }
    }
  }
  const types = [...Map.groupBy(plain, ({ type }) => type)];
  return {
    /** Accuracy on written documents by type of question. */
    written: Object.fromEntries(types.map(([type, own]): [string, Share] => [type, shareRight(own)])),
    /** Questions that an edit flips, right on both sides. */
    pairs: shareOf(pairs),
  };
}

/** One row for each choice of a row. */
function choicesOf(row: LabelledRow): LabelledRow[] {
  return row.questions
    .filter(({ question }) => question.type === 'choice')
    .map((question) => ({ ...row, questions: [question] }));
}

/** Half the list further on: another document's question, whatever it is. */
async function swap(of: string, own: readonly LabelledRow[], ask: Ask) {
  const foreign = own.map((row, at) => {
    const other = own[(at + Math.floor(own.length / 2)) % own.length]?.questions[0]?.question.instructions ?? '';
    const inOtherWords = row.questions.map((asked) => {
      return { ...asked, question: { ...asked.question, instructions: other } };
    });
    return { ...row, questions: inOtherWords };
  });
  return {
    of,
    questions: own.length,
    own: shareRight(await ask(own)).share,
    foreign: shareRight(await ask(foreign)).share,
    chance: mean(own.map(({ questions }) => 1 / (questions[0]?.names.length ?? 1))),
  };
}

/** Spread: largest less least accuracy of a task over its wordings. */
async function askInOtherWords(data: string, ask: Ask, rows: number) {
  const found = [];
  for (const { task, inWords } of readWordedTasks(data, rows, WORDINGS)) {
    const accuracies: number[] = [];
    for (const asked of inWords) accuracies.push(shareRight(await ask(asked)).share);
    const spread = Math.max(...accuracies) - Math.min(...accuracies);
    found.push({ task, questions: inWords[0]?.length ?? 0, accuracies, spread });
  }
  return found;
}
