// The commands of the guide about GPUs that need neither a network nor a GPU are run as they stand there, in their order, in a
// folder with libraries of no code under `wheels`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { PINNED_VERSION, PROVIDER_PACKAGES } from '../../src/app/gpu/pinned-packages.ts';
import { libraryOf } from '../app/gpu/library-files.ts';
import { ScratchFolders } from '../hub/model-tree.ts';
import { childEnvironment, GRAPH_CACHE, LAUNCHER } from '../process/server-process.ts';
import { readSteps } from './guide-blocks.ts';

const members = PROVIDER_PACKAGES.flatMap(({ members: all }) => all);
const libraries = members.map(({ name }, seed) => [`wheels/${name}`, libraryOf(PINNED_VERSION, seed + 1)] as const);
const scratch = new ScratchFolders();
const folder = scratch.make(Object.fromEntries(libraries));
/** With a command as an installed package has it. */
const programs = mkdtempSync(join(tmpdir(), 'umpire-gpu-guide-'));
writeFileSync(join(programs, 'umpire'), `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`);
chmodSync(join(programs, 'umpire'), 0o755);

afterAll(() => {
  scratch.dispose();
  rmSync(programs, { recursive: true });
});

async function typeIn(command: string): Promise<{ code: number | null; out: string; error: string }> {
  const child = spawn('sh', ['-eu', '-c', command], {
    cwd: folder,
    env: childEnvironment({
      PATH: [programs, process.env['PATH'] ?? ''].join(delimiter),
      UMPIRE_DATA_DIR: join(folder, 'data'),
      UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, out, error };
}

describe.runIf(process.platform === 'linux' && process.arch === 'x64')('docs/guides/gpu.md', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/guides/gpu.md'), 'utf8');
  const steps = readSteps(page).map(({ command }) => command);

  it('has commands, and others that say what they need', () => {
    expect(steps).toEqual(['umpire doctor\n', 'umpire gpu install --from wheels --unpinned --yes\n']);
    expect(page.match(/^<!-- not run: needs .* -->\n```sh$/gm)).toHaveLength(4);
  });

  it.each(steps)('%s', async (command) => {
    const { code, error } = await typeIn(command);
    expect({ code, error }).toEqual({ code: 0, error });
    expect(error).not.toMatch(/umpire:|warning:/);
  });

  it('has installed libraries by then, and of these the doctor says what is missing', async () => {
    const installed = join(folder, 'data', 'gpu', `onnxruntime-${PINNED_VERSION}`);
    for (const { name } of members) expect(readFileSync(join(installed, name)).length).toBeGreaterThan(0);
    const { code, out } = await typeIn('umpire doctor');
    expect(code).toBe(0);
    expect(out).toMatch(/CUDA cannot be used: /);
  });
});
