// What was promised of learning, and whether the figures keep it. Regression is the better of ours and scikit-learn's.

import { mean } from '../../../src/quality/figures.ts';
import { ROWS_PER_OPTION } from './draw-rows.ts';
import type { LearnedSize, LearningReport } from './measure-learning.ts';
import { comparePeer } from './peer-comparison.ts';

export interface JudgedTarget {
  readonly target: string;
  readonly learned: TargetResult;
  readonly learnedWithEmbedder: TargetResult;
}

interface TargetResult {
  readonly text: string;
  readonly isMet: boolean;
}

type LearnedBy = 'learned' | 'learnedWithEmbedder';

const MOST_LOSS = 0.01;
const GAINS = [
  { rowsPerOption: 16, over: 'zeroShot', least: 0.09, name: 'zero-shot' },
  { rowsPerOption: 64, over: 'zeroShot', least: 0.12, name: 'zero-shot' },
  { rowsPerOption: 16, over: 'plain', least: 0.04, name: 'regression on the embedder' },
] as const;
const MOST_ECE = 0.05;
const FEWEST_ROWS_OF_ECE = 32;
const NARROWEST_ROWS = 16;

export function judgeLearningTargets(report: LearningReport): JudgedTarget[] {
  const judge = (target: string, resultOf: (by: LearnedBy) => TargetResult): JudgedTarget => ({
    target,
    learned: resultOf('learned'),
    learnedWithEmbedder: resultOf('learnedWithEmbedder'),
  });
  return [
    judge(`at ${NARROWEST_ROWS}, on no task more than 1 point below the better of zero-shot and regression`, (by) =>
      worstTask(report, by),
    ),
    ...GAINS.map((gain) =>
      judge(`mean at ${gain.rowsPerOption}: ≥ ${100 * gain.least} points above ${gain.name}`, (by) =>
        meanGain(report, by, gain),
      ),
    ),
    ...ROWS_PER_OPTION.filter((size) => size >= FEWEST_ROWS_OF_ECE).map((size) =>
      judge(`mean ECE at ${size} ≤ ${MOST_ECE}`, (by) => meanEce(report, by, size)),
    ),
  ];
}

function sizesAt(
  { tasks }: LearningReport,
  rowsPerOption: number,
): { readonly task: string; readonly figures: LearnedSize['figures'] }[] {
  return tasks.flatMap(({ task, sizes }) =>
    sizes.filter((size) => size.rowsPerOption === rowsPerOption).map(({ figures }) => ({ task, figures })),
  );
}

function worstTask(report: LearningReport, by: LearnedBy): TargetResult {
  const distances = sizesAt(report, NARROWEST_ROWS).map(({ task, figures }) => {
    const regression = Math.max(figures.plain.accuracy.mean, ...regressionsOfPeers(report, task));
    return { task, distance: figures[by].accuracy.mean - Math.max(figures.zeroShot.accuracy.mean, regression) };
  });
  const worst = distances.toSorted((a, b) => a.distance - b.distance)[0];
  if (worst === undefined) return NOTHING;
  return { text: `${points(worst.distance)} (${worst.task})`, isMet: worst.distance >= -MOST_LOSS };
}

/** Of one task, those measured on every draw. */
function regressionsOfPeers({ peers, tasks }: LearningReport, task: string): number[] {
  const draws = tasks
    .find((found) => found.task === task)
    ?.sizes.find(({ rowsPerOption }) => rowsPerOption === NARROWEST_ROWS)?.draws;
  return peers
    .filter(({ name }) => name.startsWith('scikit-learn'))
    .map((peer) => peer.draws.filter((draw) => draw.task === task && draw.rowsPerOption === NARROWEST_ROWS))
    .filter((own) => own.length > 0 && own.length === draws)
    .map((own) => mean(own.map(({ accuracy }) => accuracy)));
}

function meanGain(
  report: LearningReport,
  by: LearnedBy,
  { rowsPerOption, over, least }: (typeof GAINS)[number],
): TargetResult {
  const sizes = sizesAt(report, rowsPerOption);
  if (sizes.length === 0) return NOTHING;
  const accuracy = (of: LearnedBy | typeof over) => mean(sizes.map(({ figures }) => figures[of].accuracy.mean));
  const peers = over === 'plain' ? wholePeers(report, rowsPerOption, sizes.length) : [];
  const gain = accuracy(by) - Math.max(accuracy(over), ...peers);
  return { text: points(gain), isMet: gain >= least };
}

function wholePeers(report: LearningReport, rowsPerOption: number, tasks: number): number[] {
  return report.peers
    .filter(({ name }) => name.startsWith('scikit-learn'))
    .flatMap((peer) => comparePeer(report, peer))
    .filter((row) => row.rowsPerOption === rowsPerOption && row.tasks.length === tasks)
    .map(({ accuracy }) => accuracy);
}

function meanEce(report: LearningReport, by: LearnedBy, rowsPerOption: number): TargetResult {
  const sizes = sizesAt(report, rowsPerOption);
  if (sizes.length === 0) return NOTHING;
  const ece = mean(sizes.map(({ figures }) => figures[by].pooledEce));
  const byDraw = mean(sizes.map(({ figures }) => figures[by].ece.mean));
  return { text: `${ece.toFixed(3)} pooled, ${byDraw.toFixed(3)} by draw`, isMet: ece <= MOST_ECE };
}

const NOTHING: TargetResult = { text: 'not measured', isMet: false };

function points(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;
}
