// What a link to this page says: every field of its forms, without the key. Read from a link only where it is of the right
// form, because anybody can write one.

import { systemPrompt } from './chat-form.ts';
import { chooseTab, chosenTab } from './chosen-tab.ts';
import { documentText, drafts, fillIn, threshold } from './decision-form.ts';
import { embeddingLines } from './embedding-view.ts';
import { writeDrafts } from './question-draft.ts';
import { packState, unpackState } from './share-link.ts';

/** @returns the fragment of an address, without its `#` */
export async function packPage(): Promise<string> {
  return await packState({
    tab: chosenTab.value,
    document: documentText.value,
    questions: writeDrafts(drafts.value),
    threshold: threshold.value,
    texts: embeddingLines.value,
    system: systemPrompt.value,
  });
}

/** @returns whether the fragment held a page */
export async function unpackPage(fragment: string): Promise<boolean> {
  const state = Object(await unpackState(fragment));
  const { document, questions, threshold: from, tab, texts, system } = state;
  if (typeof document !== 'string' || typeof questions !== 'string') return false;
  try {
    fillIn({ document, questions });
  } catch {
    return false;
  }
  if (typeof from === 'number' && from >= 0 && from <= 1) threshold.value = from;
  if (typeof texts === 'string') embeddingLines.value = texts;
  if (typeof system === 'string') systemPrompt.value = system;
  chooseTab(tab);
  return true;
}
