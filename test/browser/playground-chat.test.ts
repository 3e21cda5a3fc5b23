// The chat in the playground: streaming, stopping, usage, and answers that break off.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { cutAfter, deltaChunk, HELLO_CHUNKS, refuse, stallAfter, streamChunks } from '../upstream/upstream-answers.ts';
import { describeInBrowser } from './in-browser.ts';
import { enterKey } from './open-playground.ts';
import { CHAT_MODEL, type Site, startSite } from './site.ts';
import { type Visit, WAIT } from './visit.ts';

let site: Site;
beforeAll(async () => {
  site = await startSite({ settings: { UMPIRE_MODELS: 'text-embed-mini' }, chat: streamChunks() });
});
afterAll(() => site.close());

async function say({ page }: Visit, message: string): Promise<void> {
  await page.getByLabel('Your message').fill(message);
  await page.getByRole('button', { name: 'Send' }).click();
}

const saidIn = ({ page }: Visit): Promise<string> => page.locator('.turns').innerText();

describeInBrowser('a chat in the playground', (visitor) => {
  const open = async (): Promise<Visit> => {
    const playground = await visitor.visit(site.address);
    await enterKey(playground, site.key);
    await playground.page.getByRole('tab', { name: 'Chat' }).click();
    return playground;
  };

  it('streams an answer and says what it used', async () => {
    site.upstream().answer = streamChunks();
    const chat = await open();
    await say(chat, 'Who goes there?');
    await expect.poll(() => saidIn(chat), WAIT).toContain('Hello there!');
    await chat.page.getByText('9 tokens in, 3 out').waitFor();
    expect(await chat.accessibilityFaults()).toEqual([]);
  });

  it('sends what was said before, and the system prompt', async () => {
    site.upstream().answer = streamChunks();
    const chat = await open();
    await chat.page.getByLabel('System prompt (optional)').fill('Be brief.');
    await say(chat, 'First');
    await expect.poll(() => saidIn(chat), WAIT).toContain('Hello there!');
    await say(chat, 'Second');
    await expect.poll(() => saidIn(chat), WAIT).toMatch(/Second[\s\S]*Hello there!/);
    expect(site.upstream().lastRequest.json).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'First' },
        { role: 'assistant', content: 'Hello there!' },
        { role: 'user', content: 'Second' },
      ],
    });
  });

  it('stops when told, and keeps what came', async () => {
    site.upstream().answer = stallAfter([...HELLO_CHUNKS.slice(0, 1), deltaChunk('As far as this')]);
    const chat = await open();
    await say(chat, 'Tell me more');
    await expect.poll(() => saidIn(chat), WAIT).toContain('As far as this');
    await chat.page.getByRole('button', { name: 'Stop' }).click();
    await chat.page.getByRole('button', { name: 'Send' }).waitFor();
    expect(await saidIn(chat)).toContain('As far as this');
    expect(await chat.page.getByRole('alert').allInnerTexts()).not.toContainEqual(expect.stringMatching(/./));
  });

  it('says that an answer broke off, below what had come', async () => {
    site.upstream().answer = cutAfter(HELLO_CHUNKS.slice(0, 2));
    const chat = await open();
    await say(chat, 'Hello?');
    await expect.poll(() => saidIn(chat), WAIT).toContain('Hello');
    await expect
      .poll(() => chat.page.getByRole('alert').allInnerTexts(), WAIT)
      .toContainEqual(expect.stringContaining('upstream_error'));
  });

  it('says what the chat server has against a request', async () => {
    site.upstream().answer = refuse(400, { message: 'too many messages', type: 'invalid_request_error' });
    const chat = await open();
    await say(chat, 'Hello?');
    await expect
      .poll(() => chat.page.getByRole('alert').allInnerTexts(), WAIT)
      .toContainEqual(expect.stringMatching(/\w/));
    await chat.expectFault(/status of 4\d\d/);
  });

  it('runs no script that comes in an answer', async () => {
    const script = '<img src="x" onerror="document.title=\'owned\'"><script>document.title=\'owned\'</script>';
    site.upstream().answer = streamChunks([deltaChunk(script, 'stop')]);
    const chat = await open();
    await say(chat, script);
    await expect.poll(() => saidIn(chat), WAIT).toContain('onerror');
    expect(await chat.page.locator('.turns img, .turns script').count()).toBe(0);
    expect(await chat.page.title()).toBe('umpire playground');
  });

  it('is shown as code with the model that is chosen', async () => {
    const chat = await open();
    const code = await chat.page.getByRole('region', { name: 'The request in curl' }).innerText();
    expect(code).toContain(`"model": "${CHAT_MODEL}"`);
    expect(code).toContain('/ai/v1/chat/completions');
  });
});
