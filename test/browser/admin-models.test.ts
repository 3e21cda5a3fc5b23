// The models of the operator's page in a real browser: what is offered, a learning as it goes, what it found, and its end.

import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { completion, replyJson } from '../upstream/upstream-answers.ts';
import { describeInBrowser } from './in-browser.ts';
import { openAdmin } from './open-admin.ts';
import { CHAT_MODEL, type Site, startSite } from './site.ts';
import { WAIT } from './visit.ts';

const BASE = 'tiny-decision';
const FEW_ROWS = 60;
/** Enough of them to be looked at while they are read. */
const MANY_ROWS = 4000;

let site: Site;
beforeAll(async () => {
  const settings = {
    UMPIRE_MODELS_DIR: join(import.meta.dirname, '..', 'fixtures'),
    UMPIRE_MODELS: BASE,
  };
  site = await startSite({ settings, chat: replyJson(completion()) });
});
afterAll(() => site.close());

async function learn(id: string, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => ({
    state: index % 2 === 0 ? `now now now ${index}` : `some day, perhaps ${index}`,
    gold: { urgent: index % 2 === 0 },
  }));
  const questions = { urgent: { type: 'noul', instructions: 'Is it urgent?' } };
  const reply = await fetch(`${site.address}/admin/v1/models`, {
    method: 'POST',
    headers: { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ id, model: BASE, questions, rows }),
  });
  expect(reply.status).toBe(202);
}

async function statusOf(id: string): Promise<number> {
  const headers = { authorization: `Bearer ${site.key}` };
  return (await fetch(`${site.address}/ai/v1/models/${id}`, { headers })).status;
}

describeInBrowser('models', ({ visit }) => {
  it('are listed with their state, local ones and those of upstreams', async () => {
    const { page } = await openAdmin(visit, site, 'models');
    const offered = page.getByRole('table', { name: /^Models that this server offers/ });
    const rows = () => offered.getByRole('row').allTextContents();
    await expect
      .poll(rows, WAIT)
      .toEqual([
        expect.stringContaining('Model'),
        expect.stringMatching(/tiny-decision.*decision.*loaded/),
        expect.stringMatching(new RegExp(`${CHAT_MODEL}.*llm.*at an upstream`)),
      ]);
    await page.getByText('umpire learn --help').waitFor();
  });

  it('that are learned are shown with what they gained, and removed for good', async () => {
    await learn('urgency', FEW_ROWS);
    const seen = await openAdmin(visit, site, 'models', { widthPx: 360, scheme: 'dark' });
    const { page } = seen;
    const row = page.getByRole('table', { name: /^Models that were learned/ }).getByRole('row', { name: 'urgency' });
    await expect.poll(() => row.textContent(), WAIT).toMatch(/answered.*succeeded.*60/);
    await page.getByRole('button', { name: 'Look at urgency' }).click();
    const dialog = page.getByRole('dialog');
    const question = dialog.getByRole('table', { name: 'What each question gained' }).getByRole('row').nth(1);
    expect(await question.textContent()).toMatch(/^noul [0-9a-f]{12}60[\d.]+ % → [\d.]+ %learned/);
    expect(await seen.accessibilityFaults()).toEqual([]);
    const isWider = (): Promise<boolean> =>
      page.evaluate(
        "(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector('dialog[open]'))",
      );
    expect(await isWider()).toBe(false);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect(await isWider()).toBe(false);
    await dialog.getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    expect(await statusOf('urgency')).toBe(200);
    await dialog.getByRole('button', { name: 'Remove…' }).click();
    await dialog.getByRole('button', { name: 'Remove for good' }).click();
    await expect.poll(() => page.getByRole('dialog').count(), WAIT).toBe(0);
    expect(await statusOf('urgency')).toBe(404);
    await expect.poll(() => row.count(), WAIT).toBe(0);
  });

  it('are cancelled while they are learned', async () => {
    await learn('slow', MANY_ROWS);
    const { page } = await openAdmin(visit, site, 'models');
    await page.getByRole('button', { name: 'Look at slow' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Cancel…' }).click();
    await dialog.getByRole('button', { name: 'Cancel the learning' }).click();
    await expect.poll(() => page.getByRole('dialog').count(), WAIT).toBe(0);
    const row = page.getByRole('table', { name: /^Models that were learned/ }).getByRole('row', { name: 'slow' });
    await expect.poll(() => row.textContent(), WAIT).toMatch(/not yet.*cancelled/);
    expect(await statusOf('slow')).toBe(404);
  });
});
