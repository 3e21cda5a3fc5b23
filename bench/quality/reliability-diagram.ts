// Whether the model is as sure as it is right: accuracy over confidence, and how many answers there are of each. Pure.

import type { ReliabilityBin } from '../../src/quality/figures.ts';
import { drawPage, type Series } from '../pages/charts.ts';

export interface Reliability {
  readonly manifest: readonly ReliabilityBin[];
  readonly crossFitted: readonly ReliabilityBin[];
}

export function drawReliability(modelId: string, { manifest, crossFitted }: Reliability): string {
  const seriesOf = (yOf: (bin: ReliabilityBin) => number): Series[] =>
    Object.entries({
      "the manifest's temperatures": manifest,
      'temperatures fitted without the task': crossFitted,
    }).map(([name, bins]) => {
      const filled = bins.filter(({ count }) => count > 0);
      return { name, points: filled.map((bin) => ({ x: bin.confidence, y: yOf(bin) })) };
    });
  const asRightAsSure = { name: 'as right as sure', points: [0, 1].map((share) => ({ x: share, y: share })) };
  const axes = { xLabel: 'confidence (probability of the top option)', xScale: 'linear', yScale: 'linear' } as const;
  return drawPage(`Reliability of ${modelId}, all held-out questions`, [
    {
      ...axes,
      title: 'Accuracy over confidence',
      yLabel: 'accuracy',
      series: [...seriesOf(({ accuracy }) => accuracy), asRightAsSure],
    },
    { ...axes, title: 'Answers by confidence', yLabel: 'answers', series: seriesOf(({ count }) => count) },
  ]);
}
