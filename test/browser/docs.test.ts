// The reference at /docs: what somebody sees and tries there, with eyes, a keyboard, a phone or a screen reader.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from './in-browser.ts';
import { type Site, startSite } from './site.ts';
import { type Visit, WAIT } from './visit.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite({ settings: { UMPIRE_MODELS: 'text-embed-mini' } });
});
afterAll(() => site.close());

const LIST_MODELS = /GET \/ai\/v1\/models List the models/i;
const EMBED = /POST \/ai\/v1\/embeddings/i;

async function open({ page }: Visit, operation: RegExp): Promise<void> {
  await page.getByRole('button', { name: operation }).first().click();
}

/** The status and the body that the page shows. */
async function execute({ page }: Visit): Promise<string> {
  await page.getByRole('button', { name: 'Try it out' }).click();
  await page.getByRole('button', { name: 'Execute' }).click();
  return (await page.locator('.live-responses-table').textContent()) ?? '';
}

async function authorize({ page }: Visit, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Authorize' }).first().click();
  const scheme = page.locator('.auth-container', { hasText: 'inferenceKey' });
  await scheme.getByRole('textbox').fill(key);
  await scheme.getByRole('button', { name: 'Authorize' }).click();
  await scheme.getByRole('button', { name: 'Close' }).click();
}

describeInBrowser('the reference', ({ visit }) => {
  const visitDocs = async (options?: Parameters<typeof visit>[1], fragment = '') => {
    const docs = await visit(`${site.address}/docs${fragment}`, options);
    await docs.page.locator('.opblock').first().waitFor();
    return docs;
  };

  it('has every operation that the document has', async () => {
    const document = (await (await fetch(`${site.address}/openapi.json`)).json()) as { paths: object };
    const operations = Object.values(document.paths).flatMap((path) => Object.keys(path));
    const docs = await visitDocs();
    expect(await docs.page.locator('.opblock').count()).toBe(operations.length);
  });

  it('tries an operation with the key that its user enters', async () => {
    const docs = await visitDocs();
    await authorize(docs, site.key);
    await open(docs, EMBED);
    await docs.page.getByRole('button', { name: 'Try it out' }).click();
    const body = JSON.stringify({ model: 'text-embed-mini', input: 'Tried in the reference' });
    await docs.page.getByRole('textbox', { name: 'Request body' }).fill(body);
    await docs.page.getByRole('button', { name: 'Execute' }).click();
    const shown = docs.page.locator('.live-responses-table');
    await expect.poll(() => shown.textContent(), WAIT).toContain('"object": "list"');
    expect(await shown.textContent()).toContain('x-umpire-cost-usd');
  });

  it('uses the key that the playground was given in this tab', async () => {
    const docs = await visitDocs();
    await docs.page.evaluate(`sessionStorage.setItem('umpire.playground.key', ${JSON.stringify(site.key)})`);
    await docs.page.reload();
    await open(docs, LIST_MODELS);
    expect(await execute(docs)).toContain('"id": "text-embed-mini"');
  });

  it('shows why a request without a key is refused', async () => {
    const docs = await visitDocs();
    await open(docs, LIST_MODELS);
    expect(await execute(docs)).toMatch(/^CodeDetails401.*"code": "invalid_api_key"/s);
    await docs.expectFault(/^console: .*status of 401/);
  });

  it('keeps in the address what is open, for a reload or somebody else', async () => {
    const docs = await visitDocs();
    await open(docs, LIST_MODELS);
    await expect.poll(() => new URL(docs.page.url()).hash, WAIT).toBe('#/Models/listModels');
    const other = await visitDocs({}, '#/Models/listModels');
    await other.page.getByRole('button', { name: 'Try it out' }).waitFor();
  });

  it.each([
    ['#/<img src=x onerror=console.error(1)>', undefined],
    ['#/Models/nothing', undefined],
    ['#/__proto__/constructor', /^console: Deprecated: escaping deep link/],
    ['#%', /^console: URIError/],
  ])('is not led astray by the fragment %s', async (fragment, grumble) => {
    const docs = await visitDocs({}, fragment);
    expect(await docs.page.getByRole('button', { name: 'Try it out' }).count()).toBe(0);
    // What the library catches it also logs.
    if (grumble !== undefined) await docs.expectFault(grumble);
  });

  it('opens an operation from the keyboard', async () => {
    const docs = await visitDocs();
    const operation = docs.page.getByRole('button', { name: LIST_MODELS }).first();
    await operation.focus();
    await docs.page.keyboard.press('Enter');
    await docs.page.getByRole('button', { name: 'Try it out' }).waitFor();
  });

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 360],
    ['dark', 360],
  ] as const)('has no serious fault for anybody, %s, %i px wide', async (scheme, widthPx) => {
    const docs = await visitDocs({ scheme, widthPx });
    await docs.page.getByRole('button', { name: 'Authorize' }).first().click();
    await docs.page.getByRole('button', { name: 'Close' }).first().waitFor();
    expect(await docs.accessibilityFaults()).toEqual([]);
    await docs.page.getByRole('button', { name: 'Close' }).first().click();
    await open(docs, EMBED);
    await docs.page.getByRole('button', { name: 'Try it out' }).click();
    await docs.page.getByRole('button', { name: 'Execute' }).click();
    await docs.page.locator('.live-responses-table').waitFor();
    await docs.expectFault(/^console: .*status of 401/);
    expect(await docs.accessibilityFaults()).toEqual([]);
    expect(await docs.page.evaluate<number>('document.documentElement.scrollWidth')).toBe(widthPx);
  });

  it('follows when its user turns the lights off', async () => {
    const docs = await visitDocs();
    const color = (): Promise<string> =>
      docs.page.evaluate<string>('getComputedStyle(document.querySelector(".opblock-summary-path")).color');
    const before = await color();
    await docs.page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(color, WAIT).not.toBe(before);
    expect(await docs.accessibilityFaults()).toEqual([]);
  });
});
