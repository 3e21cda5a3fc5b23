// Which tab is open.

import { signal } from '@preact/signals-core';

export const TAB_IDS = ['decisions', 'embeddings', 'chat'] as const;
export type TabId = (typeof TAB_IDS)[number];

export const chosenTab = signal<TabId>('decisions');

/** @param id from anywhere: the first tab stands for one that is none */
export function chooseTab(id: unknown): void {
  chosenTab.value = TAB_IDS.find((known) => known === id) ?? 'decisions';
}
