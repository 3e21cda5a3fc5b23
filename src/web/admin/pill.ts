// A mark of a state.

import { type ComponentChildren, h, type JSX } from 'preact';

export interface PillProps {
  readonly looks: 'good' | 'bad' | 'plain';
  readonly children?: ComponentChildren;
}

export function Pill({ looks, children }: PillProps): JSX.Element {
  return h('span', { class: looks === 'plain' ? 'pill' : `pill pill-${looks}` }, children);
}
