// Keeps the address in step with the forms, so that it can be copied at any time, and the forms with the address.

import { effect, signal } from '@preact/signals-core';
import { systemPrompt } from './chat-form.ts';
import { chosenTab } from './chosen-tab.ts';
import { documentText, drafts, threshold } from './decision-form.ts';
import { embeddingLines } from './embedding-view.ts';
import { packPage, unpackPage } from './page-state.ts';
import { MAX_LINK_CHARACTERS } from './share-link.ts';

const QUIET_MS = 500;

/** Whether the page was opened by a link that says nothing: cut on its way, or by another version. */
export const isLinkBroken = signal(false);

/** @returns once the forms hold what the address says */
export async function followAddress(): Promise<void> {
  await readAddress();
  addEventListener('hashchange', () => void readAddress());
  let isFirst = true;
  effect(() => {
    const all = [chosenTab, documentText, drafts, threshold, embeddingLines, systemPrompt];
    for (const { value } of all) void value;
    // An address that nobody has changed stays as short as it came.
    if (isFirst) {
      isFirst = false;
      return;
    }
    const timer = setTimeout(() => void writeAddress(), QUIET_MS);
    return () => clearTimeout(timer);
  });
}

async function readAddress(): Promise<void> {
  const fragment = location.hash.slice(1);
  const isRead = await unpackPage(fragment);
  isLinkBroken.value = fragment !== '' && !isRead;
}

/** @returns the address of the page as it stands; undefined: it would be too long */
export async function writeAddress(): Promise<string | undefined> {
  const fragment = await packPage();
  const isTooLong = fragment.length > MAX_LINK_CHARACTERS;
  history.replaceState(null, '', isTooLong ? location.pathname : `#${fragment}`);
  return isTooLong ? undefined : location.href;
}
