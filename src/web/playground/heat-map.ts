// A table of similarities, coloured: figures for those who read them, colours for those who glance.

import { h, type JSX } from 'preact';

export interface HeatMapProps {
  readonly texts: readonly string[];
  /** Row by row, from -1 to 1. */
  readonly similarities: readonly (readonly number[])[];
}

export function HeatMap({ texts, similarities }: HeatMapProps): JSX.Element {
  const columns = texts.map((_text, index) => h('th', { scope: 'col', key: index }, `${index + 1}`));
  const rows = texts.map((text, row) =>
    h('tr', { key: row }, [
      h('th', { scope: 'row', title: text }, h('span', { class: 'heat-text' }, `${row + 1} ${text}`)),
      (similarities[row] ?? []).map((similarity, column) => h(Cell, { similarity, key: column })),
    ]),
  );
  return h('div', { class: 'heat-map', tabIndex: 0, role: 'region', 'aria-labelledby': 'map-title' }, [
    h('table', null, [h('thead', null, h('tr', null, [h('td', null), columns])), h('tbody', null, rows)]),
  ]);
}

/** From here on two texts say the same. */
const SAME = 0.95;

function Cell({ similarity }: { readonly similarity: number }): JSX.Element {
  const warmth = Math.max(0, Math.min(1, similarity));
  const tone = similarity >= SAME ? 'heat heat-same' : 'heat';
  return h('td', { class: tone, style: { '--warmth': `${(warmth * 100).toFixed(0)}%` } }, similarity.toFixed(2));
}
