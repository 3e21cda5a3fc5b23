// The operator's page in a real browser, over a server as its users run it: what an operator does there is what clients
// then see, and what goes wrong is said where it happened.

import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { completion, replyJson } from '../upstream/upstream-answers.ts';
import { describeInBrowser } from './in-browser.ts';
import { enterKey, openAdmin } from './open-admin.ts';
import { CHAT_MODEL, type Site, startSite } from './site.ts';
import { WAIT } from './visit.ts';

const SCRIPT = '<img src=x onerror="document.title=1">';

let site: Site;
beforeAll(async () => {
  site = await startSite({ settings: { UMPIRE_MODELS: 'text-embed-mini' }, chat: replyJson(completion()) });
});
afterAll(() => site.close());

async function send(
  key: string,
  path: string,
  body?: object,
): Promise<{ status: number; json: Record<string, unknown> }> {
  testLogs.keepSecret(key);
  const reply = await fetch(`${site.address}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: reply.status, json: (await reply.json()) as Record<string, unknown> };
}

const chat = (key: string) =>
  send(key, '/ai/v1/chat/completions', {
    model: CHAT_MODEL,
    messages: [{ role: 'user', content: 'A word, operator' }],
  });
const chatStatus = async (key: string) => (await chat(key)).status;

async function makeKey(body: object): Promise<{ id: string; key: string }> {
  const { json } = await send(site.key, '/admin/v1/keys', body);
  return { id: String(json['id']), key: String(json['key']) };
}

async function readSecret(page: Page): Promise<string> {
  const secret = (await page.getByTestId('secret').textContent()) ?? '';
  testLogs.keepSecret(secret);
  return secret;
}

describeInBrowser('the key of an operator', ({ visit }) => {
  it.each([
    ['that is unknown', async () => 'ump_not-a-key', /not valid/, 401],
    ['without the scope admin', async () => (await makeKey({ name: 'client' })).key, /lacks the scope/, 403],
    [
      'that has expired',
      async () => {
        const { key } = await makeKey({
          name: 'old',
          scopes: ['admin'],
          expires_at: new Date(Date.now() + 300).toISOString(),
        });
        await expect.poll(async () => (await send(key, '/admin/v1/keys')).status, WAIT).toBe(401);
        return key;
      },
      /not valid/,
      401,
    ],
  ])('%s is refused with the reason, and another one can be entered', async (_what, keyOf, reason, status) => {
    const seen = await visit(`${site.address}/admin`);
    await enterKey(seen.page, await keyOf());
    await expect.poll(() => seen.page.getByRole('alert').textContent(), WAIT).toMatch(reason);
    await seen.expectFault(new RegExp(`status of ${status}`));
    await enterKey(seen.page, site.key);
    await seen.page.getByRole('tab', { name: 'Overview' }).waitFor();
  });

  it('that is revoked meanwhile closes the page, with the reason', async () => {
    const { id, key } = await makeKey({ name: 'second operator', scopes: ['admin'] });
    const seen = await visit(`${site.address}/admin#requests`);
    await enterKey(seen.page, key);
    await seen.page.getByRole('heading', { name: 'Live requests' }).waitFor();
    await send(site.key, `/admin/v1/keys/${id}/revoke`, {});
    await seen.page.getByText('not taken any more').waitFor();
    await seen.expectFault(/status of 401/);
    expect(await seen.page.getByRole('tab').count()).toBe(0);
  });
});

