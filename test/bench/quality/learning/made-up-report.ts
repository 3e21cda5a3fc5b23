// A report of one task and a half, with figures that are easy to follow.

import type { DrawFigures, LearnedSize, LearningReport } from '../../../../bench/quality/learning/measure-learning.ts';

/** `[zero-shot, learned, with the embedder's vector, regression]` */
export type Accuracies = readonly [number, number, number, number];

function figuresOf(accuracy: number, ece: number): DrawFigures {
  const exact = (mean: number) => ({ mean, spread: 0.01 });
  return {
    accuracy: exact(accuracy),
    macroF1: exact(accuracy),
    nll: exact(1 - accuracy),
    ece: exact(2 * ece),
    pooledEce: ece,
    answeredAt5: exact(accuracy / 2),
    headShare: 1,
    ofDraws: [1, 2].map((seed) => ({ seed, accuracy: accuracy + (seed === 1 ? 0.01 : -0.01) })),
  };
}

export function makeUpSize(rowsPerOption: number, accuracies: Accuracies, ece = 0.04): LearnedSize {
  const [zeroShot, learned, learnedWithEmbedder, plain] = accuracies.map((accuracy) => figuresOf(accuracy, ece));
  if (!zeroShot || !learned || !learnedWithEmbedder || !plain) throw new Error('There are four accuracies.');
  return {
    rowsPerOption,
    trainingRows: 3 * rowsPerOption,
    testRows: 100,
    draws: 2,
    figures: { zeroShot, learned, learnedWithEmbedder, plain },
  };
}

export function makeUpReport(changes: Partial<LearningReport> = {}): LearningReport {
  const held = (chosen: number) => ({ chosen, recall: 2 * chosen, othersAccuracy: 0.5 });
  return {
    format: 1,
    startedAt: '2026-11-22T21:00:00.000Z',
    versions: {} as LearningReport['versions'],
    cpu: 'a processor',
    base: { id: 'kev', digest: 'sha256:1' },
    embedder: { id: 'mini', digest: 'sha256:2' },
    limits: { seeds: 2, trainingRows: 200, testRows: 100 },
    leftOut: [],
    tasks: [
      {
        task: 'parcels',
        type: 'choice',
        options: 3,
        sizes: [makeUpSize(16, [0.6, 0.7, 0.72, 0.65]), makeUpSize(64, [0.6, 0.75, 0.7, 0.7])],
        heldBack: [{ share: 0.3, zeroShot: held(0.2), heldBack: held(0.25), learned: held(0.3) }],
      },
      {
        task: 'bills',
        type: 'noul',
        options: 2,
        sizes: [makeUpSize(16, [0.7, 0.72, 0.7, 0.71])],
        heldBack: [],
      },
    ],
    peers: [],
    ...changes,
  };
}
