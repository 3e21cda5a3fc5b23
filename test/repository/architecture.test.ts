// Proves the walls of the house: layers, threads, environment, names and sizes. The rules are in dependency-cruiser.config.ts;
// here they are run, shown to look at every file, and shown to catch a violation of each.

import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { cruise, type IConfiguration, type ICruiseResult } from 'dependency-cruiser';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LAYERS, layerConfiguration, ROOMS, threadConfiguration } from '../../dependency-cruiser.config.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MAX_FILE_LINES = 350;

/** What lies in `src/` besides the layers. */
const BESIDE_LAYERS = ['app', 'docs', 'launch.js', 'main.ts'];

async function cruiseSource(root: string, configuration: IConfiguration): Promise<ICruiseResult> {
  const { output } = await cruise(['src'], {
    ...configuration.options,
    baseDir: root,
    ruleSet: { forbidden: configuration.forbidden ?? [] },
    validate: true,
  });
  if (typeof output === 'string') throw new Error(`dependency-cruiser answered with text: ${output}`);
  return output;
}

function violationsOf(result: ICruiseResult): string[] {
  return result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`);
}

function sourceFiles(root: string): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|js|mts|cts|mjs|cjs|tsx|jsx)$/.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}

function readLines(file: string): string[] {
  return readFileSync(join(ROOT, file), 'utf8').trimEnd().split('\n');
}

describe('layers of src/', () => {
  it('are kept by every import', async () => {
    expect(violationsOf(await cruiseSource(ROOT, layerConfiguration))).toEqual([]);
  });

  it('are kept apart between threads', async () => {
    expect(violationsOf(await cruiseSource(ROOT, threadConfiguration))).toEqual([]);
  });

  it.each([
    ['layers', layerConfiguration],
    ['threads', threadConfiguration],
  ])('are checked for every file (%s)', async (_name, configuration) => {
    // Under TypeScript 7 dependency-cruiser reads nothing and finds nothing wrong; typescript stays at 6.0.x until it can.
    const { modules } = await cruiseSource(ROOT, configuration);
    const checked = modules.map((module) => module.source).filter((source) => source.startsWith('src/'));
    expect(checked.sort()).toEqual(sourceFiles(ROOT));
  });

  it('are all there is', () => {
    const unknown = readdirSync(join(ROOT, 'src')).filter((name) => ![...LAYERS, ...BESIDE_LAYERS].includes(name));
    expect(unknown).toEqual([]);
  });
});

/** A file of another room of the same layer that climbs in beside the door. */
function injectedWindow(room: string): readonly [file: string, content: string, rule: string] {
  const [layer, name] = room.split('/');
  const file = `src/${layer}/injected-beside-${name}.ts`;
  return [file, `import './${name}/injected-inside.ts';`, `door-${layer}-${name}`];
}

describe('an injected violation', () => {
  const copy = mkdtempSync(join(tmpdir(), 'umpire-architecture-'));
  const caught: string[] = [];

  /** File to write → its content → the rule that must name it. */
  const injected: readonly (readonly [file: string, content: string, rule: string])[] = [
    ...LAYERS.map((layer) => [`src/${layer}/injected.ts`, "import '../app/app.ts';", `layer-${layer}`] as const),
    ...ROOMS.map((room) => injectedWindow(room)),
    ['src/services/injected-store.ts', "import '../storage/injected.ts';", 'layer-services'],
    ['src/http/injected-type.ts', "import type { Engine } from '../engine/engine.ts';", 'layer-http'],
    ['src/runtime/injected-session.ts', "import 'onnxruntime-node';", 'onnxruntime-node-only-in-session'],
    ['src/engine/injected-pool.ts', "import 'piscina';", 'piscina-only-in-worker-pool'],
    ['src/app/injected-keys.ts', "import { k } from '../services/injected.ts';", 'one-composition-root'],
    ['src/http/injected-docs.ts', "import '../docs/injected.ts';", 'docs-generator-is-a-leaf'],
    ['src/app/injected-page.ts', "import '../web/injected.ts';", 'pages-are-a-leaf'],
    ['src/web/injected-core.ts', "import 'node:fs';", 'pages-without-node'],
    ['src/app/injected-hub.ts', "import '../hub/injected.ts';", 'hub-on-demand'],
    ['src/app/injected-telemetry.ts', "import '../observability/telemetry/injected.ts';", 'telemetry-on-demand'],
    ['src/http/injected-hub.ts', "const hub = import('../cli/injected-hub.ts');", 'server-without-hub'],
    ['src/domain/injected-bench.ts', "import '../../bench/injected.ts';", 'server-without-tests-and-bench'],
    ['src/config/injected-package.ts', "import 'fast-check';", 'server-without-development-packages'],
    ['src/domain/injected-helper.ts', "import './utils/injected.ts';", 'no-utils'],
    ['src/domain/injected-hole.ts', "import './nowhere.ts';", 'no-unresolvable'],
    [
      'src/domain/injected-left.ts',
      "import type { Right } from './injected-right.ts';\nexport type Left = Right;",
      'no-cycles',
    ],
    ['src/cli/injected-thread.ts', "import '../runtime/injected-session.ts';", 'main-thread-without-onnxruntime'],
    ['src/runtime/worker.ts', "import '../http/injected-server.ts';", 'worker-without-http'],
  ];
  const needed: readonly (readonly [file: string, content: string])[] = [
    ['src/app/app.ts', 'export const app = 1;'],
    ...ROOMS.map((room) => [`src/${room}/injected-inside.ts`, 'export const inside = 1;'] as const),
    ['src/cli/injected-hub.ts', "const hub = import('../hub/injected.ts');"],
    ['src/docs/injected.ts', 'export const page = 1;'],
    ['src/observability/telemetry/injected.ts', 'export const sent = 1;'],
    ['bench/injected.ts', 'export const bench = 1;'],
    ['src/domain/utils/injected.ts', 'export const util = 1;'],
    ['src/domain/injected-right.ts', "import type { Left } from './injected-left.ts';\nexport type Right = Left | 1;"],
    ['src/http/injected-server.ts', "import 'fastify';"],
  ];

  beforeAll(async () => {
    for (const entry of ['src', 'package.json', 'tsconfig.json']) {
      cpSync(join(ROOT, entry), join(copy, entry), { recursive: true });
    }
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    for (const [file, content] of [...injected, ...needed]) {
      mkdirSync(dirname(join(copy, file)), { recursive: true });
      writeFileSync(join(copy, file), `${content}\n`);
    }
    for (const configuration of [layerConfiguration, threadConfiguration]) {
      caught.push(...violationsOf(await cruiseSource(copy, configuration)));
    }
  });

  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it.each(injected)('in %s (%s) is caught by %s', (file, _content, rule) => {
    expect(caught).toContainEqual(expect.stringContaining(`${rule}: ${file} → `));
  });

  it('is caught by every rule there is', () => {
    const rules = [layerConfiguration, threadConfiguration].flatMap(({ forbidden }) => forbidden ?? []);
    const proven = new Set(injected.map(([, , rule]) => rule));
    expect(rules.map((rule) => rule.name).filter((name) => name === undefined || !proven.has(name))).toEqual([]);
  });
});

describe('the environment', () => {
  const ENVIRONMENT =
    /\bprocess\s*\??\.\s*env\b|\bprocess\s*\??\.?\s*\[|import\s[^;]*\benv\b[^;]*from 'node:process'|\bloadEnvFile\b/;
  /** The launcher hands its environment on to the process it becomes; it reads no setting of ours. */
  const READERS = ['src/config/load.ts', 'src/launch.js'];
  /** In a browser there is none; programs that a page shows read that of whoever pastes them. */
  const isPage = (file: string): boolean => file.startsWith('src/web/');
  /** Set, not read: the runtime library looks at it before any option can be passed. */
  const TELEMETRY_OFF = /^\s*process\.env(\['ORT_DISABLE_TELEMETRY'\]|\.ORT_DISABLE_TELEMETRY) = '1';/;

  it('is read by config/load.ts alone', () => {
    const readers = sourceFiles(ROOT)
      .filter((file) => !READERS.includes(file) && !isPage(file) && !file.endsWith('.test.ts'))
      .flatMap((file) => readLines(file).map((line) => ({ file, line })))
      .filter(({ line }) => ENVIRONMENT.test(line) && !/^\s*(\/\/|\*|\/\*)/.test(line) && !TELEMETRY_OFF.test(line));
    expect(readers).toEqual([]);
  });

  it.each([
    'const home = process.env.HOME;',
    "const home = process.env['HOME'];",
    "const { env } = process['env'];",
    "import { env } from 'node:process';",
    "if (process.env['ORT_DISABLE_TELEMETRY'] === '1') run();",
  ])('is recognised in: %s', (line) => {
    expect(ENVIRONMENT.test(line) && !TELEMETRY_OFF.test(line)).toBe(true);
  });
});

describe('every file of src/', () => {
  it('is kebab-case', () => {
    const odd = sourceFiles(ROOT).filter(
      (file) => !/^src\/([a-z0-9-]+\/)*[a-z0-9-]+((\.[a-z-]+)?\.test)?\.(ts|js)$/.test(file),
    );
    expect(odd).toEqual([]);
  });

  it('opens with what it owns', () => {
    const silent = sourceFiles(ROOT).filter((file) => {
      if (file.endsWith('.test.ts')) return false;
      const [first = '', second = ''] = readLines(file);
      return !/^(\/\/|\/\*)/.test(first.startsWith('#!') ? second : first);
    });
    expect(silent).toEqual([]);
  });

  it(`has at most ${MAX_FILE_LINES} lines`, () => {
    expect(sourceFiles(ROOT).filter((file) => readLines(file).length > MAX_FILE_LINES)).toEqual([]);
  });
});
