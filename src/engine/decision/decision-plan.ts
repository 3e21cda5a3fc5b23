// Whether a decision is one task or many, and which: windows of the document first, questions then. Sharing a decision
// between idle workers and letting short calls through between its parts are the same cuts. Pure.

import { sum } from '../../domain/sum.ts';

export interface PlanInputs {
  /** Workers with nothing to do. */
  readonly idleWorkers: number;
  /** One worker would run it with the cores of all, quicker than parts of it on each while it is not dear. */
  readonly isWide: boolean;
  /** Calls that wait. */
  readonly queuedJobs: number;
  /** Estimated, specials included. */
  readonly stateTokens: number;
  readonly windowTokens: number;
  /** The longest document that the model takes. */
  readonly limitTokens: number;
  /** Part of the document whose encoding some worker has kept, 0 to 1. */
  readonly keptPart: number;
  /** Estimated time of encoding all windows. */
  readonly encodeMs: number;
  /** `[questions]`: estimated time of answering each. At least one. */
  readonly answersMs: readonly number[];
  /** `[questions]`: runs that answering each takes, estimated. Default: one */
  readonly answerRuns: readonly number[];
  /** `[questions]`: what each slice pays to encode instructions that are longer than a window. Default: nothing */
  readonly instructionsMs: readonly number[];
  /** Workers read the document where it was written. */
  readonly isReadInPlace: boolean;
  /** What each answering part pays to put the document together; 0 where workers keep it from part to part. */
  readonly rejoinMs: number;
}

export interface DecisionPlan {
  /** Tasks that encode windows, at least 1. */
  readonly shares: number;
  /** Places of the questions of each answering task, the dearest task first; none is empty. */
  readonly groups: readonly (readonly number[])[];
  /** Questions that are too long for one part: their places, and in how many parts each comes. In no group. */
  readonly sliced: readonly SlicedQuestion[];
  /** All questions are answered by one worker. */
  readonly isAnsweredByOne: boolean;
}

export interface SlicedQuestion {
  readonly place: number;
  /** At least two. */
  readonly slices: number;
}

/** What a part should take: the longest that a short call waits for a worker it could have had. */
const SLICE_MS = 45;
/**
 * A decision this short, two slices, is not cut while others wait: two halves would spare a short call some tens of milliseconds, and
 * cost a copy of all keys and values and two more crossings, a twentieth of the whole.
 */
const WHOLE_MS = 100;
/** Of a run with the cores of all, over a narrow one; measured on two cores: 1.2 to 1.5. */
const LEAST_WIDE_GAIN = 1.25;
/** Below this the extra crossings between threads cost more than idle workers save. */
const LEAST_SHARED_MS = 40;
/** Parts that answer for idle workers are smaller, so that all end at nearly the same time. */
const LAST_PART_MS = 15;
/** Documents of more of what the model takes would be held in memory once by all and once more by each that answers. */
const LARGEST_PART_FOR_ALL = 0.5;

/**
 * Sharing makes one decision faster and two no faster, so idle workers take part only where nothing else waits.
 * @returns undefined when one worker should do it as one task
 */
export function planDecision(inputs: PlanInputs): DecisionPlan | undefined {
  const { idleWorkers, queuedJobs, stateTokens, windowTokens, keptPart, encodeMs, answersMs } = inputs;
  const costMs = encodeMs * (1 - keptPart) + sum(answersMs);
  const helpers = queuedJobs > 0 ? 1 : Math.max(1, idleWorkers);
  const windows = Math.max(1, Math.ceil(stateTokens / windowTokens));
  // What a worker has kept is worth most where it lies.
  const isShared = helpers > 1 && keptPart === 0;
  if (costMs <= (isShared && !inputs.isWide ? LEAST_SHARED_MS : WHOLE_MS)) return undefined;
  const shares = keptPart === 1 ? 1 : countShares({ windows, windowMs: encodeMs / windows, helpers });
  const isAnsweredByOne = !inputs.isReadInPlace && stateTokens > inputs.limitTokens * LARGEST_PART_FOR_ALL;
  const sliced = sliceQuestions(inputs);
  const groups = groupOthers(inputs, sliced, isAnsweredByOne ? 1 : helpers);
  const isOne = shares === 1 && groups.length === 1 && sliced.length === 0;
  return isOne ? undefined : { shares, groups, sliced, isAnsweredByOne };
}

