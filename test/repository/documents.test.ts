// The pages written by hand name only what exists: settings, files, npm scripts, commands,
// metrics. Examples with numbers are right.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { COMMANDS } from '../../src/cli/run-command.ts';
import { SETTINGS } from '../../src/config/settings.ts';
import { costPicoUsd, findPicoUsd, formatUsd } from '../../src/domain/money.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import { idleGauges } from '../observability/idle-gauges.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDERS = ['.', '.github', 'bench', 'deploy', 'docs/guides', 'models'];
const pages = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { withFileTypes: true })
    .filter((entry) => entry.isFile() && (entry.name.endsWith('.md') || folder === 'deploy'))
    .map((entry) => relative(ROOT, join(ROOT, folder, entry.name))),
);
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));

const metrics = createMetrics({
  engineStatus: idleGauges,
  answerCounts: () => ({ miss: 0, merged: 0, hit: 0, keptBytes: 0 }),
  spanCounts: () => ({ exported: 0, failed: 0, untracedRequests: 0 }),
});

/** Variables of ours that are no settings. */
const OTHER_VARIABLES = ['UMPIRE_CONFIG', 'UMPIRE_URL', 'UMPIRE_TARGET_DATABASE_URL', 'UMPIRE_DATA'];
const SETTING_SECTIONS = new Set(SETTINGS.filter(({ path }) => path.length > 1).map(({ path }) => path[0]));

function findAll(page: string, pattern: RegExp): string[] {
  return [...readFileSync(join(ROOT, page), 'utf8').matchAll(pattern)].map(([, found = '']) => found);
}

describe.each(pages)('%s', (page) => {
  it('names only variables that exist', () => {
    const known = [...OTHER_VARIABLES, ...SETTINGS.map(({ env }) => env)];
    expect(findAll(page, /\b(UMPIRE_[A-Z0-9_]*[A-Z0-9])\b(?!_|…)/g).filter((name) => !known.includes(name))).toEqual(
      [],
    );
  });

  it('names only settings that exist', () => {
    const known = SETTINGS.map(({ name }) => name);
    const named = findAll(page, /`([a-z]+\.[a-z][A-Za-z]+)`/g);
    const unknown = named.filter((name) => SETTING_SECTIONS.has(name.split('.')[0]) && !known.includes(name));
    expect(unknown).toEqual([]);
  });

  it('names only metrics that exist', async () => {
    const { text } = await metrics.render();
    expect(findAll(page, /`(umpire_[a-z_]+)`/g).filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });

  it('names only npm scripts that exist', () => {
    expect(findAll(page, /npm run (?:-s )?([a-z][a-z:-]*)/g).filter((name) => scripts[name] === undefined)).toEqual([]);
  });

  it('names only commands that exist, with options that they have', () => {
    const typed = findAll(page, /npm run -s umpire -- ((?:[^\n\\]|\\\n)+)/g);
    const wrong = typed.filter((line) => {
      if (/^--(help|version)\s*$/.test(line)) return false;
      const command = COMMANDS.find(({ name }) => `${line} `.startsWith(`${name} `));
      const options = line.match(/(?<= --)[a-z-]+/g) ?? [];
      return command === undefined || options.some((option) => !(option in command.options) && option !== 'help');
    });
    expect(wrong).toEqual([]);
  });

  it('links only to files that exist', () => {
    const links = findAll(page, /\]\(([^)#:]+)(?:#[^)]*)?\)/g);
    expect(links.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });
});

describe('README.md', () => {
  it('shows the cost and the budget that its first request leaves', () => {
    const page = readFileSync(join(ROOT, 'README.md'), 'utf8');
    const manifest = readFileSync(join(ROOT, 'models/kev/model.json'), 'utf8');
    const textOf = (text: string, pattern: RegExp): string => pattern.exec(text)?.[1] ?? '';
    const tokens = BigInt(textOf(page, /"input_tokens":(\d+)/));
    const cost = tokens * BigInt(textOf(manifest, /"input_micro_usd_per_million_tokens": (\d+)/));
    const budget = findPicoUsd(textOf(page, /--budget (\S+)/)) ?? 0n;
    expect(textOf(page, /^x-umpire-cost-usd: (.*)$/m)).toBe(formatUsd(cost));
    expect(textOf(page, /^x-umpire-budget-remaining-usd: (.*)$/m)).toBe(formatUsd(budget - cost));
    expect(textOf(page, /^x-ratelimit-remaining-tokens: (.*)$/m)).toBe(String(100_000n - tokens));
    expect(textOf(page, /^key_\w+ +billing +kev .* (\S+)$/m)).toBe(formatUsd(cost));
  });
});

describe('docs/guides/keys-and-money.md', () => {
  it('computes a cost as the server does', () => {
    const page = readFileSync(join(ROOT, 'docs/guides/keys-and-money.md'), 'utf8');
    const rowOf = (label: string): number[] => {
      const cells = new RegExp(`^\\| ${label} \\|(.*)\\|$`, 'm').exec(page)?.[1]?.split('|') ?? [];
      return cells.map((cell) => (cell.trim() === '' ? Number.NaN : Number(cell)));
    };
    const [uncached = 0, inputMicroUsd = 0, uncachedPicoUsd] = rowOf('input, not cached');
    const [cachedTokens = 0, cachedInputMicroUsd = 0, cachedPicoUsd] = rowOf('input, cached');
    const [outputTokens = 0, outputMicroUsd = 0, outputPicoUsd] = rowOf('output');
    const price = { inputMicroUsd, cachedInputMicroUsd, outputMicroUsd };
    const cost = costPicoUsd({ inputTokens: uncached + cachedTokens, cachedTokens, outputTokens }, price);
    expect([uncached, cachedTokens, outputTokens]).toEqual([200, 1000, 300]);
    expect(rowOf('cost').at(-1)).toBe(Number(cost));
    expect([uncachedPicoUsd, cachedPicoUsd, outputPicoUsd]).toEqual([
      uncached * inputMicroUsd,
      cachedTokens * cachedInputMicroUsd,
      outputTokens * outputMicroUsd,
    ]);
    expect(page).toContain(`\`x-umpire-cost-usd: ${formatUsd(cost)}\``);
  });
});

describe('ARCHITECTURE.md', () => {
  it('is short', () => {
    const lines = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(150);
  });

  it('names only files that exist', () => {
    const named = findAll(
      'ARCHITECTURE.md',
      /`((?:src|test|bench|models|http|services|runtime|domain|engine)\/[^`*]*)`/g,
    );
    const missing = named.filter((path) => !existsSync(join(ROOT, path)) && !existsSync(join(ROOT, 'src', path)));
    expect(missing).toEqual([]);
  });
});
