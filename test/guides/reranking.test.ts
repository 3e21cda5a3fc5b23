// The guide to reranking, as it stands there, against a server with a tiny reranker: its commands work, and the replies have
// the members that it shows. Which document is best a model with random weights does not know.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { layForeignFolders } from '../fixtures/foreign-folders.ts';
import { childEnvironment, ROOT, ServerProcess } from '../process/server-process.ts';
import { firstBlock, readSteps } from './guide-blocks.ts';

const PAGE = readFileSync(join(ROOT, 'docs', 'guides', 'reranking.md'), 'utf8');
const MODEL = 'bert-reranker';

let folder: string;
let server: ServerProcess;
let address: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-reranking-guide-'));
  const [model = ''] = layForeignFolders(folder, [MODEL]);
  server = new ServerProcess({ UMPIRE_MODELS: model, UMPIRE_ALIASES: JSON.stringify({ reranker: MODEL }) });
  address = await server.ready();
});
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

async function run(command: string, args: readonly string[]): Promise<{ code: unknown; out: string; error: string }> {
  const env = childEnvironment({ UMPIRE_URL: address, UMPIRE_API_KEY: server.initialKey() });
  const child = spawn(command, args, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, error };
}

/** Names and kinds of everything in it. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}

describe('docs/guides/reranking.md', () => {
  const steps = readSteps(PAGE);

  it('has a command and its reply', () => {
    expect(steps).toHaveLength(1);
    expect(steps[0]?.shown).toBeDefined();
  });

  it.each(steps)('shows what comes of: $command', async ({ command, shown = '' }) => {
    const { code, out, error } = await run('sh', ['-eu', '-c', command]);
    expect([code, error]).toEqual([0, '']);
    expect(shapeOf(JSON.parse(out))).toEqual(shapeOf(JSON.parse(shown)));
  });

  it("has a program with Cohere's client that works", async () => {
    const { code, out, error } = await run(process.execPath, ['--input-type=module', '-e', firstBlock(PAGE, 'js')]);
    expect([code, error, out]).toEqual([0, '', '1 number\n']);
  });
});
