// Every example of the help that can run, as typed, in the order of the help; and that `--json` prints what it says it does.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Command, JsonShape } from '../../src/cli/command.ts';
import { COMMANDS } from '../../src/cli/run-command.ts';
import { runUmpire } from './run-umpire.ts';
import { childEnvironment, GRAPH_CACHE, LAUNCHER, ROOT, ServerProcess } from './server-process.ts';

const folder = mkdtempSync(join(tmpdir(), 'umpire-examples-'));
const DAY_MS = 86_400_000;
const TEAM = {
  type: 'choice',
  instructions: 'Which team?',
  criteria: { billing: 'payments, refunds', technical: 'bugs' },
};

let server: ServerProcess;
/** What stands in an example for what only its reader knows → what it is here. */
let known: ReadonlyMap<string, string>;

beforeAll(async () => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  mkdirSync(join(folder, '.config', 'fish', 'completions'), { recursive: true });
  writeFileSync(join(bin, 'umpire'), `#!/bin/sh\nexec '${process.execPath}' '${LAUNCHER}' "$@"\n`);
  chmodSync(join(bin, 'umpire'), 0o755);
  symlinkSync(join(ROOT, 'models', 'kev'), join(folder, 'my-kev'));
  writeFileSync(join(folder, 'umpire.yaml'), 'log:\n  level: warn\n');
  writeFileSync(join(folder, 'letter.txt'), 'I was charged twice.');
  writeFileSync(join(folder, 'questions.json'), JSON.stringify({ team: TEAM }));
  writeFileSync(join(folder, 'questions.yaml'), JSON.stringify({ team: TEAM }));
  writeFileSync(join(folder, 'rows.csv'), 'id,text\n1,I was charged twice.\n2,The page is blank.\n');
  const labelled = { state: 'I was charged twice.', questions: { team: { ...TEAM, gold: 'billing' } } };
  writeFileSync(join(folder, 'rows.jsonl'), `${JSON.stringify(labelled)}\n`.repeat(60));
  server = new ServerProcess();
  const address = await server.ready();
  const created = await runUmpire(['keys', 'create', '--name', 'x', '--json'], { cwd: folder, env: storeSettings() });
  const { id } = JSON.parse(created.out) as { id: string };
  known = new Map([
    ['http://127.0.0.1:8080', address],
    ['key_BD9mmzdzbecfcotD', id],
    ['2027-01-31', new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)],
  ]);
});

afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true });
});

function storeSettings() {
  return { UMPIRE_DATA_DIR: join(folder, 'data'), UMPIRE_ENGINE_CACHE_DIR: GRAPH_CACHE, UMPIRE_PORT: '0' };
}

/** What a load is measured in is long for a person, and longer than a test needs. */
const SHORT_BENCH = ' --duration 1 --warmup 1';

async function typeIn(given: string): Promise<{ code: number | null; out: string; error: string }> {
  const command = given.startsWith('umpire bench') ? given + SHORT_BENCH : given;
  const typed = [...known].reduce((line, [shown, here]) => line.replaceAll(shown, here), command);
  const env = childEnvironment({
    ...storeSettings(),
    HOME: folder,
    PATH: [join(folder, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
    UMPIRE_API_KEY: command.includes('--url') ? server.initialKey() : '',
  });
  const child = spawn('sh', ['-eu', '-c', typed], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, error, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, out, error };
}

function expectShape(printed: string, { isList, members }: JsonShape): void {
  const value: unknown = JSON.parse(printed);
  expect(Array.isArray(value)).toBe(isList);
  for (const object of isList ? (value as object[]) : [value as object]) {
    expect(Object.keys(object).length).toBeGreaterThan(0);
    expect(members).toEqual(expect.arrayContaining(Object.keys(object)));
  }
}

function asJson({ examples }: Command): string | undefined {
  const tested = examples.filter(({ untested }) => untested === undefined).map(({ command }) => command);
  const [first] = tested;
  // One that was not run before, where a second run would find what the first has made.
  return (
    tested.find((command) => command.includes('--json')) ??
    first?.replace('./other-data', './more-data').concat(' --json')
  );
}

describe.each(COMMANDS.map((command) => [command.name, command] as const))('the help of %s', (_, command) => {
  const { examples, json } = command;
  const tested = examples.filter(({ untested }) => untested === undefined);

  it.skipIf(tested.length === 0).each(tested)('has an example that works: $command', async ({ command: typed }) => {
    const { code, out, error } = await typeIn(typed);
    // A batch and a load tell there how far they are.
    expect({ code, error: / (--input|bench) /.test(typed) ? '' : error }).toEqual({ code: 0, error: '' });
    if (json !== undefined && typed.includes('--json')) expectShape(out, json);
  });

  const printing = json === undefined ? undefined : asJson(command);

  it.skipIf(printing === undefined || json === undefined)('says what --json prints', async () => {
    if (printing === undefined || json === undefined) return;
    expectShape((await typeIn(printing)).out, json);
  });
});
