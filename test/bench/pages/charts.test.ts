// Charts are well-formed, stay on their page, and show what they were given.

import { describe, expect, it } from 'vitest';
import { type Chart, drawPage, listLinearTicks } from '../../../bench/pages/charts.ts';

const CHART: Chart = {
  title: 'short: p99 <ms> & "more"',
  xLabel: 'at a time',
  yLabel: 'p99, ms',
  xScale: 'log',
  yScale: 'linear',
  series: [
    { name: 'ours', points: [1, 2, 4, 64].map((x) => ({ x, y: 10 * x })) },
    {
      name: 'theirs',
      points: [
        { x: 1, y: 30 },
        { x: 2, y: Number.NaN },
        { x: 64, y: 900 },
      ],
    },
  ],
};

/** Every tag that is opened is closed, in order. */
function expectWellFormed(svg: string): void {
  const open: string[] = [];
  for (const [, slash, name = '', selfClosing] of svg.matchAll(/<(\/?)(\w+)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (slash === '/') expect(open.pop()).toBe(name);
    else if (selfClosing !== '/') open.push(name);
  }
  expect(open).toEqual([]);
}

describe('a page of charts', () => {
  const svg = drawPage('A & B', [CHART, { ...CHART, yScale: 'log' }, CHART]);

  it('is well-formed, its words escaped', () => {
    expectWellFormed(svg);
    expect(svg).toContain('short: p99 &lt;ms&gt; &amp; &quot;more&quot;');
    expect(svg).not.toMatch(/NaN|Infinity|undefined/);
  });

  it('draws a line for each series and a mark for each figure there is', () => {
    expect(svg.match(/<polyline/g)).toHaveLength(6);
    expect(svg.match(/<circle/g)).toHaveLength(3 * (4 + 2));
  });

  it('keeps every mark inside its plot', () => {
    for (const [, cx, cy] of svg.matchAll(/<circle cx="([\d.-]+)" cy="([\d.-]+)"/g)) {
      expect(Number(cx)).toBeGreaterThanOrEqual(62);
      expect(Number(cx)).toBeLessThanOrEqual(442);
      expect(Number(cy)).toBeGreaterThanOrEqual(34);
      expect(Number(cy)).toBeLessThanOrEqual(244);
    }
  });

  it('gives a series the same style in the legend and in every chart', () => {
    const strokes = [...svg.matchAll(/stroke="(#1f5fa8)" stroke-width/g)];
    expect(strokes).toHaveLength(4);
  });

  it('has a place for a chart without figures', () => {
    const empty = drawPage('none', [{ ...CHART, series: [{ name: 'ours', points: [] }] }]);
    expectWellFormed(empty);
    expect(empty).not.toMatch(/NaN|Infinity|undefined/);
  });
});

describe('ticks', () => {
  it.each([0.013, 0.8, 1, 7, 39, 100, 12_345])('of an axis to %d are round, few, and reach it', (most) => {
    const ticks = listLinearTicks(most);
    expect(ticks[0]).toBe(0);
    expect(ticks.at(-1)).toBeGreaterThanOrEqual(most * (1 - 1e-9));
    expect(ticks.length).toBeGreaterThanOrEqual(4);
    expect(ticks.length).toBeLessThanOrEqual(8);
  });
});
