// Whether an option that has no labelled row competes fairly: the rows of one option are held back, heads are fitted on the
// rest, and the rows of all options are answered with it among the options.

import { argmax } from '../../../src/domain/answer.ts';
import { sum } from '../../../src/domain/sum.ts';
import type { FrozenQuestion, FrozenRow } from '../../../src/learning/frozen-rows.ts';
import { fitQuestion } from '../../../src/learning/learn.ts';
import { mean } from '../../../src/quality/figures.ts';
import { answerWith, learnAndAnswer } from './answer-test-rows.ts';
import type { Draw } from './draw-rows.ts';
import type { FrozenTask } from './frozen-tasks.ts';

const ROWS_PER_OPTION = 16;
/** Of each task, spread over its list. */
const MOST_OPTIONS = 4;

export interface HeldBackOption {
  /** Share of test rows for which it is right. */
  readonly share: number;
  readonly zeroShot: HeldBackFigures;
  /** By a head that has never seen a row of it. */
  readonly heldBack: HeldBackFigures;
  /** By a head that has seen its rows. */
  readonly learned: HeldBackFigures;
}

interface HeldBackFigures {
  /** Share of rows for which it is chosen: fair is `share`. */
  readonly chosen: number;
  /** Of rows for which it is right, the share for which it is chosen. */
  readonly recall: number;
  /** Of rows for which another option is right. */
  readonly othersAccuracy: number;
}

/** By the base's vector alone, on the first draw of 16 rows per option. @returns an entry for each option; none of questions with two */
export async function measureHeldBackOptions(task: FrozenTask, draws: readonly Draw[]): Promise<HeldBackOption[]> {
  const draw = draws.find(({ rowsPerOption }) => rowsPerOption === ROWS_PER_OPTION);
  const { type, options } = task.frozen;
  if (draw === undefined || type !== 'choice' || options.length < 3) return [];
  const base = task.parts.slice(0, -1);
  const rows = task.frozen.rows.map((row) => ({ ...row, vector: row.vector.slice(0, sum(base)) }));
  const pick = (places: readonly number[]) => places.flatMap((place) => rows[place] ?? []);
  const [training, test] = [pick(draw.training), pick(draw.test)];
  const learned = await learnAndAnswer(task.frozen, { training, test }, { parts: base });
  const zeroShot = test.map((row) => row.zeroShot);
  const found: HeldBackOption[] = [];
  for (const option of spread(options.length)) {
    const heldBack = await answerWithout(option, { ...task.frozen, rows: training }, test);
    const judge = (probabilities: readonly (readonly number[])[]) => judgeOption(option, test, probabilities);
    found.push({
      share: mean(test.map(({ target }) => Number(argmax(target) === option))),
      zeroShot: judge(zeroShot),
      heldBack: judge(heldBack),
      learned: judge(learned.probabilities),
    });
  }
  return found;
}

function spread(options: number): number[] {
  const wanted = Math.min(MOST_OPTIONS, options);
  return Array.from({ length: wanted }, (_, at) => Math.floor((at * options) / wanted));
}

/** The head's question does not have the option at all, as when it was thought of later. */
async function answerWithout(
  option: number,
  question: FrozenQuestion,
  test: readonly FrozenRow[],
): Promise<number[][]> {
  const without = (values: readonly number[]) => values.toSpliced(option, 1);
  const rows = question.rows
    .filter(({ target }) => (target[option] ?? 0) === 0)
    .map((row) => {
      const zeroShot = without(row.zeroShot);
      const total = zeroShot.reduce((sum, value) => sum + value, 0);
      return { ...row, target: without(row.target), zeroShot: zeroShot.map((value) => value / total) };
    });
  const smaller = { ...question, options: question.options.toSpliced(option, 1), rows };
  const fitted = await fitQuestion(smaller);
  if (fitted === undefined || !fitted.isGain) return test.map((row) => [...row.zeroShot]);
  const answer = answerWith(smaller, fitted.head, { options: question.options });
  return test.map((row) => answer(row));
}

function judgeOption(
  option: number,
  test: readonly FrozenRow[],
  probabilities: readonly (readonly number[])[],
): HeldBackFigures {
  const answers = test.map(({ target }, at) => ({ right: argmax(target), chosen: argmax(probabilities[at] ?? []) }));
  const [own, others] = [
    answers.filter(({ right }) => right === option),
    answers.filter(({ right }) => right !== option),
  ];
  const shareRight = (of: typeof answers) => mean(of.map(({ right, chosen }) => Number(right === chosen)));
  return {
    chosen: mean(answers.map(({ chosen }) => Number(chosen === option))),
    recall: shareRight(own),
    othersAccuracy: shareRight(others),
  };
}
