// Every command of the guide about learning is run as it stands there, in its order, from the first rows to the first learned
// answer, with the shipped models.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { childEnvironment, GRAPH_CACHE, ROOT } from '../process/server-process.ts';
import { readSteps, withoutFigures } from './guide-blocks.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-learning-guide-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function typeIn(command: string): Promise<{ code: number | null; out: string; error: string }> {
  const child = spawn('sh', ['-eu', '-c', command], {
    cwd: ROOT,
    env: childEnvironment({
      PATH: [join(process.execPath, '..'), process.env['PATH'] ?? ''].join(delimiter),
      UMPIRE_DATA_DIR: join(folder, 'data'),
      UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, out, error };
}

/** Accuracy after the arrow, in the row of a question. */
function learnedAccuracy(out: string, question: string): number {
  return Number(new RegExp(`^${question} .*?→ ([\\d.]+)`, 'm').exec(out)?.[1]);
}

describe('docs/guides/learning.md', () => {
  const steps = readSteps(readFileSync(join(ROOT, 'docs', 'guides', 'learning.md'), 'utf8'));
  const printed: string[] = [];

  it('has commands', () => {
    expect(steps.length).toBeGreaterThanOrEqual(5);
  });

  it.each(steps)('$command', async ({ command, shown }) => {
    const { code, out, error } = await typeIn(command);
    expect({ code, error }).toEqual({ code: 0, error });
    expect(error).not.toMatch(/umpire:|warning:/);
    printed.push(out);
    // The page shows the begin of a long report.
    const begin = shown?.replace(/\n…\n$/, '\n');
    if (begin !== undefined) expect(withoutFigures(out).startsWith(withoutFigures(begin))).toBe(true);
  });

  it('learns what its rows say, and answers by it', () => {
    const out = printed.join('\n');
    expect(learnedAccuracy(out, 'queue')).toBeGreaterThan(0.85);
    expect(learnedAccuracy(out, 'today')).toBeGreaterThan(0.7);
    expect(out).toMatch(/Aurora +█+/);
    expect(out).toMatch(/office +decision/);
  });
});
