// The first start as the one who sits before it sees it: a greeting on a terminal, its key and its request good as they
// stand; and lines of the log wherever these are wanted.

import { execFile, spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { testLogs } from '../log-scan/test-logs.ts';
import { LAUNCHER, ROOT, ServerProcess } from './server-process.ts';
import { hasTerminals, inTerminal } from './terminal.ts';

const TINY = ['tiny-decision', 'tiny-embedding'].map((name) => join(ROOT, 'test', 'fixtures', name)).join(',');
const COMMAND = inTerminal(`'${process.execPath}' '${LAUNCHER}' serve`);
const KEY = /^Your API key, shown only now: (ump_\w{38})\r?$/m;
const END = /^Ctrl-C finishes what was accepted, then stops\.\r?$/m;
const LOG_LINE = /^\d\d:\d\d:\d\d \w+/m;
const hasCurl = spawnSync('curl', ['--version']).status === 0;

/** A key belongs into this greeting, and nowhere else: the scan of logs sees all but its paragraphs. */
class GreetingServer extends ServerProcess {
  protected override openLog(): (text: string) => void {
    return () => undefined;
  }

  async disposeGreeted(): Promise<void> {
    await this.disposeGroup();
    testLogs.openLog()(this.output.replace(/^Your API key.*?^Next:/ms, ''));
  }
}

let server: GreetingServer;

function start(settings: Readonly<Record<string, string>> = {}): GreetingServer {
  server = new GreetingServer({ UMPIRE_MODELS: TINY, UMPIRE_ENGINE_WORKERS: '1', NO_COLOR: '1', ...settings }, COMMAND);
  return server;
}

describe.runIf(hasTerminals())('on a terminal', () => {
  afterEach(() => server.disposeGreeted());

  it('a first start greets in a few lines, none of them the log’s', async () => {
    await start().waitFor(END);
    const text = server.output.replaceAll('\r', '');
    expect(text).toMatch(/^umpire \S+ listens on http:\/\/127\.0\.0\.1:\d+; loading models\b.*\n\nmodels {2}tiny/);
    expect(text).toMatch(/^models {2}tiny-decision \(decision\), tiny-embedding \(embedding\)$/m);
    expect(text).toMatch(/^device {2}cpu, 1 worker × 1 thread; tokenizer: (native|javascript \(.+\))$/m);
    expect(text).toContain(`\ndata    ${server.dataDir}\n`);
    expect(text).toMatch(/^ready {3}http:\/\/127\.0\.0\.1:\d+$/m);
    expect(text).toMatch(KEY);
    expect(text).toContain('  a key for each client   npm run -s umpire -- keys create --help\n');
    expect(text).not.toMatch(LOG_LINE);
    expect(text.trim().split('\n').length).toBeLessThanOrEqual(27);
    expect(() => server.initialKey()).toThrow('ENOENT');
  });

  it.runIf(hasCurl)('its request works as pasted into a shell', async () => {
    await start().waitFor(END);
    const request = /^curl .*?'$/ms.exec(server.output.replaceAll('\r', ''))?.[0] ?? '';
    const { stdout } = await promisify(execFile)('sh', ['-c', `${request} --silent --show-error`]);
    expect(JSON.parse(stdout)).toMatchObject({ model: 'tiny-decision', answers: { department: { type: 'choice' } } });
  });

  it('a start that needs no key shows none, and how to make one', async () => {
    const key = 'taken-as-given:0123456789';
    await start({ UMPIRE_API_KEY: key }).waitFor(END);
    expect(server.output).not.toMatch(/ump_|curl|API key/);
    expect(server.output).not.toContain(key);
    expect(server.output).toContain('keys create --help');
  });

  it('warnings are lines of their own, before the greeting', async () => {
    await start({ UMPIRE_HOST: '0.0.0.0' }).waitFor(END);
    const warned = server.output.search(/^\d\d:\d\d:\d\d warn {2}other machines can reach this server/m);
    expect(warned).toBeGreaterThan(-1);
    expect(warned).toBeLessThan(server.output.search(/^models /m));
  });

  it('requests are lines of the log once it is ready', async () => {
    await start().waitFor(END);
    const address = await server.ready();
    await fetch(`${address}/ai/v1/models`, { headers: { 'x-request-id': 'a-stranger' } });
    await server.waitFor(/^\d\d:\d\d:\d\d info {2}GET {4}\/ai\/v1\/models +401 +\d+\.\d ms +invalid_api_key/m);
  });

  it('a decision is a line with its tokens and its cost, in colours where these are wanted', async () => {
    const key = 'taken-as-given:0123456789';
    await start({ UMPIRE_API_KEY: key, NO_COLOR: '', FORCE_COLOR: '1' }).waitFor(END);
    await fetch(`${await server.ready()}/ai/v1/systemone`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'tiny-decision',
        state: 'x',
        questions: { a: { type: 'noul', instructions: 'Is it?' } },
      }),
    });
    const [line] = await server.waitFor(/^.*POST.*$/m);
    expect(line).toContain('\u001b[32m200\u001b[39m');
    expect(stripVTControlCharacters(line)).toMatch(
      /^\d\d:\d\d:\d\d info {2}POST {3}\/ai\/v1\/systemone +200 +\d+\.\d ms +\d+\+0 tokens {2}\$[\d.]+ +tiny-decision /,
    );
  });

  it('whoever wants details gets them', async () => {
    await start({ UMPIRE_LOG_LEVEL: 'debug' }).waitFor(END);
    expect(server.output).toMatch(/^\d\d:\d\d:\d\d info {2}model loaded and checked {2}modelId=tiny-embedding/m);
  });

  it('JSON lines where these are wanted, all of them, and the key in its file', async () => {
    await start({ UMPIRE_LOG_FORMAT: 'json' }).ready();
    const key = server.initialKey();
    expect(statSync(join(server.dataDir, 'initial-key')).mode & 0o777).toBe(0o600);
    await server.waitFor(/A first API key was written to/);
    for (const line of server.output.trim().split('\n')) expect(() => JSON.parse(line)).not.toThrow();
    expect(server.output).not.toContain(key);
    expect(server.output).toContain('model loaded and checked');
  });
});

describe('elsewhere', () => {
  it.each(['auto', 'text'])('there is no greeting, and no key in the output (%s)', async (format) => {
    const plain = new ServerProcess({ UMPIRE_MODELS: TINY, UMPIRE_LOG_FORMAT: format });
    try {
      await plain.ready();
      await plain.waitFor(/A first API key was written to/);
      expect(plain.output).not.toContain(plain.initialKey());
      expect(plain.output).not.toMatch(/^(Your API key|Try it:|Next:)/m);
      expect(plain.output).toMatch(/caches {2}documents/);
      const isJson = plain.output.startsWith('{');
      expect(isJson).toBe(format === 'auto');
    } finally {
      await plain.dispose();
    }
  });
});
