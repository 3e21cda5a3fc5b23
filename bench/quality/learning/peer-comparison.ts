// A peer's figures beside ours on the same draws.

import { mean } from '../../../src/quality/figures.ts';
import { ANSWERERS, type Answerer } from './answer-test-rows.ts';
import { ROWS_PER_OPTION } from './draw-rows.ts';
import type { LearningReport } from './measure-learning.ts';
import type { LearningPeer } from './peers-file.ts';

export interface PeerRow {
  readonly name: string;
  readonly version: string;
  readonly rowsPerOption: number;
  readonly tasks: readonly string[];
  readonly accuracy: number;
  readonly ece: number;
  /** Accuracy on the same draws. */
  readonly ours: Readonly<Record<Answerer, number>>;
}

/** @returns an entry for each number of rows that both have measured; tasks weigh the same */
export function comparePeer(report: LearningReport, { name, version, draws }: LearningPeer): PeerRow[] {
  return ROWS_PER_OPTION.flatMap((rowsPerOption) => {
    const tasks = report.tasks.flatMap(({ task, sizes }) => {
      const size = sizes.find((found) => found.rowsPerOption === rowsPerOption);
      const seeds = new Set(size?.figures.plain.ofDraws.map(({ seed }) => seed));
      const own = draws.filter(
        (draw) => draw.task === task && draw.rowsPerOption === rowsPerOption && seeds.has(draw.seed),
      );
      return size === undefined || own.length === 0 ? [] : [{ task, size, own }];
    });
    if (tasks.length === 0) return [];
    const ours = (answerer: Answerer) =>
      mean(
        tasks.map(({ size, own }) => {
          const { ofDraws } = size.figures[answerer];
          return mean(own.map(({ seed }) => ofDraws.find((draw) => draw.seed === seed)?.accuracy ?? Number.NaN));
        }),
      );
    const of = (figureOf: (draw: LearningPeer['draws'][number]) => number) =>
      mean(tasks.map(({ own }) => mean(own.map(figureOf))));
    const [zeroShot, learned, learnedWithEmbedder, plain] = ANSWERERS.map(ours);
    return [
      {
        name,
        version,
        rowsPerOption,
        tasks: tasks.map(({ task }) => task),
        accuracy: of(({ accuracy }) => accuracy),
        ece: of(({ ece }) => ece),
        ours: {
          zeroShot: zeroShot ?? Number.NaN,
          learned: learned ?? Number.NaN,
          learnedWithEmbedder: learnedWithEmbedder ?? Number.NaN,
          plain: plain ?? Number.NaN,
        },
      },
    ];
  });
}
