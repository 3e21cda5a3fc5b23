// Tasks whose rows carry a label alone: options and wordings stand once, in a tasks.json. Pure; mirrors `plain_examples`
// of models/training/umpire_training/tasks.py.

import { isRecord } from '../domain/json.ts';
import type { Question } from '../domain/question.ts';
import { toShares } from './gold.ts';
import type { LabelledQuestion } from './labelled-question.ts';
import { parseQuestion, RowFault } from './wire-question.ts';

/** An entry of tasks.json, as far as it is read. */
export interface LabelTask {
  readonly task: string;
  readonly type: Question['type'];
  /** Name → description; of a score its levels, lowest first. */
  readonly labels: Readonly<Record<string, unknown>> | readonly string[];
  /** At least one; rows ask them in turn. */
  readonly instructions: readonly string[];
}

/** @returns undefined when the list has no such task, or one whose rows bring their own questions */
export function findLabelTask(tasks: unknown, name: string): LabelTask | undefined {
  const entry = (Array.isArray(tasks) ? tasks : []).find(
    (candidate) => isRecord(candidate) && candidate['task'] === name,
  );
  return isRecord(entry) && isLabelTask(entry) ? entry : undefined;
}

function isLabelTask(entry: object): entry is LabelTask {
  const { type, labels, instructions } = entry as Record<string, unknown>;
  const isKnown = type === 'choice' || type === 'noul' || type === 'score';
  const hasWordings = Array.isArray(instructions) && instructions.length > 0;
  return isKnown && hasWordings && (type === 'score' ? Array.isArray(labels) : isRecord(labels));
}

/** @param place rows before this one: wordings are asked in turn. @throws RowFault */
export function questionOfTask(task: LabelTask, row: Record<string, unknown>, place: number): LabelledQuestion {
  const instructions = task.instructions[place % task.instructions.length];
  const question = questionWith(task, instructions ?? '');
  const levels = question.type === 'score' ? question.levels : undefined;
  const labelNames =
    question.type === 'choice' ? question.options.map(({ name }) => name) : (levels ?? ['false', 'true']);
  const { label, soft } = row;
  if (soft === undefined && typeof label !== 'string') throw new RowFault("it has no 'label' and no 'soft'");
  const target = toShares(labelNames, soft ?? { [String(label)]: 1 });
  // Levels are labelled by their texts and named by their numbers.
  const names = levels?.map((_, level) => String(level)) ?? labelNames;
  return { task: task.task, question, names, target };
}

/** Of each wording one object, which all its rows share. */
const known = new WeakMap<LabelTask, Map<string, Question>>();

function questionWith(task: LabelTask, instructions: string): Question {
  const wordings = known.get(task) ?? new Map<string, Question>();
  known.set(task, wordings);
  const question =
    wordings.get(instructions) ?? parseQuestion({ type: task.type, instructions, criteria: task.labels });
  wordings.set(instructions, question);
  return question;
}
