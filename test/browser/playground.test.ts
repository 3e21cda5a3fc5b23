// Decisions in the playground: what somebody sees who pastes a document and asks, and what they are told where it fails.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeInBrowser } from './in-browser.ts';
import { enterKey, openPlayground, writeDocument, writeQuestions } from './open-playground.ts';
import { type Site, startSite } from './site.ts';
import { type Visit, WAIT } from './visit.ts';

const ASK = '**/ai/v1/systemone';
const SCRIPT = '<img src="x" onerror="document.title=\'owned\'">';

let site: Site;
beforeAll(async () => {
  site = await startSite();
});
afterAll(() => site.close());

const answersOf = ({ page }: Visit): Promise<string[]> => page.getByRole('article').allInnerTexts();
const alertsOf = async ({ page }: Visit): Promise<string> => (await page.getByRole('alert').allInnerTexts()).join(' ');

describeInBrowser('the playground', (visitor) => {
  const open = (options?: Parameters<typeof openPlayground>[2]) => openPlayground(visitor, site, options);

  describe('on a first visit', () => {
    it('shows a ready example and says where a key comes from', async () => {
      const { page } = await visitor.visit(site.address);
      expect(await page.getByRole('textbox', { name: 'Document' }).inputValue()).toContain('charged twice');
      expect(await page.getByLabel('Name', { exact: true }).count()).toBe(3);
      expect(await page.getByText('No key yet?').innerText()).toContain('initial-key');
    });

    it('refuses a wrong key where it is entered, and keeps nothing of it', async () => {
      const first = await visitor.visit(site.address);
      await enterKey(first, 'ump_nobody-has-this-key');
      await expect.poll(() => alertsOf(first), WAIT).toContain('The API key is not valid.');
      await first.expectFault(/status of 401/);
      expect(await first.page.evaluate<number>('sessionStorage.length + localStorage.length')).toBe(0);
    });

    it.each([
      ['for this tab alone', false, 1, 0],
      ['in this browser if that is asked for', true, 0, 1],
    ])('keeps a key %s, and forgets it when told', async (_how, isKept, inSession, inBrowser) => {
      const first = await visitor.visit(site.address);
      await enterKey(first, site.key, { isKept });
      await first.page.getByRole('article').first().waitFor();
      const stored = () => first.page.evaluate<number[]>('[sessionStorage.length, localStorage.length]');
      expect(await stored()).toEqual([inSession, inBrowser]);
      expect(await first.page.evaluate<string>('document.cookie')).toBe('');
      await first.page.getByRole('button', { name: 'Forget key' }).click();
      expect(await stored()).toEqual([0, 0]);
      await first.page.getByLabel('API key').waitFor();
    });
  });

  it('answers the three types with probabilities, confidence, time, tokens and cost', async () => {
    const playground = await open();
    await writeDocument(playground, 'I was charged twice for the team plan. Nobody was asked this before.');
    await expect.poll(() => playground.page.locator('.facts').innerText(), WAIT).toMatch(/From cache\s+nothing/);
    const [team = '', refund = '', mood = ''] = await answersOf(playground);
    expect(team).toMatch(/billing[\s\S]*\d+\.\d %[\s\S]*confidence \d\.\d\d/);
    expect(refund).toMatch(/yes\s+\d+\.\d %\s+no\s+\d+\.\d %/);
    expect(mood).toMatch(/score \d\.\d\d of 2 · confidence \d\.\d\d/);
    const facts = await playground.page.locator('.facts').innerText();
    expect(facts).toMatch(/Latency\s+[\d.]+ m?s/);
    expect(facts).toMatch(/Tokens\s+\d+/);
    expect(facts).toMatch(/Cost\s+\$0\.0000\d+/);
  });

  it('says to act or to ask a person by the threshold', async () => {
    const playground = await open();
    const slider = playground.page.getByRole('slider');
    await slider.fill('50');
    await expect.poll(() => answersOf(playground).then(([team]) => team), WAIT).toContain('Act: billing');
    await slider.fill('100');
    await expect.poll(() => answersOf(playground).then((all) => all.join()), WAIT).not.toContain('Act:');
  });

  it('drops an answer that is older than its question', async () => {
    const playground = await open();
    const { page } = playground;
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const asked: string[] = [];
    await page.route(ASK, async (route) => {
      asked.push(route.request().postDataJSON().state);
      if (asked.length === 1) await held;
      await route.continue().catch(() => undefined);
    });
    await writeQuestions(playground, { dog: { type: 'noul', instructions: 'Is it about a dog?' } });
    await expect.poll(() => asked.length, WAIT).toBe(1);
    await writeDocument(playground, 'A poem about rain in the mountains.');
    await expect.poll(() => asked.at(-1), WAIT).toBe('A poem about rain in the mountains.');
    await expect.poll(() => page.locator('.is-stale').count(), WAIT).toBe(0);
    const shown = await answersOf(playground);
    release();
    await page.unrouteAll({ behavior: 'wait' });
    expect(await answersOf(playground)).toEqual(shown);
  });

  it('asks once while somebody types, and what they ended with', async () => {
    const playground = await open();
    const asked: string[] = [];
    playground.page.on('request', (request) => {
      if (request.url().endsWith('/systemone')) asked.push(request.postDataJSON().state);
    });
    const field = playground.page.getByRole('textbox', { name: 'Document' });
    await field.fill('');
    await field.pressSequentially('My parcel is late', { delay: 5 });
    await expect.poll(() => asked.at(-1), WAIT).toBe('My parcel is late');
    expect(asked.length).toBeLessThan('My parcel is late'.length);
  });

  it('has the questions as a form and as JSON, in step', async () => {
    const playground = await open();
    const { page } = playground;
    await writeQuestions(
      playground,
      '{"10": {"type": "choice", "instructions": "Which?", "criteria": {"2": null, "1": "one"}}}',
    );
    await page.getByRole('tab', { name: 'Form' }).click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('10');
    expect(await page.getByLabel('What option 2 means').inputValue()).toBe('one');
    await page.getByLabel('Name', { exact: true }).fill('number');
    await page.getByRole('combobox').selectOption('noul');
    await page.getByRole('tab', { name: 'JSON' }).click();
    const json = JSON.parse(await page.getByLabel('Questions as JSON').inputValue());
    expect(json).toEqual({ number: { type: 'noul', instructions: 'Which?' } });
  });

  it('says what is wrong with JSON where it is written, and keeps the form', async () => {
    const playground = await open();
    const { page } = playground;
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByLabel('Questions as JSON').fill('{"a": ');
    await expect.poll(() => alertsOf(playground), WAIT).toMatch(/at character 6/);
    await page.getByLabel('Questions as JSON').fill('{"a": {"type": "guess", "instructions": "?"}}');
    await expect.poll(() => alertsOf(playground), WAIT).toContain('needs a type: choice, noul or score');
  });

  it('says what a question lacks, and does not send it', async () => {
    const playground = await open();
    const { page } = playground;
    await page.getByRole('button', { name: 'Add a question' }).click();
    await page.getByText('Write what is asked.').waitFor();
    await page.getByLabel('Question', { exact: true }).last().fill('Which colour?');
    await page.getByText('Add at least one option.').waitFor();
    await page.getByText('Waiting for the questions to be complete').waitFor();
    await page.getByLabel('Option 1', { exact: true }).last().fill('red');
    await expect.poll(() => answersOf(playground).then(({ length }) => length), WAIT).toBe(4);
  });

  it('reads a document of some thousand tokens, and only the new question when one is added', async () => {
    const playground = await open();
    const { page } = playground;
    await writeDocument(playground, 'The harbour master reported calm water and no wind. '.repeat(450));
    await expect.poll(() => page.locator('.facts').innerText(), WAIT).toMatch(/Tokens\s+[4-6],\d{3}/);
    await writeQuestions(playground, { wind: { type: 'noul', instructions: 'Is there wind?' } });
    await expect.poll(() => page.locator('.facts').innerText(), WAIT).toMatch(/[34],\d{3} kept from before/);
    await page.getByText('only what is new was read').waitFor();
  });

  it('shows of 255 options the likeliest, and all when asked', async () => {
    const playground = await open();
    const { page } = playground;
    const criteria = Object.fromEntries(Array.from({ length: 255 }, (_, index) => [`option ${index}`, null]));
    await writeQuestions(playground, { many: { type: 'choice', instructions: 'Which?', criteria } });
    await page.getByRole('button', { name: 'Show all 255' }).click();
    expect(await page.getByRole('article').getByRole('listitem').count()).toBe(255);
  });

  it('runs no script that stands in a text, a name or an option', async () => {
    const playground = await open();
    const { page } = playground;
    await writeDocument(playground, SCRIPT);
    await writeQuestions(playground, {
      [SCRIPT]: { type: 'choice', instructions: SCRIPT, criteria: { [SCRIPT]: SCRIPT, other: SCRIPT } },
    });
    await expect.poll(() => answersOf(playground).then((all) => all.join()), WAIT).toContain(SCRIPT);
    await page.getByRole('tab', { name: 'Form' }).click();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.title()).toBe('umpire playground');
  });

  it('is sent as a link that holds the form and no key', async () => {
    const playground = await open();
    await writeDocument(playground, 'Sent as a link, with ünïcode and "quotes".');
    await writeQuestions(playground, { sent: { type: 'noul', instructions: 'Was it sent?' } });
    await playground.page.getByRole('slider').fill('61');
    await expect.poll(() => playground.page.evaluate<string>('location.hash'), WAIT).toMatch(/^#v1\./);
    await expect.poll(() => playground.page.locator('.is-stale').count(), WAIT).toBe(0);
    const before = await playground.page.evaluate<string>('location.hash');
    await expect.poll(() => playground.page.evaluate<string>('location.hash'), WAIT).not.toContain(site.key);
    const other = await visitor.visit(`${site.address}/${before}`);
    expect(await other.page.getByRole('textbox', { name: 'Document' }).inputValue()).toContain('ünïcode and "quotes"');
    expect(await other.page.getByLabel('Question', { exact: true }).inputValue()).toBe('Was it sent?');
    expect(await other.page.getByLabel('API key').count()).toBe(1);
  });

  it.each(['#v1.broken', '#v1.', '#anything', '#v1.q1YqSVWyUqoFAA'])(
    'opens as usual from a link that is none (%s)',
    async (fragment) => {
      const { page } = await visitor.visit(`${site.address}/${fragment}`);
      expect(await page.getByRole('textbox', { name: 'Document' }).inputValue()).toContain('charged twice');
    },
  );

  it('says that the server cannot be reached, and keeps the last answers', async () => {
    const playground = await open();
    await playground.page.route(ASK, (route) => route.abort());
    await writeDocument(playground, 'Is anybody there?');
    await expect.poll(() => alertsOf(playground), WAIT).toContain('The server cannot be reached.');
    expect(await answersOf(playground)).toHaveLength(3);
    await playground.expectFault(/net::ERR_FAILED/);
  });

  it('shows what the server has against a document that is too long', async () => {
    const playground = await open();
    await writeDocument(playground, 'x '.repeat(10_000));
    await expect.poll(() => alertsOf(playground), WAIT).toContain('kev takes at most 8192');
    await playground.expectFault(/status of 400/);
  });

  it('refuses a file of nine megabytes at once, and keeps the document', async () => {
    const playground = await open();
    const buffer = Buffer.from('lorem ipsum\n'.repeat(790_000));
    await playground.page
      .locator('input[type=file]')
      .setInputFiles({ name: 'big.txt', mimeType: 'text/plain', buffer });
    await expect.poll(() => alertsOf(playground), WAIT).toContain('big.txt: 9.5 MB');
    expect(await playground.page.getByRole('textbox', { name: 'Document' }).inputValue()).toContain('charged twice');
  });

  it('refuses nine megabytes that are pasted, and keeps the document', async () => {
    const playground = await open();
    await playground.page.evaluate(`{
      const clipboardData = new DataTransfer();
      clipboardData.setData('text/plain', 'lorem ipsum '.repeat(750_000));
      const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
      document.querySelector('#document').dispatchEvent(event);
    }`);
    await expect.poll(() => alertsOf(playground), WAIT).toContain('9.0 MB are too much to decide about');
    expect(await playground.page.getByRole('textbox', { name: 'Document' }).inputValue()).toContain('charged twice');
  });

  it('shows that a request is too large for the server, and goes on', async () => {
    const playground = await open();
    // Not typed: the browser itself would take half a minute.
    await playground.page.evaluate(`{
      const field = document.querySelector('#document');
      field.value = 'lorem ipsum\\n'.repeat(200_000);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }`);
    await expect.poll(() => alertsOf(playground), WAIT).toContain('request_too_large');
    await playground.expectFault(/status of 413/);
    await writeDocument(playground, 'Short again.');
    await expect.poll(() => playground.page.locator('.is-stale').count(), WAIT).toBe(0);
  });

  it('takes a file that is text, and refuses one that is none', async () => {
    const playground = await open();
    const choose = playground.page.locator('input[type=file]');
    await choose.setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('From a file.') });
    await expect
      .poll(() => playground.page.getByRole('textbox', { name: 'Document' }).inputValue(), WAIT)
      .toBe('From a file.');
    await choose.setInputFiles({ name: 'b.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0xff, 0]) });
    await expect.poll(() => alertsOf(playground), WAIT).toContain('b.png: this is no text');
  });

  it('has the request as code that runs as it is copied', async () => {
    const playground = await open();
    const { page } = playground;
    const codeOf = async (language: string): Promise<string> => {
      await page.getByRole('tab', { name: language }).click();
      return (await page.getByRole('region', { name: `The request in ${language}` }).textContent()) ?? '';
    };
    const [curl, script, python] = [await codeOf('curl'), await codeOf('TypeScript'), await codeOf('Python')];
    const environment = { ...process.env, UMPIRE_API_KEY: site.key };
    const answered = execFileSync('sh', ['-c', curl], { env: environment, encoding: 'utf8', stdio: 'pipe' });
    expect(Object.keys(JSON.parse(answered).answers)).toEqual(['team', 'refund', 'mood']);
    const file = join(site.server.dataDir, 'sample.mjs');
    writeFileSync(
      file,
      script.replaceAll("'@typesafe-ai/sdk'", JSON.stringify(import.meta.resolve('@typesafe-ai/sdk'))),
    );
    expect(execFileSync(process.execPath, [file], { env: environment, encoding: 'utf8' })).toContain(
      "choice: 'billing'",
    );
    expect(python).toContain('client.system_one(');
    expect([curl, script, python].join()).not.toContain(site.key);
  });

  it('works with a keyboard alone', async () => {
    const { page } = await open();
    await page.getByRole('tab', { name: 'Decisions' }).focus();
    await page.keyboard.press('ArrowRight');
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Embeddings');
    await page.keyboard.press('Home');
    expect(await page.getByRole('tab', { name: 'Decisions' }).getAttribute('aria-selected')).toBe('true');
  });

  it.each([
    { widthPx: 1280, scheme: 'light' as const },
    { widthPx: 1280, scheme: 'dark' as const },
    { widthPx: 360, scheme: 'light' as const },
  ])('has no fault that axe would find, and fits ($widthPx px, $scheme)', async (options) => {
    const first = await visitor.visit(site.address, options);
    expect(await first.accessibilityFaults()).toEqual([]);
    const playground = await open(options);
    expect(await playground.accessibilityFaults()).toEqual([]);
    expect(await playground.page.evaluate<number>('document.documentElement.scrollWidth')).toBe(options.widthPx);
    await playground.page.getByRole('tab', { name: 'JSON' }).click();
    expect(await playground.accessibilityFaults()).toEqual([]);
  });

  it('shows how near texts are to each other', async () => {
    const playground = await open();
    const { page } = playground;
    await page.getByRole('tab', { name: 'Embeddings' }).click();
    await page.getByLabel('Texts, one a line').fill('a red car\na crimson automobile\nfish soup');
    await expect.poll(() => page.locator('.heat').count(), WAIT).toBe(9);
    const [same, near, far] = (await page.locator('.heat').allInnerTexts()).map(Number);
    expect(same).toBe(1);
    expect(near).toBeGreaterThan(far ?? 1);
    expect(await playground.accessibilityFaults()).toEqual([]);
  });

  it('has no tab for a chat that the server cannot hold', async () => {
    const { page } = await open();
    expect(await page.getByRole('tab', { name: 'Chat' }).count()).toBe(0);
  });
});
