// Every command of the guides for beginners is run as it stands there, against a server with the shipped models.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { childEnvironment, GRAPH_CACHE, ROOT, ServerProcess } from '../process/server-process.ts';
import { firstBlock, readSteps, withoutFigures } from './guide-blocks.ts';

const GUIDES = ['getting-started.md', 'questions.md', 'thresholds.md', 'moving.md', 'command-line.md', 'batch.md'];
/** Their commands say on standard error how far they came. */
const REPORTING = ['batch.md'];
/** A guide that loses its commands would pass otherwise. */
const LEAST_COMMANDS = 2;

let server: ServerProcess;
let address: string;
/** The checkout as a reader has it, whose own files come into this folder. */
let checkout: string;

beforeAll(async () => {
  checkout = mkdtempSync(join(tmpdir(), 'umpire-guides-'));
  for (const name of readdirSync(ROOT)) {
    if (!['.git', 'data', 'models'].includes(name)) symlinkSync(join(ROOT, name), join(checkout, name));
  }
  for (const model of ['kev', 'text-embed-mini']) {
    cpSync(join(ROOT, 'models', model), join(checkout, 'models', model), { recursive: true });
  }
  server = new ServerProcess();
  address = await server.ready();
});

afterAll(async () => {
  await server.dispose();
  rmSync(checkout, { recursive: true, force: true });
});

async function typeIn(command: string): Promise<{ code: number | null; out: string; error: string }> {
  const child = spawn('sh', ['-eu', '-c', command], {
    cwd: checkout,
    env: childEnvironment({
      // The Node of the tests, for whoever has an older one in front.
      PATH: [join(process.execPath, '..'), process.env['PATH'] ?? ''].join(delimiter),
      UMPIRE_URL: address,
      UMPIRE_API_KEY: server.initialKey(),
      UMPIRE_DATA_DIR: server.dataDir,
      UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, out, error };
}

describe.each(GUIDES)('docs/guides/%s', (name) => {
  const steps = readSteps(readFileSync(join(ROOT, 'docs', 'guides', name), 'utf8'));

  it('has commands', () => {
    expect(steps.length).toBeGreaterThanOrEqual(LEAST_COMMANDS);
  });

  it.each(steps)('$command', async ({ command, shown }) => {
    const { code, out, error } = await typeIn(command);
    expect({ code, error }).toEqual({ code: 0, error: REPORTING.includes(name) ? error : '' });
    expect(error).not.toContain('umpire:');
    expect(out).not.toMatch(/"error":/);
    if (shown !== undefined) expect(withoutFigures(out)).toBe(withoutFigures(shown));
  });
});

describe('what a better wording brings', () => {
  it('is as large as the guide says: described questions are answered better by ten points or more', async () => {
    const accuracy = async (file: string): Promise<number> => {
      const questions = `examples/data/questions-${file}.json`;
      const { out } = await typeIn(
        `npm run -s umpire -- eval examples/data/tickets.jsonl --questions ${questions} --json`,
      );
      return (JSON.parse(out) as { all: { accuracy: number } }).all.accuracy;
    };
    expect((await accuracy('described')) - (await accuracy('bare'))).toBeGreaterThan(0.1);
  });

  it('is shown with the questions that were asked', () => {
    const page = readFileSync(join(ROOT, 'docs/guides/questions.md'), 'utf8');
    const shown = JSON.parse(`{${firstBlock(page, 'json')}}`) as Record<string, unknown>;
    const asked = JSON.parse(readFileSync(join(ROOT, 'examples/data/questions-described.json'), 'utf8')) as object;
    expect(asked).toMatchObject(shown);
  });
});
