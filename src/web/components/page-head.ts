// The head of every page: where you are, where else there is, and the key.

import { type ComponentChildren, h, type JSX } from 'preact';

const PAGES = [
  ['/', 'Playground'],
  ['/admin', 'Operator'],
  ['/docs', 'Reference'],
] as const;

export interface PageHeadProps {
  readonly current: (typeof PAGES)[number][0];
  /** At the right: what belongs to the key. */
  readonly children?: ComponentChildren;
}

export function PageHead({ current, children }: PageHeadProps): JSX.Element {
  const links = PAGES.map(([href, name]) =>
    h('a', { href, ...(href === current ? { 'aria-current': 'page' as const } : {}) }, name),
  );
  return h('header', { class: 'page-head' }, [
    h('a', { class: 'brand', href: '/' }, 'umpire'),
    h('nav', { 'aria-label': 'Pages' }, links),
    h('div', { class: 'page-head-end' }, children),
  ]);
}
