// How much of a whole is used, as a bar and in figures.

import { h, type JSX } from 'preact';

export interface ShareBarProps {
  readonly label: string;
  readonly used: number;
  readonly whole: number;
  readonly format: (value: number) => string;
}

export function ShareBar({ label, used, whole, format }: ShareBarProps): JSX.Element {
  const share = whole === 0 ? 1 : Math.min(1, used / whole);
  const told = `${format(used)} of ${format(whole)}`;
  return h('div', { class: 'share' }, [
    h('span', null, label),
    h('span', { class: 'soft' }, `${told} used`),
    h('span', { class: `share-bar${share > 0.9 ? ' share-bar-full' : ''}`, 'aria-hidden': true }, [
      h('i', { style: { width: `${100 * share}%` } }),
    ]),
  ]);
}
