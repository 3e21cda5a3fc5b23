// The scan of all logs at the end of a run: what it finds, and that a planted leak fails a run whose tests all pass.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { findLeaks } from './find-leaks.ts';

const KEY = `ump_${'Ab3d'.repeat(8)}012345`;
const TEXT = 'She said: "I am\nat Elm Street 9".';

function scan(log: string, secrets: string[] = [], texts: string[] = []): string[] {
  return findLeaks(new Map([['a.log', log]]), { secrets: new Set(secrets), texts: new Set(texts) });
}

describe('the scan finds', () => {
  it.each([
    ['a text', `x ${TEXT} x`],
    ['a text inside JSON', JSON.stringify({ level: 'info', msg: TEXT })],
    ['a text that was cut', `bad request: ${TEXT.slice(0, 14)}…`],
  ])('%s', (_what, log) => {
    expect(scan(log, [], [TEXT])).toHaveLength(1);
  });

  it('a secret, an issued key that nobody registered, and one that the logger cut out', () => {
    expect(scan('using s3cr3t:pass now', ['s3cr3t:pass'])).toEqual(['a.log: the secret s3cr3t:pass']);
    expect(scan(`made ${KEY}`)).toEqual([`a.log: the key ${KEY}`]);
    expect(scan('made [redacted]')).toHaveLength(1);
  });

  it('nothing in a log without them', () => {
    expect(scan('{"level":"info","msg":"request","keyId":"key_Ab3d"}', ['s3cr3t:pass'], [TEXT, 'request'])).toEqual([]);
  });
});

async function runPlanted(name: string): Promise<{ readonly code: unknown; readonly output: string }> {
  const vitest = join('node_modules', 'vitest', 'vitest.mjs');
  const args = [vitest, 'run', '--config', join('test', 'log-scan', 'planted', 'vitest.config.ts')];
  const env = { ...process.env, PLANTED: name };
  const child = spawn(process.execPath, args, { cwd: join(import.meta.dirname, '..', '..'), env });
  const [out, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, output: out + errors };
}

describe('a run of tests that all pass', () => {
  it.each([
    ['text', 'the text "Dear'],
    ['secret', 'the secret planted:0123456789'],
  ])('fails when a %s is in a log', async (name, told) => {
    const { code, output } = await runPlanted(name);
    expect(output).toMatch(/1 passed/);
    expect(output).toContain(told);
    expect(code).toBe(1);
  });

  it('passes when there is none', async () => {
    const { code, output } = await runPlanted('clean');
    expect(output).toMatch(/Log scan: 1 logs of 7 characters, for 1 secrets and 0 texts: none found/);
    expect(code).toBe(0);
  });
});
