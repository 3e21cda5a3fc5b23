// The operator's page, opened as an operator does it: with a key.

import type { Page } from 'playwright-core';
import { testLogs } from '../log-scan/test-logs.ts';
import type { Visitor } from './in-browser.ts';
import type { Site } from './site.ts';
import type { Visit, VisitOptions } from './visit.ts';

export async function enterKey(page: Page, key: string): Promise<void> {
  testLogs.keepSecret(key);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Use this key' }).click();
}

/** The page, opened with the site's own key, at one of its sections. */
export async function openAdmin(
  visit: Visitor['visit'],
  site: Site,
  section: string,
  options?: VisitOptions,
): Promise<Visit> {
  const seen = await visit(`${site.address}/admin#${section}`, options);
  await enterKey(seen.page, site.key);
  await seen.page.getByRole('tab', { name: 'Overview' }).waitFor();
  return seen;
}
