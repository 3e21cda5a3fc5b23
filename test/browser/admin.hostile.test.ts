// The operator's page in bad hands and bad weather: names of objects' own, keys that others change meanwhile, a server that
// goes and comes back, the narrowest phone, forced colours.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { ServerProcess } from '../process/server-process.ts';
import { completion, replyJson } from '../upstream/upstream-answers.ts';
import { describeInBrowser } from './in-browser.ts';
import { enterKey, openAdmin } from './open-admin.ts';
import { CHAT_MODEL, type Site, startSite } from './site.ts';
import { type Visit, type VisitOptions, WAIT } from './visit.ts';

const NAMES = ['__proto__', 'constructor', 'toString'];
const SECTIONS = ['Overview', 'Keys', 'Models', 'Prices', 'Live requests', 'Audit'];
const SETTINGS = { UMPIRE_MODELS: 'text-embed-mini' };

let site: Site;
beforeAll(async () => {
  site = await startSite({ settings: SETTINGS, chat: replyJson(completion()) });
});
afterAll(() => site.close());

async function post(path: string, body: object, key = site.key): Promise<Record<string, string>> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const reply = await fetch(`${site.address}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const made = (await reply.json()) as Record<string, string>;
  if (made['key'] !== undefined) testLogs.keepSecret(made['key']);
  return made;
}

describeInBrowser("the operator's page", ({ visit }) => {
  const openPage = (section: string, options?: VisitOptions): Promise<Visit> =>
    openAdmin(visit, site, section, options);

  it('knows keys whose names objects have of themselves, in every section', async () => {
    for (const name of NAMES) {
      const { key } = await post('/admin/v1/keys', { name });
      const messages = [{ role: 'user', content: 'A word of a strange key' }];
      await post('/ai/v1/chat/completions', { model: CHAT_MODEL, messages }, key);
      await post('/admin/v1/prices', { model: name, input_usd: '1', output_usd: '2' });
    }
    const { page } = await openPage('keys');
    for (const section of ['Keys', 'Prices', 'Live requests', 'Audit']) {
      await page.getByRole('tab', { name: section }).click();
      for (const name of NAMES) await page.getByRole('table').getByText(name).first().waitFor();
    }
    await page.getByRole('tab', { name: 'Overview' }).click();
    await page.getByLabel('Key', { exact: true }).check();
    for (const name of NAMES) await page.getByText(name).first().waitFor();
  });

  it.each(['<img src=x onerror=console.error(1)>', '__proto__', '%', 'constructor'])(
    'opens its first section where the address says #%s',
    async (fragment) => {
      const { page } = await openPage(fragment);
      expect(await page.getByRole('tab', { name: 'Overview' }).getAttribute('aria-selected')).toBe('true');
    },
  );

  it('goes back and forward between its sections', async () => {
    const { page } = await openPage('overview');
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('tab', { name: 'Audit' }).click();
    await page.goBack();
    await page.getByRole('heading', { name: 'Keys' }).waitFor();
    await page.goForward();
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Audit' }).waitFor();
  });

  it('says that a key was revoked by somebody else while it was being changed', async () => {
    const { id } = await post('/admin/v1/keys', { name: 'changed by two' });
    const there = await openPage('keys');
    await there.page.getByRole('button', { name: 'Manage changed by two' }).click();
    const dialog = there.page.getByRole('dialog');
    await dialog.getByLabel('Budget in dollars').fill('5');
    await post(`/admin/v1/keys/${id}/revoke`, {});
    await dialog.getByRole('button', { name: 'Save changes' }).click();
    await dialog.getByRole('alert').getByText('revoked').waitFor();
    await there.expectFault(/^console: .*status of 409/);
  });

  it('sends a form once, however often its button is pressed', async () => {
    const { page } = await openPage('keys');
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('pressed often');
    await dialog.getByRole('button', { name: 'Create key' }).dblclick();
    testLogs.keepSecret((await page.getByTestId('secret').textContent()) ?? '');
    await expect.poll(() => page.getByRole('button', { name: 'Manage pressed often' }).count(), WAIT).toBe(1);
  });

  it('says that the server is gone, and goes on by itself when it is back', async () => {
    const first = new ServerProcess(SETTINGS);
    const address = await first.ready();
    const there = await visit(`${address}/admin#requests`);
    await enterKey(there.page, first.initialKey());
    await there.page.getByRole('heading', { name: 'Live requests' }).waitFor();
    await first.stop();
    await there.page.getByText('cannot be reached').waitFor();
    await there.expectFault(/^console: .*net::ERR_/);
    const second = new ServerProcess({
      ...SETTINGS,
      UMPIRE_PORT: new URL(address).port,
      UMPIRE_DATA_DIR: first.dataDir,
    });
    await second.ready();
    await there.page.getByText('cannot be reached').waitFor({ state: 'detached' });
    expect(await there.page.getByRole('tab').count()).toBe(SECTIONS.length);
    await second.dispose();
    await first.dispose();
  });

  it.each<[string, VisitOptions]>([
    ['the narrowest phone, light', { widthPx: 320 }],
    ['the narrowest phone, dark', { widthPx: 320, scheme: 'dark' }],
    ['forced colours without motion', { hasForcedColors: true, prefersReducedMotion: true }],
  ])('has no serious fault on %s', async (_what, options) => {
    const there = await openPage('overview', options);
    const { page } = there;
    for (const section of SECTIONS) {
      await page.getByRole('tab', { name: section }).click();
      await page.getByRole('tabpanel').locator('h2').first().waitFor();
      expect.soft(await there.accessibilityFaults(), section).toEqual([]);
      expect
        .soft(await page.evaluate<number>('document.documentElement.scrollWidth'), section)
        .toBe(options.widthPx ?? 1280);
    }
    await page.getByRole('tab', { name: 'Keys' }).click();
    await page.getByRole('button', { name: /^Manage initial/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Save changes' }).waitFor();
    expect(await there.accessibilityFaults()).toEqual([]);
  });
});
