// Proves that `npm run types` catches a promise that nobody waits for, in each of the forms that our code has. A rejection
// that nobody hears ends the process, and work that nobody waits for is cut off by a stop.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..', '..');
const COMMAND = join(import.meta.dirname, 'check.ts');

const SHARED = `export interface Store { write(row: string): Promise<void> }
export async function send(): Promise<void> {}
export class Queue { async drain(): Promise<void> {} }
`;
const IMPORTS = `import { rm } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type Queue, send, type Store } from './shared.ts';
`;
const PARTS = 'queue: Queue, store: Store, kept: Promise<void>, server: FastifyInstance, reply: FastifyReply';

/** What is planted → whether it floats. */
const PLANTED: readonly (readonly [form: string, line: string, floats: boolean])[] = [
  ['a function of another file', 'send();', true],
  ['a function of Node', "rm('file');", true],
  ['a method', 'queue.drain();', true],
  ['a method of an interface', "store.write('row');", true],
  ['a method of a package', 'server.listen({ port: 0 });', true],
  ['a chain without an end for failures', 'send().then(() => undefined);', true],
  ['a promise kept in a variable', 'kept.finally(() => undefined);', true],
  ['a list of promises', '[1, 2].map(() => send());', true],
  ['one of two that is perhaps a promise', "reply.sent && rm('file');", true],
  ['one that is waited for', 'await send();', false],
  ['one whose failure is heard', 'send().then(() => undefined).catch(() => undefined);', false],
  [
    'one whose failure is heard before its end',
    'send().then(() => undefined, () => undefined).finally(() => 1);',
    false,
  ],
  ['one that is let go on purpose', 'void send();', false],
  ['a reply of the web framework', "reply.header('x', 'y');", false],
];

describe('npm run types', () => {
  const copy = mkdtempSync(join(tmpdir(), 'umpire-types-'));
  let told: string;

  beforeAll(() => {
    const { compilerOptions } = JSON.parse(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'));
    const settings = { ...compilerOptions, noUnusedParameters: false, noUnusedLocals: false };
    writeFileSync(join(copy, 'tsconfig.json'), JSON.stringify({ compilerOptions: settings, include: ['*.ts'] }));
    writeFileSync(join(copy, 'package.json'), '{"type": "module"}');
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    writeFileSync(join(copy, 'shared.ts'), SHARED);
    writeFileSync(join(copy, 'mistake.ts'), "export const port: number = '8080';\n");
    for (const [index, [, line]] of PLANTED.entries())
      writeFileSync(join(copy, `planted-${index}.ts`), `${IMPORTS}export async function run(${PARTS}) {\n${line}\n}\n`);
    told = runCheck(copy);
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it.each(PLANTED.map((planted, index) => [...planted, index] as const))(
    'tells a promise that floats from one that does not: %s (`%s`)',
    (_form, _line, floats, index) => {
      expect(told.includes(`planted-${index}.ts:5 - a promise that nobody waits for`)).toBe(floats);
    },
  );

  it('says what the compiler says', () => {
    expect(told).toContain("mistake.ts(1,14): error TS2322: Type 'string' is not assignable to type 'number'.");
  });

  it('has nothing else against these files', () => {
    expect(told.trim().split('\n')).toHaveLength(1 + PLANTED.filter(([, , floats]) => floats).length);
  });
});

/** It fails, as it should; only what it says matters here. */
function runCheck(folder: string): string {
  try {
    execFileSync(process.execPath, [COMMAND], { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
  } catch (error) {
    return String((error as { stdout: unknown }).stdout);
  }
  throw new Error('The planted mistakes were let through.');
}
