// One figure that matters, with its name and what it stands beside.

import { h, type JSX } from 'preact';

export interface StatTileProps {
  readonly label: string;
  readonly value: string;
  readonly note?: string;
}

export function StatTile({ label, value, note = '' }: StatTileProps): JSX.Element {
  return h('dl', { class: 'tile panel' }, [
    h('dt', null, label),
    h('dd', null, value),
    h('dd', { class: 'soft' }, note),
  ]);
}
