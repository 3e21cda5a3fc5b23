// The playground as its tests open it: with a key that was entered as people enter it.

import type { Visitor } from './in-browser.ts';
import type { Site } from './site.ts';
import type { Visit, VisitOptions } from './visit.ts';

export async function enterKey({ page }: Visit, key: string, { isKept = false } = {}): Promise<void> {
  await page.getByLabel('API key').fill(key);
  if (isKept) await page.getByLabel(/Keep it in this browser/).check();
  await page.getByRole('button', { name: 'Use this key' }).click();
}

/** @returns once the ready example is answered */
export async function openPlayground(
  visitor: Visitor,
  site: Site,
  { fragment = '', ...options }: VisitOptions & { readonly fragment?: string } = {},
): Promise<Visit> {
  const playground = await visitor.visit(`${site.address}/${fragment}`, options);
  await enterKey(playground, site.key);
  await playground.page.getByRole('article').first().waitFor();
  return playground;
}

/** @param of what is typed: as one paste */
export async function writeDocument({ page }: Visit, text: string): Promise<void> {
  await page.getByRole('textbox', { name: 'Document' }).fill(text);
}

/** As JSON, the way that says everything at once. @param questions a text where the order of names counts */
export async function writeQuestions({ page }: Visit, questions: object | string): Promise<void> {
  await page.getByRole('tab', { name: 'JSON' }).click();
  await page
    .getByLabel('Questions as JSON')
    .fill(typeof questions === 'string' ? questions : JSON.stringify(questions));
}
