// Tabs as screen readers and keyboards know them: arrows, Home and End move, and only the chosen one is in the tab order.

import { type ComponentChildren, h, type JSX } from 'preact';

export interface Tab {
  readonly id: string;
  readonly label: string;
  readonly render: () => ComponentChildren;
}

export interface TabsProps {
  /** What the tabs are of, for screen readers. */
  readonly label: string;
  readonly tabs: readonly Tab[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
  /** Default: a row below the page's head. `small`: inside a panel. */
  readonly size?: 'small';
}

export function Tabs({ label, tabs, chosen, onChoose, size }: TabsProps): JSX.Element {
  const current = tabs.find(({ id }) => id === chosen) ?? tabs[0];
  const move = (event: KeyboardEvent): void => {
    const target = tabAfter(event.key, tabs, current);
    if (target === undefined) return;
    event.preventDefault();
    onChoose(target.id);
    document.getElementById(`tab-${target.id}`)?.focus();
  };
  const buttons = tabs.map(({ id, label: name }) => {
    const isChosen = id === current?.id;
    const marks = { 'aria-selected': isChosen, 'aria-controls': `panel-${id}`, tabIndex: isChosen ? 0 : -1 };
    return h('button', { type: 'button', role: 'tab', id: `tab-${id}`, onClick: () => onChoose(id), ...marks }, name);
  });
  return h(
    'div',
    { class: size === 'small' ? 'tabs tabs-small' : 'tabs' },
    h('div', { role: 'tablist', 'aria-label': label, class: 'tab-list', onKeyDown: move }, buttons),
    current &&
      h(
        'div',
        { role: 'tabpanel', id: `panel-${current.id}`, key: current.id, 'aria-labelledby': `tab-${current.id}` },
        current.render(),
      ),
  );
}

function tabAfter(key: string, tabs: readonly Tab[], current: Tab | undefined): Tab | undefined {
  const at = current === undefined ? 0 : tabs.indexOf(current);
  if (key === 'Home') return tabs[0];
  if (key === 'End') return tabs.at(-1);
  if (key === 'ArrowRight') return tabs[(at + 1) % tabs.length];
  return key === 'ArrowLeft' ? tabs.at(at - 1) : undefined;
}
