// The held-out tasks as somebody would bring them who has labelled rows: one question each, asked in one wording, and
// documents that all differ.

import type { Question } from '../../../src/domain/question.ts';
import type { LabelledQuestion } from '../../../src/quality/labelled-question.ts';
import type { LabelledRow } from '../../../src/quality/labelled-row.ts';
import { type DecisionTask, readWordedTasks } from '../decision-tasks.ts';

export interface LearningTask {
  readonly name: string;
  readonly question: Question;
  /** `[options]` */
  readonly names: readonly string[];
  readonly rows: readonly LearningRow[];
}

interface LearningRow {
  readonly state: string;
  /** `[options]`, in the order of the question; sums to 1. */
  readonly target: readonly number[];
}

interface DialogueQuestion {
  /** All rows are asked the first of them. */
  readonly wordings: readonly string[];
  readonly options: number;
}

/** Questions of dialogues that occur often enough to be learned, whatever the words. */
const DIALOGUE_TASK = 'sgd_unseen_services';
const DIALOGUE_QUESTIONS: Readonly<Record<string, DialogueQuestion>> = {
  'next step': {
    wordings: [
      'What should the assistant do next?',
      'next action',
      "Choose the assistant's next step.",
      'Which step comes next?',
      'The assistant should now',
    ],
    options: 8,
  },
  'new task': {
    wordings: [
      'Does the last message bring up a new task?',
      'The user states a new goal.',
      'The user asks the assistant to start something new.',
    ],
    options: 2,
  },
  'asks for a detail': {
    wordings: [
      'The last message requests a detail from the assistant.',
      'user asks for details',
      'The user is asking for information.',
      'Is the user asking a question about a result?',
    ],
    options: 2,
  },
  'picks an offer': {
    wordings: [
      'The user picks an option that was offered.',
      'The user settles on the offered result.',
      'Has the user chosen one of the offers?',
    ],
    options: 2,
  },
};

/** Those of labels in the order of tasks.json, then the questions of dialogues. @param heldout all their rows */
export function readLearningTasks(data: string, heldout: readonly DecisionTask[]): LearningTask[] {
  const worded = readWordedTasks(data, Number.POSITIVE_INFINITY, 1).map(({ task, inWords: [rows = []] }) =>
    toTask(
      task,
      rows.map((row) => [row, row.questions]),
    ),
  );
  const dialogues = heldout.find(({ name }) => name === DIALOGUE_TASK)?.rows ?? [];
  const asked = Object.entries(DIALOGUE_QUESTIONS).map(([kind, { wordings, options }]) =>
    toTask(
      `dialogues: ${kind}`,
      dialogues.map((row) => [
        row,
        row.questions.filter(
          ({ question, names }) => wordings.includes(question.instructions) && names.length === options,
        ),
      ]),
      wordings[0],
    ),
  );
  return [...worded, ...asked].filter((task) => task !== undefined);
}

/** All rows are asked the first one's question: options that stand elsewhere in another row are looked up by name. @param words in place of its own */
function toTask(
  name: string,
  rows: readonly (readonly [LabelledRow, readonly LabelledQuestion[]])[],
  words?: string,
): LearningTask | undefined {
  const first = rows.flatMap(([, questions]) => questions)[0];
  if (first === undefined) return undefined;
  const { names } = first;
  const question = words === undefined ? first.question : { ...first.question, instructions: words };
  const seen = new Set<string>();
  const found: LearningRow[] = [];
  for (const [{ state }, [labelled]] of rows) {
    if (labelled === undefined || seen.has(state)) continue;
    seen.add(state);
    found.push({ state, target: names.map((option) => labelled.target[labelled.names.indexOf(option)] ?? 0) });
  }
  return { name, question, names, rows: found.filter(({ target }) => target.some((share) => share > 0)) };
}
