// The playground in bad hands and bad weather: hostile texts, broken links, documents out of bounds, keys that are gone,
// servers and upstreams that die.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ServerProcess } from '../process/server-process.ts';
import { cutAfter, deltaChunk, HELLO_CHUNKS, stallAfter, streamChunks } from '../upstream/upstream-answers.ts';
import { describeInBrowser } from './in-browser.ts';
import { type Site, startSite } from './site.ts';
import { type Visit, type VisitOptions, WAIT } from './visit.ts';

const EVIL = '<img src=x onerror="console.error(1)"><script>console.error(2)</script>';
/** Of the configuration, so that the log may name it; texts of callers it may not. */
const EVIL_MODEL = '<svg onload="console.error(3)">';

let site: Site;
beforeAll(async () => {
  site = await startSite({ chat: streamChunks() });
});
beforeEach(() => {
  site.upstream().answer = streamChunks();
});
afterAll(() => site.close());

const answersOf = ({ page }: Visit) => page.getByRole('region', { name: 'Answers' });

const documentOf = ({ page }: Visit) => page.getByRole('textbox', { name: 'Document' });
const noticesIn = (there: Visit) => answersOf(there).locator('.notice-bad');
const turnsOf = ({ page }: Visit) => page.locator('.turns');

async function giveKey({ page }: Visit, key: string): Promise<void> {
  await page.getByRole('button', { name: 'Enter API key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('API key', { exact: true }).fill(key);
  await dialog.getByRole('button', { name: 'Use this key' }).click();
  await dialog.waitFor({ state: 'hidden' });
}

async function writeQuestions({ page }: Visit, questions: object | string): Promise<void> {
  await page.getByRole('tab', { name: 'JSON' }).click();
  await page
    .getByLabel('Questions as JSON')
    .fill(typeof questions === 'string' ? questions : JSON.stringify(questions));
}

describeInBrowser('the playground', ({ visit }) => {
  const visitWithKey = async (options?: VisitOptions, fragment = '') => {
    const there = await visit(`${site.address}/${fragment}`, options);
    await giveKey(there, site.key);
    return there;
  };

  it('shows hostile texts as texts, in every field of a decision', async () => {
    const there = await visitWithKey();
    await documentOf(there).fill(EVIL);
    await writeQuestions(there, {
      [EVIL]: { type: 'choice', instructions: EVIL, criteria: { [EVIL]: EVIL, other: null } },
      scored: { type: 'score', instructions: EVIL, criteria: [`${EVIL}: low`, `${EVIL}: high`] },
      sided: { type: 'noul', instructions: EVIL, criteria: { true: EVIL, false: EVIL } },
    });
    await expect.poll(() => answersOf(there).textContent(), WAIT).toContain('sided');
    expect(await answersOf(there).textContent()).toContain(EVIL);
    await there.page.getByRole('tab', { name: 'Form' }).click();
    expect(await there.page.getByLabel('Name').first().inputValue()).toBe(EVIL);
    expect(await there.page.locator('img').count()).toBe(0);
    expect(await there.accessibilityFaults()).toEqual([]);
  });

  it('knows names that objects have of themselves', async () => {
    const there = await visitWithKey();
    const options = '{"__proto__": null, "constructor": "what makes", "toString": null}';
    const questions = ['__proto__', 'constructor', 'hasOwnProperty']
      .map((name) => `"${name}": {"type": "choice", "instructions": "Which?", "criteria": ${options}}`)
      .join(',');
    await writeQuestions(there, `{${questions}}`);
    // The page's own example has nine bars too: only the words tell its answers from these.
    const labels = () => answersOf(there).locator('.bar-label').allTextContents();
    await expect.poll(labels, WAIT).toContain('constructorwhat makes');
    expect((await labels()).length).toBe(9);
  });

  it('asks with 255 options, and shows them all when asked to', async () => {
    const there = await visitWithKey();
    const criteria = Object.fromEntries(Array.from({ length: 255 }, (_none, index) => [`option ${index}`, null]));
    await writeQuestions(there, { many: { type: 'choice', instructions: 'Which one?', criteria } });
    await answersOf(there).getByRole('button', { name: 'Show all 255' }).click();
    expect(await answersOf(there).locator('.bar').count()).toBe(255);
  });

  it('refuses a file that is no text', async () => {
    const there = await visitWithKey();
    const buffer = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff]);
    await there.page.getByLabel('Open a file').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer });
    await there.page.getByText('a.png: this is no text').waitFor();
  });

  it.each(['#v1.', '#v1.%%%', '#v1.AAAA', '#v2.xyz', '#%', '#v1.__proto__', `#${EVIL}`])(
    'says that it cannot read the link %s',
    async (fragment) => {
      const there = await visit(`${site.address}/${fragment}`);
      await there.page.getByText(/^This link cannot be read/).waitFor();
      expect(await documentOf(there).inputValue()).not.toBe('');
    },
  );

  it('comes back from a link as it was, after a reload and after going back', async () => {
    const there = await visitWithKey();
    await documentOf(there).fill('The first document');
    await expect.poll(() => new URL(there.page.url()).hash, WAIT).toMatch(/^#v1\./);
    const link = there.page.url();
    await there.page.reload();
    expect(await documentOf(there).inputValue()).toBe('The first document');
    await there.page.goto(`${site.address}/docs`);
    await there.page.goBack();
    await expect.poll(() => documentOf(there).inputValue(), WAIT).toBe('The first document');
    expect(decodeURIComponent(link)).not.toContain(site.key);
    const other = await visit(link);
    expect(await documentOf(other).inputValue()).toBe('The first document');
    expect(await other.page.getByRole('button', { name: 'Enter API key' }).count()).toBe(1);
  });

  it('says that a key was revoked meanwhile, and takes another', async () => {
    const headers = { authorization: `Bearer ${site.key}`, 'content-type': 'application/json' };
    const create = { method: 'POST', headers, body: JSON.stringify({ name: 'short-lived' }) };
    const made = (await (await fetch(`${site.address}/admin/v1/keys`, create)).json()) as { id: string; key: string };
    const there = await visit(`${site.address}/`);
    await giveKey(there, made.key);
    await expect.poll(() => answersOf(there).locator('.bar').count(), WAIT).toBeGreaterThan(0);
    await fetch(`${site.address}/admin/v1/keys/${made.id}/revoke`, { method: 'POST', headers });
    await documentOf(there).fill('Asked after the key was revoked');
    await noticesIn(there).getByText('invalid_api_key').waitFor();
    await there.expectFault(/^console: .*status of 401/);
    await there.page.getByRole('button', { name: 'Forget key' }).click();
    await giveKey(there, site.key);
    await noticesIn(there).waitFor({ state: 'detached' });
  });

  it('shows the answer to what was written last, however late those before it come', async () => {
    const there = await visitWithKey();
    await expect.poll(() => answersOf(there).locator('.bar').count(), WAIT).toBeGreaterThan(0);
    let held: (() => void) | undefined;
    await there.page.route('**/ai/v1/systemone', async (route) => {
      if (route.request().postData()?.includes('SLOW') !== true) return await route.continue();
      await new Promise<void>((resolve) => {
        held = resolve;
      });
      await route.continue().catch(() => undefined);
    });
    const ask = (name: string) => writeQuestions(there, { [name]: { type: 'noul', instructions: 'Is it so?' } });
    await ask('SLOW');
    await expect.poll(() => held !== undefined, WAIT).toBe(true);
    await ask('quick');
    await expect.poll(() => answersOf(there).textContent(), WAIT).toContain('quick');
    held?.();
    await expect.poll(() => answersOf(there).textContent(), WAIT).not.toContain('SLOW');
  });

  it('keeps what came of a chat whose upstream died, and says so', async () => {
    const there = await visitWithKey();
    site.upstream().answer = cutAfter([...HELLO_CHUNKS.slice(0, 2), deltaChunk(EVIL)]);
    await there.page.getByRole('tab', { name: 'Chat' }).click();
    await there.page.getByRole('button', { name: 'Send' }).click();
    await there.page.getByText('upstream_error').waitFor();
    await turnsOf(there).getByText('Hello').waitFor();
    expect(await turnsOf(there).textContent()).toContain(EVIL);
    site.upstream().answer = streamChunks();
    await there.page.getByLabel('Your message').fill('Again');
    await there.page.keyboard.press('Enter');
    await turnsOf(there).getByText('Hello there!').waitFor();
    expect(await there.page.getByText('upstream_error').count()).toBe(0);
  });

  it('stops a chat that hangs', async () => {
    const there = await visitWithKey();
    site.upstream().answer = stallAfter(HELLO_CHUNKS.slice(0, 2));
    await there.page.getByRole('tab', { name: 'Chat' }).click();
    await there.page.getByRole('button', { name: 'Send' }).click();
    await turnsOf(there).getByText('Hello').waitFor();
    await there.page.getByRole('button', { name: 'Stop' }).click();
    await there.page.getByRole('button', { name: 'Send' }).waitFor();
    await site.upstream().until(() => site.upstream().runningReplies === 0);
  });

  it.each(['light', 'dark'] as const)('is whole on the narrowest phone, on every tab (%s)', async (scheme) => {
    const there = await visitWithKey({ widthPx: 320, scheme });
    for (const tab of ['Decisions', 'Embeddings', 'Chat']) {
      await there.page.getByRole('tab', { name: tab }).click();
      if (tab === 'Embeddings') await there.page.getByRole('region', { name: 'How near' }).locator('table').waitFor();
      expect.soft(await there.accessibilityFaults()).toEqual([]);
      expect.soft(await there.page.evaluate<number>('document.documentElement.scrollWidth'), tab).toBe(320);
    }
  });

  it('does everything by keyboard, in forced colours, and moves nothing for those who want none', async () => {
    const there = await visit(`${site.address}/`, { hasForcedColors: true, prefersReducedMotion: true });
    const { page } = there;
    await page.getByRole('button', { name: 'Enter API key' }).focus();
    await page.keyboard.press('Enter');
    await page.locator('dialog input[name=key]:focus').waitFor();
    await page.keyboard.type(site.key);
    await page.keyboard.press('Enter');
    await expect.poll(() => answersOf(there).locator('.bar').count(), WAIT).toBeGreaterThan(0);
    await page.getByRole('tab', { name: 'Decisions' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.getByRole('tab', { name: 'Embeddings' }).getAttribute('aria-selected')).toBe('true');
    const longest = 'Math.max(0, ...document.getAnimations().map(({ effect }) => effect.getTiming().duration))';
    expect(await page.evaluate<number>(longest)).toBeLessThan(1);
    expect(await there.accessibilityFaults()).toEqual([]);
  });

  it('says that the server is gone, and goes on when it is back, on the same text too', async () => {
    const settings = { UMPIRE_API_KEY: 'a-fixed-key-that-outlives-servers' };
    const first = new ServerProcess(settings);
    const address = await first.ready();
    const there = await visit(`${address}/`);
    await giveKey(there, settings.UMPIRE_API_KEY);
    await expect.poll(() => answersOf(there).locator('.bar').count(), WAIT).toBeGreaterThan(0);
    await documentOf(there).fill('Answered');
    await expect.poll(() => answersOf(there).locator('.is-stale').count(), WAIT).toBe(0);
    await first.dispose();
    await documentOf(there).fill('Asked of nobody');
    await noticesIn(there).getByText('cannot be reached').waitFor();
    await there.expectFault(/^console: .*net::ERR_/);
    const second = new ServerProcess({ ...settings, UMPIRE_PORT: new URL(address).port });
    await second.ready();
    await documentOf(there).fill('Nearly');
    await documentOf(there).fill('Asked of nobody');
    await noticesIn(there).waitFor({ state: 'detached' });
    await second.dispose();
  });

  it('shows hostile names of models as names', async () => {
    const models = [{ id: EVIL_MODEL }, { id: '__proto__' }];
    const upstreams = JSON.stringify([{ name: 'evil', baseUrl: site.upstream().baseUrl, models }]);
    const other = await startSite({ settings: { UMPIRE_MODELS: 'text-embed-mini', UMPIRE_UPSTREAMS: upstreams } });
    const there = await visit(`${other.address}/`);
    await giveKey(there, other.key);
    await there.page.getByRole('tab', { name: 'Chat' }).click();
    await there.page.getByRole('combobox').selectOption('__proto__');
    await there.page.getByRole('combobox').selectOption(EVIL_MODEL);
    await there.page.getByRole('button', { name: 'Send' }).click();
    await turnsOf(there).getByText('Hello there!').waitFor();
    expect(site.upstream().lastRequest.json).toMatchObject({ model: EVIL_MODEL });
    expect(await there.page.locator('svg[onload]').count()).toBe(0);
    // Back when the answer has ended: a server that closes before that cuts it, which the page rightly reports.
    await there.page.getByRole('button', { name: 'Send' }).waitFor();
    await other.close();
  });

  // Shells of the kind that its samples are for.
  it.skipIf(process.platform === 'win32')('makes curl samples that do what they say and nothing else', async () => {
    const there = await visitWithKey();
    const folder = mkdtempSync(join(tmpdir(), 'umpire-sample-'));
    const attack = '\'; touch broken; \'\nJSON\ntouch broken\n$(touch broken) `touch broken` \\ "; touch broken; "';
    await documentOf(there).fill(attack);
    await writeQuestions(there, { [attack]: { type: 'choice', instructions: attack, criteria: { [attack]: attack } } });
    const shown = there.page.getByRole('region', { name: 'The request in curl' });
    await shown.getByText('touch broken').waitFor();
    const env = { ...process.env, UMPIRE_API_KEY: site.key };
    const { stdout } = spawnSync('sh', ['-c', (await shown.textContent()) ?? ''], {
      cwd: folder,
      env,
      encoding: 'utf8',
    });
    expect(JSON.parse(stdout)).toMatchObject({ answers: { [attack]: { choice: attack } } });
    expect(readdirSync(folder)).toEqual([]);
    rmSync(folder, { recursive: true });
  });

  it('works in two tabs at a time', async () => {
    const one = await visitWithKey();
    const other = await one.context.newPage();
    await other.goto(`${site.address}/`);
    expect(await other.getByRole('button', { name: 'Enter API key' }).count()).toBe(1);
    await other.getByRole('button', { name: 'Enter API key' }).click();
    await other.getByRole('dialog').getByLabel('API key', { exact: true }).fill('ump_wrong-in-the-other-tab');
    await other.getByRole('dialog').getByRole('button', { name: 'Use this key' }).click();
    await other.getByRole('dialog').getByText('invalid_api_key').waitFor();
    await one.expectFault(/^console: .*status of 401/);
    const asked = one.page.waitForResponse('**/ai/v1/systemone');
    await documentOf(one).fill('Still asked in the first tab');
    expect((await asked).status()).toBe(200);
  });
});