/** A question of many options is as long as many questions: it would hold a worker for as long. */
function sliceQuestions({ answersMs, answerRuns, instructionsMs, rejoinMs }: PlanInputs): SlicedQuestion[] {
  return answersMs.flatMap((answerMs, place) => {
    const partMs = Math.max(SLICE_MS, 3 * (rejoinMs + (instructionsMs[place] ?? 0)));
    const slices = Math.min(answerRuns[place] ?? 1, Math.ceil(answerMs / partMs));
    return answerMs > WHOLE_MS && slices > 1 ? [{ place, slices }] : [];
  });
}

function groupOthers(inputs: PlanInputs, sliced: readonly SlicedQuestion[], helpers: number): number[][] {
  const places = inputs.answersMs.map((_, place) => place);
  const others = places.filter((place) => !sliced.some((question) => question.place === place));
  if (others.length === 0) return [];
  const answersMs = others.map((place) => inputs.answersMs[place] ?? 0);
  const groups = groupQuestions(answersMs, countGroups({ ...inputs, answersMs }, helpers));
  return groups.map((group) => group.flatMap((other) => others[other] ?? []));
}

/** Parts that answer. */
export function countAnswerParts({ groups, sliced }: Pick<DecisionPlan, 'groups' | 'sliced'>): number {
  return sliced.reduce((parts, { slices }) => parts + slices, groups.length);
}

/** As many windows together as a slice holds; as many shares for each helper as for every other. */
function countShares(of: { readonly windows: number; readonly windowMs: number; readonly helpers: number }): number {
  const together = Math.max(1, Math.floor(SLICE_MS / Math.max(of.windowMs, 0.1)));
  const rounds = Math.ceil(of.windows / together / of.helpers);
  return of.helpers === 1 ? Math.ceil(of.windows / together) : Math.min(of.windows, rounds * of.helpers);
}

/** Where each part puts the document together again, parts are longer: a quarter of their time may go into that. */
function countGroups({ answersMs, rejoinMs }: PlanInputs, helpers: number): number {
  const partMs = Math.max(helpers > 1 ? LAST_PART_MS : SLICE_MS, 3 * rejoinMs);
  const wanted = Math.ceil(sum(answersMs) / partMs);
  return Math.min(answersMs.length, Math.max(helpers, wanted));
}

/**
 * Places of the questions in groups of like cost, the dearest group first.
 * @param groups at most the number of questions @returns none empty
 */
export function groupQuestions(answersMs: readonly number[], groups: number): number[][] {
  const bins = Array.from({ length: groups }, () => ({ places: [] as number[], costMs: 0 }));
  const dearest = answersMs.map((costMs, place) => ({ place, costMs })).sort((a, b) => b.costMs - a.costMs);
  for (const { place, costMs } of dearest) {
    // Of equally light ones the emptiest, so that none stays empty where questions cost nothing.
    const lightest = bins.reduce((a, b) =>
      b.costMs < a.costMs || (b.costMs === a.costMs && b.places.length < a.places.length) ? b : a,
    );
    lightest.places.push(place);
    lightest.costMs += costMs;
  }
  return bins.sort((a, b) => b.costMs - a.costMs).map(({ places }) => places.sort((a, b) => a - b));
}

/** From the begin of a decision to its answer when nothing comes between. */
export function durationMs(plan: DecisionPlan | undefined, inputs: PlanInputs): number {
  const { idleWorkers, queuedJobs, keptPart, encodeMs, answersMs, isWide } = inputs;
  const remainingMs = encodeMs * (1 - keptPart);
  if (plan === undefined && isWide) return (remainingMs + sum(answersMs)) / LEAST_WIDE_GAIN;
  if (plan === undefined || queuedJobs > 0 || idleWorkers < 2) return remainingMs + sum(answersMs);
  const encoders = Math.min(idleWorkers, plan.shares);
  const answerers = plan.isAnsweredByOne ? 1 : Math.min(idleWorkers, countAnswerParts(plan));
  return remainingMs / encoders + sum(answersMs) / answerers;
}
