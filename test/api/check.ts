// npm run check:api [-- --install] [-- --seed N] [-- --examples N]
// The OpenAPI document as strangers read it: two linters with their strictest rules, then schemathesis with all its
// checks against a running server with the shipped models and a tiny reranker. Exits 1 when any of them finds something.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { API_KEY } from '../../bench/servers/server.ts';
import { ServerProcess } from '../../bench/servers/server-process.ts';
import { umpire } from '../../bench/servers/umpire.ts';
import { layForeignFolders } from '../fixtures/foreign-folders.ts';
import { chatUpstreamSetting, countForms, startChatUpstream } from './chat-upstream.ts';
import { installTools, REDOCLY, SCHEMATHESIS, SPECTRAL } from './tools.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const SHIPPED_MODELS = ['kev', 'text-embed-mini'].map((name) => join(ROOT, 'models', name));
const DOCUMENT = 'docs/openapi.json';
/** Fewer are no proof. */
const MIN_CASES = 2000;

const reportSchema = z.object({
  test_cases: z.object({ generated: z.int() }),
  operations: z.object({ selected: z.int(), tested: z.int() }),
});

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Default: the project's root. */
  readonly folder?: string;
}

/** @returns whether it ended well */
async function run(
  file: string,
  args: readonly string[],
  { environment = {}, folder = ROOT }: RunOptions = {},
): Promise<boolean> {
  const child = spawn(file, args, { cwd: folder, stdio: 'inherit', env: { ...process.env, ...environment } });
  const [code] = await once(child, 'exit');
  return code === 0;
}

async function lint(): Promise<boolean> {
  say('== spectral');
  const isSpectralClean = await run(SPECTRAL, [
    'lint',
    '--fail-severity=hint',
    '-r',
    'test/api/spectral.yaml',
    DOCUMENT,
  ]);
  say('== redocly');
  const environment = { REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const isRedoclyClean = await run(REDOCLY, ['lint', DOCUMENT, '--extends=recommended-strict'], { environment });
  return isSpectralClean && isRedoclyClean;
}

interface Drawing {
  readonly seed: string;
  readonly examples: string;
}

/** Against the server at that address. @returns whether nothing was found */
async function fire(origin: string, { seed, examples }: Drawing, folder: string): Promise<boolean> {
  say(`== schemathesis, seed ${seed}`);
  const report = join(folder, 'report.json');
  const isClean = await run(
    SCHEMATHESIS,
    [
      ...['run', `${origin}/openapi.json`, '-H', `Authorization: Bearer ${API_KEY}`],
      ...['--checks', 'all', '--max-examples', examples, '--seed', seed, '--continue-on-failure'],
      ...['--report', 'json', '--report-json-path', report, '--request-timeout', '60'],
    ],
    // It keeps what it learns where it runs.
    { environment: { SCHEMATHESIS_HOOKS: join(import.meta.dirname, 'schemathesis_hooks.py') }, folder },
  );
  const { test_cases, operations } = reportSchema.parse(JSON.parse(readFileSync(report, 'utf8')));
  const isEnough = test_cases.generated >= MIN_CASES && operations.tested === operations.selected;
  say(`${test_cases.generated} cases of ${operations.tested} operations, at least ${MIN_CASES} of all were wanted.`);
  return isClean && isEnough;
}

/** @returns whether nothing was found, the log tells of no fault, and every form of a chat reply was seen */
async function fireAtServer(drawing: Drawing): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'umpire-check-api-'));
  const upstream = await startChatUpstream();
  try {
    const settings = {
      UMPIRE_MODELS: [...SHIPPED_MODELS, ...layForeignFolders(folder, ['bert-reranker'])].join(','),
      UMPIRE_UPSTREAMS: chatUpstreamSetting(upstream),
      UMPIRE_LOG_FORMAT: 'json',
    };
    const server = await ServerProcess.start(umpire({ settings }), folder);
    // Whatever becomes of this process, its server does not outlive it.
    process.once('exit', () => server.kill());
    try {
      const isClean = await fire(server.origin, drawing, folder);
      await server.stop();
      const faults = readFileSync(join(folder, 'server.log'), 'utf8').match(/^\{"level":"(error|fatal)".*$/gm) ?? [];
      for (const fault of faults) say(`log: ${fault}`);
      const forms = countForms(upstream);
      for (const [form, times] of forms) say(`answered by the upstream: ${form}: ${times}`);
      return isClean && faults.length === 0 && [...forms.values()].every((times) => times > 0);
    } finally {
      server.kill();
    }
  } finally {
    await upstream.close();
    rmSync(folder, { recursive: true });
  }
}

const { values } = parseArgs({
  options: {
    install: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    examples: { type: 'string', default: '40' },
  },
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
installTools();
if (!values.install) {
  const results = [await lint(), await fireAtServer(values)];
  process.exitCode = results.every(Boolean) ? 0 : 1;
}