describeInBrowser('keys', ({ visit }) => {
  it('are created with limits, changed, rotated, disabled and revoked, and clients see it', async () => {
    const { page } = await openAdmin(visit, site, 'keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('shop');
    await form.getByRole('textbox', { name: 'Models' }).fill(`${CHAT_MODEL}\ntext-*`);
    await form.getByLabel('Budget in dollars').fill('2.50');
    await form.getByLabel('Requests a minute').fill('100');
    await form.getByRole('button', { name: 'Create key' }).click();
    const first = await readSecret(page);
    expect(await chatStatus(first)).toBe(200);
    expect((await send(first, '/ai/v1/usage')).json).toMatchObject({
      budget: { amount_usd: '2.5', reset: 'month' },
      limits: { requests_per_minute: { limit: 100 } },
    });
    await page.getByRole('button', { name: 'I have kept it' }).click();
    expect(await page.getByTestId('secret').count()).toBe(0);

    await page.getByRole('button', { name: 'Manage shop' }).click();
    await form.getByRole('textbox', { name: 'Models' }).fill('text-*');
    await form.getByRole('button', { name: 'Save changes' }).click();
    await form.getByText('It counts on every server').waitFor();
    await expect.poll(() => chatStatus(first), WAIT).toBe(403);
    await form.getByRole('textbox', { name: 'Models' }).fill('');
    await form.getByRole('button', { name: 'Save changes' }).click();
    await expect.poll(() => chatStatus(first), WAIT).toBe(200);

    await form.getByLabel('The present one ends').selectOption('after an hour');
    await form.getByRole('button', { name: 'Rotate' }).click();
    const second = await readSecret(page);
    expect(second).not.toBe(first);
    expect([await chatStatus(first), await chatStatus(second)]).toEqual([200, 200]);

    await page.getByRole('button', { name: 'Manage shop' }).click();
    await form.getByRole('button', { name: 'Disable' }).click();
    await expect.poll(() => chatStatus(second), WAIT).toBe(401);
    await form.getByRole('button', { name: 'Enable' }).click();
    await expect.poll(() => chatStatus(second), WAIT).toBe(200);
    await form.getByRole('button', { name: 'Revoke…' }).click();
    await form.getByRole('button', { name: 'Keep it' }).click();
    await form.getByRole('button', { name: 'Revoke…' }).click();
    await form.getByRole('button', { name: 'Revoke for good' }).click();
    await form.getByText('revoked for good').waitFor();
    await expect.poll(() => chatStatus(second), WAIT).toBe(401);
    await page.keyboard.press('Escape');
    await expect.poll(() => page.getByRole('button', { name: 'Manage shop' }).count(), WAIT).toBe(0);
    await page.getByLabel(/^Show \d+ revoked$/).check();
    await page.getByRole('button', { name: 'Manage shop' }).waitFor();
  });

  it('say at the field what the server finds wrong with it, and keep what was entered', async () => {
    const seen = await openAdmin(visit, site, 'keys');
    const form = seen.page.getByRole('dialog');
    await seen.page.getByRole('button', { name: 'Create key' }).click();
    await form.getByLabel('Name').fill('too rich');
    await form.getByLabel('Budget in dollars').fill('a lot');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText('must be dollars as text').waitFor();
    await seen.expectFault(/status of 400/);
    expect(await form.getByLabel('Budget in dollars').getAttribute('aria-invalid')).toBe('true');
    expect(await form.getByLabel('Name').inputValue()).toBe('too rich');
    await form.getByLabel('Budget in dollars').fill('');
    await form.getByLabel('Tokens a minute').fill('many');
    await form.getByRole('button', { name: 'Create key' }).click();
    await form.getByText('A limit is a whole number').waitFor();
    expect(await form.getByLabel('Tokens a minute').getAttribute('aria-invalid')).toBe('true');
  });

  it('cannot lock the last administrator out, and the page says why', async () => {
    const seen = await openAdmin(visit, site, 'keys');
    await seen.page.getByRole('button', { name: 'Manage initial' }).click();
    const dialog = seen.page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Revoke…' }).click();
    await dialog.getByRole('button', { name: 'Revoke for good' }).click();
    await dialog.getByRole('alert').getByText('conflict').waitFor();
    await seen.expectFault(/status of 409/);
    expect((await send(site.key, '/admin/v1/keys')).status).toBe(200);
  });

  it('with script for a name are shown as they are, everywhere', async () => {
    const { key } = await makeKey({ name: SCRIPT });
    await chat(key);
    const { page } = await openAdmin(visit, site, 'keys');
    await page.getByText(SCRIPT).first().waitFor();
    await page.getByRole('button', { name: `Manage ${SCRIPT}` }).click();
    await page.getByRole('heading', { name: SCRIPT }).waitFor();
    await page.keyboard.press('Escape');
    for (const section of ['Live requests', 'Audit']) {
      await page.getByRole('tab', { name: section }).click();
      await page.getByRole('table').getByText(SCRIPT).first().waitFor();
    }
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByLabel('Key', { exact: true }).check();
    await page.getByText(SCRIPT).first().waitFor();
    expect([await page.locator('img').count(), await page.title()]).toEqual([0, 'umpire operator']);
  });
});

describeInBrowser('the other sections', ({ visit }) => {
  it('show a request a moment after it ended, without its text', async () => {
    const { key } = await makeKey({ name: 'watched client' });
    const { page } = await openAdmin(visit, site, 'requests');
    await page.getByLabel('Show those with').fill('watched client');
    await chat(key);
    const row = page.getByRole('row').filter({ hasText: 'watched client' });
    await row.waitFor();
    expect(await row.textContent()).toMatch(/chat-test.*chat\/completions.*200 completed/);
    expect(await page.getByRole('main').textContent()).not.toContain('A word, operator');
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('status').getByText('paused').waitFor();
  });

  it('set a price, refuse one for the past, and show the history', async () => {
    const seen = await openAdmin(visit, site, 'prices');
    const { page } = seen;
    const set = async (input: string, from: string): Promise<void> => {
      await page.getByLabel('Model', { exact: true }).fill(CHAT_MODEL);
      await page.getByLabel('Input', { exact: true }).fill(input);
      await page.getByLabel('Output', { exact: true }).fill('2');
      await page.getByLabel('From', { exact: true }).fill(from);
      await page.getByRole('button', { name: 'Set price' }).click();
    };
    await set('1.25', '2020-01-01T10:00');
    await page.getByText('what is past keeps its price').waitFor();
    await seen.expectFault(/status of 400/);
    expect(await page.getByLabel('From', { exact: true }).getAttribute('aria-invalid')).toBe('true');
    await set('1.25', '');
    await page.getByText(`The price of ${CHAT_MODEL} is set.`).waitFor();
    await set('1.75', '2099-01-01T10:00');
    const history = page.getByRole('table', { name: /^Prices that were set/ });
    await history.getByText('planned').waitFor();
    expect(await history.getByRole('row').allTextContents()).toEqual([
      expect.stringContaining('Model'),
      expect.stringMatching(/planned\$1\.75/),
      expect.stringMatching(/in force\$1\.25/),
    ]);
    const { json } = await send(site.key, '/admin/v1/prices');
    expect(JSON.stringify(json)).toContain('"input_usd":"1.25"');
  });

  it('show requests, tokens, spend, times and refusals of a while, also as tables', async () => {
    await chat(site.key);
    await chat('ump_nobody-at-all');
    const { page } = await openAdmin(visit, site, 'overview');
    await page.getByRole('rowheader', { name: 'invalid_api_key' }).waitFor();
    for (const range of ['Last hour', 'Last 7 days', 'Last 30 days', 'Last 24 hours']) {
      await page.getByLabel(range).check();
      await page.locator('figure').filter({ hasText: 'Requests by model' }).getByText(CHAT_MODEL).waitFor();
    }
    await expect.poll(() => page.locator('canvas').count(), WAIT).toBe(4);
    await page.locator('figure').filter({ hasText: 'Requests by model' }).getByText('As a table').click();
    const table = page.getByRole('table', { name: 'Requests by model' });
    await table.waitFor();
    expect(await table.getByRole('columnheader').allTextContents()).toEqual(['From', CHAT_MODEL]);
    expect(await table.getByRole('row').count()).toBeGreaterThan(1);
  });

  it('say that the server is gone and keep what they showed', async () => {
    const other = await startSite({ settings: { UMPIRE_MODELS: 'text-embed-mini' } });
    try {
      const seen = await visit(`${other.address}/admin`);
      await enterKey(seen.page, other.key);
      await seen.page.getByText('Workers busy').waitFor();
      await other.close();
      await seen.page.getByText('The server cannot be reached').first().waitFor();
      await seen.expectFault(/ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET/);
      expect(await seen.page.getByText('Workers busy').count()).toBe(1);
    } finally {
      await other.close();
    }
  });

  it.each([
    { widthPx: 1280, scheme: 'light' },
    { widthPx: 360, scheme: 'dark' },
  ] as const)('serve everybody, $widthPx wide and $scheme', async (options) => {
    await chat(site.key);
    const seen = await openAdmin(visit, site, 'overview', options);
    const { page } = seen;
    await page.getByText('Requests by model').waitFor();
    for (const section of ['Overview', 'Keys', 'Models', 'Prices', 'Live requests', 'Audit']) {
      await page.getByRole('tab', { name: section }).click();
      await page.getByRole('table').first().waitFor();
      expect([section, await seen.accessibilityFaults()]).toEqual([section, []]);
      const isWider = await page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
      expect([section, isWider]).toEqual([section, false]);
    }
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Manage initial' }).click();
    await page.getByText('Rotate').waitFor();
    expect(await seen.accessibilityFaults()).toEqual([]);
  });

  it('are walked through with the keyboard alone', async () => {
    const { page } = await openAdmin(visit, site, 'overview');
    await page.getByRole('tab', { name: 'Overview' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Keys', selected: true }).waitFor();
    await page.getByRole('button', { name: 'Create key' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').focus();
    await page.keyboard.type('by hand');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => page.evaluate<string>('document.activeElement.textContent'), WAIT)
      .toBe('Secret of by hand');
    await readSecret(page);
  });
});
