// What each family does of the tasks that a worker is sent. How it does it is the families'.

import type { MarkerEncoder } from './families/marker-encoder/marker-encoder.ts';
import { PairScorer } from './families/pair-scorer/pair-scorer.ts';
import { SplitEncoder } from './families/split-encoder/split-encoder.ts';
import { TextEncoder } from './families/text-encoder/text-encoder.ts';
import type {
  CountReply,
  LoadModelTask,
  ProbeTask,
  ReplyOf,
  SharedReply,
  SharingTask,
  Task,
  TaskReply,
} from './messages.ts';

export type ModelFamily = SplitEncoder | TextEncoder | PairScorer | MarkerEncoder;

export type ModelTask = Exclude<Task, ProbeTask | LoadModelTask>;

type FamilyTasks = {
  readonly [K in ModelTask['kind']]?: (task: Extract<Task, { kind: K }>) => ReplyOf[K] | Promise<ReplyOf[K]>;
};

/** @throws Error where the model is of another family than the task; AppError what the family refuses */
export async function performTask(family: ModelFamily | undefined, task: ModelTask): Promise<ReplyOf[Task['kind']]> {
  const tasks = family === undefined ? {} : tasksOf(family);
  // Which kind goes with which task is told by the type of `FamilyTasks`; a look-up by a variable loses it.
  const act = tasks[task.kind] as ((task: Task) => ReplyOf[Task['kind']]) | undefined;
  if (act === undefined) throw new Error(`no model of this worker does ${task.kind} as ${task.modelId}`);
  return act(task);
}

/** @returns what does tasks of several callers in shared runs; undefined: its runs are not shared */
export function findTogether(
  family: ModelFamily,
): ((tasks: readonly SharingTask[]) => Promise<readonly TaskReply[]>) | undefined {
  if (family instanceof SplitEncoder) {
    const { rows } = family;
    return rows && ((tasks) => rows.decideTogether(ofKind(tasks, 'decide')));
  }
  const { sharedRows } = family;
  if (sharedRows === undefined) return undefined;
  if (family instanceof TextEncoder) return (tasks) => family.embedTogether(ofKind(tasks, 'embed'), sharedRows);
  if (family instanceof PairScorer) return (tasks) => family.scoreTogether(ofKind(tasks, 'score-pairs'), sharedRows);
  return (tasks) => family.decideTogether(ofKind(tasks, 'decide'), sharedRows);
}

function ofKind<K extends SharingTask['kind']>(tasks: readonly SharingTask[], kind: K) {
  return tasks.filter((task): task is Extract<SharingTask, { kind: K }> => task.kind === kind);
}

async function performTogether(family: ModelFamily, tasks: readonly SharingTask[]): Promise<SharedReply> {
  const together = findTogether(family);
  if (together === undefined) throw new Error('a model was sent a batch whose runs are not shared');
  const replies = await together(tasks);
  if (replies.length !== tasks.length) throw new Error('a batch held tasks of another kind');
  return { replies };
}

function tasksOf(family: ModelFamily): FamilyTasks {
  if (family instanceof SplitEncoder) return splitEncoderTasks(family);
  if (family instanceof TextEncoder) return textEncoderTasks(family);
  return family instanceof PairScorer ? pairScorerTasks(family) : markerEncoderTasks(family);
}

function splitEncoderTasks(family: SplitEncoder): FamilyTasks {
  return {
    'count-decision': (task) => counted(family.countTokens(task)),
    batch: ({ tasks }) => performTogether(family, tasks),
    decide: (task) => family.decide(task),
    encode: (task) => family.encodeShare(task),
    answer: (task) => family.answerShared(task),
    'answer-slice': (task) => family.answerSlice(task),
    'answer-end': (task) => family.endAnswer(task),
  };
}

function textEncoderTasks(family: TextEncoder): FamilyTasks {
  return {
    'count-embedding': (task) => counted(family.countTokens(task)),
    batch: ({ tasks }) => performTogether(family, tasks),
    embed: (task) => family.embed(task),
  };
}

function pairScorerTasks(family: PairScorer): FamilyTasks {
  return {
    'count-pairs': (task) => counted(family.countTokens(task)),
    batch: ({ tasks }) => performTogether(family, tasks),
    'score-pairs': (task) => family.scorePairs(task),
  };
}

function markerEncoderTasks(family: MarkerEncoder): FamilyTasks {
  return {
    'count-decision': (task) => counted(family.countTokens(task)),
    batch: ({ tasks }) => performTogether(family, tasks),
    decide: (task) => family.decide(task),
  };
}

function counted(inputTokens: number): CountReply {
  return { inputTokens };
}
