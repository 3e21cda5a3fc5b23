// Keys that do not serve, in the playground: each is told where it was used, with a way to another one.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeInBrowser } from './in-browser.ts';
import { enterKey, writeDocument } from './open-playground.ts';
import { type Site, startSite } from './site.ts';
import { type Visit, WAIT } from './visit.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite({ settings: { UMPIRE_MODELS: 'kev' } });
});
afterAll(() => site.close());

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

async function administer(path: string, method: string, body: object): Promise<MadeKey> {
  const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' };
  const reply = await fetch(`${site.address}/admin/v1/keys${path}`, { method, headers, body: JSON.stringify(body) });
  expect(reply.ok).toBe(true);
  return (await reply.json()) as MadeKey;
}

const alertsOf = async ({ page }: Visit): Promise<string> => (await page.getByRole('alert').allInnerTexts()).join(' ');

describeInBrowser('in the playground, a key', (visitor) => {
  const openWith = async (key: string): Promise<Visit> => {
    const playground = await visitor.visit(site.address);
    await enterKey(playground, key);
    return playground;
  };

  it('without the scope for inference is refused where it is entered', async () => {
    const { key } = await administer('', 'POST', { name: 'operator alone', scopes: ['admin'] });
    const playground = await openWith(key);
    await expect.poll(() => alertsOf(playground), WAIT).toContain('insufficient_scope');
    await playground.expectFault(/status of 403/);
  });

  it('whose budget is spent is told so beside the answers', async () => {
    const { key } = await administer('', 'POST', { name: 'poor', budget: { amount_usd: '0.000001', reset: 'none' } });
    const playground = await openWith(key);
    await expect.poll(() => alertsOf(playground), WAIT).toContain('insufficient_quota');
    await playground.page.getByRole('button', { name: 'Enter another key' }).click();
    await playground.page.getByRole('dialog').getByLabel('API key').waitFor();
    await playground.expectFault(/status of 402/);
  });

  it('that is disabled while it is used is told so, and another one goes on from there', async () => {
    const { id, key } = await administer('', 'POST', { name: 'soon gone' });
    const playground = await openWith(key);
    await playground.page.getByRole('article').first().waitFor();
    await administer(`/${id}`, 'PATCH', { disabled: true });
    await writeDocument(playground, 'Written after the key was gone.');
    await expect.poll(() => alertsOf(playground), WAIT).toContain('invalid_api_key');
    await playground.expectFault(/status of 401/);
    await playground.page.getByRole('button', { name: 'Enter another key' }).click();
    const dialog = playground.page.getByRole('dialog');
    await dialog.getByLabel('API key').fill(site.key);
    await dialog.getByRole('button', { name: 'Use this key' }).click();
    await expect.poll(() => alertsOf(playground), WAIT).toBe('');
    expect(await playground.page.getByRole('textbox', { name: 'Document' }).inputValue()).toContain('after the key');
  });

  it('that may use no decision model is told so', async () => {
    const { key } = await administer('', 'POST', { name: 'nothing fits', models: ['text-*'] });
    const playground = await openWith(key);
    await playground.page.getByText('This key may not use a decision model').waitFor();
  });
});
