// A run of some parts keeps the others of the same day and machine; a missing figure stays missing; the page says what was missed.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { summariseLatencies } from '../../../bench/load/statistics.ts';
import { describeMachine, describeVersions } from '../../../bench/machine/machine.ts';
import { writePage } from '../../../bench/pages/page.ts';
import { mergeWithEarlier, nameReport, type PeersReport, renderReport } from '../../../bench/pages/peers-report.ts';
import { markdownTable } from '../../../bench/pages/table.ts';
import { judgeTargets } from '../../../bench/pages/targets.ts';
import { listCosts } from '../../../bench/parts/closed.ts';
import type { Measured, Parts } from '../../../bench/parts/parts.ts';
import { fitLines } from '../../../bench/parts/scaling.ts';
import { splitServers } from '../../../bench/parts/splits.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'umpire-report-'));
});

afterAll(() => rmSync(folder, { recursive: true }));

function measured<T>(startedAt: string, figures: T): Measured<T> {
  return { startedAt, tookMs: 1, versions: describeVersions(), loadBefore: 0, figures };
}

function report(parts: Parts): PeersReport {
  return {
    format: 1,
    startedAt: '2026-11-21T10:00:00Z',
    isQuick: false,
    machine: describeMachine(),
    settings: {},
    usdPerHour: 0.1,
    prices: { kev: 0.0378 },
    parts,
    targets: judgeTargets(parts),
  };
}

const CELL = {
  peer: 'umpire',
  load: 'short',
  concurrency: 1,
  tokensPerSecond: 1,
  requestsPerSecond: 1,
  requestsPerSecondBySlice: [1],
  latency: summariseLatencies([1]),
  refused: 0,
  errors: 0,
  clientShare: 0,
  cpuMs: 1,
};

const shares = {
  samplesPerClass: 1,
  classes: [],
  withoutModel: summariseLatencies([]),
  clientAlone: summariseLatencies([0.2]),
};

describe('a report', () => {
  it('keeps the parts of an earlier run that it has not measured, and their missing figures missing', () => {
    const first = report({ memory: measured('a', []), shares: measured('a', shares) });
    writeFileSync(join(folder, `${nameReport(first)}.json.gz`), renderReport(first));
    const merged = mergeWithEarlier(folder, report({ memory: measured('b', []) }));
    expect([merged.parts.memory?.startedAt, merged.parts.shares?.startedAt]).toEqual(['b', 'a']);
    const target = judgeTargets(merged.parts).find(({ what }) => what.startsWith('HTTP, key'));
    expect(target).toMatchObject({ outcome: 'not measured', value: null });
  });

  it('of another machine is left alone', () => {
    const first = report({ memory: measured('a', []) });
    const other = { ...first, machine: { ...first.machine, cores: first.machine.cores + 1 } };
    writeFileSync(join(folder, `${nameReport(other)}.json.gz`), renderReport(other));
    expect(mergeWithEarlier(folder, report({})).parts).toEqual({});
  });

  it('of a short run has a name of its own', () => {
    expect(nameReport({ ...report({}), isQuick: true })).toMatch(/-peers-quick$/);
  });

  it('says on its page what was missed', () => {
    const slow = { ...shares, withoutModel: summariseLatencies([1.5]) };
    const page = writePage(report({ shares: measured('a', slow) })).markdown;
    expect(page).toMatch(/\| HTTP, key.*\| ≤ 1 ms \| 1\.50 \| \*\*missed\*\* \|/);
    expect(page).not.toMatch(/undefined|NaN|Infinity/);
  });
});

describe('the page', () => {
  it('says which parts were measured while the machine was not quiet', () => {
    const noisy = { ...measured('a', []), othersShare: 0.31 };
    const page = writePage(report({ memory: noisy, shares: { ...measured('a', shares), othersShare: 0.01 } })).markdown;
    expect(page).toContain('**The machine was not quiet (`--noisy`): figures of memory are not for quoting.**');
    expect(page).toMatch(/\| memory \| a \| .* \| 31.0 % \|/);
    const quiet = { ...measured('a', []), othersShare: 0.01 };
    expect(writePage(report({ memory: quiet })).markdown).not.toContain('(`--noisy`)');
  });

  it('says so where the system does not tell what others used', () => {
    const unknown = { ...measured('a', []), othersShare: null };
    expect(writePage(report({ memory: unknown })).markdown).toContain('not quiet (`--noisy`)');
  });

  it('tells which cells were left out, for whom and why', () => {
    const leftOut = [{ peer: 'plain', load: 'embed-64', concurrency: 4, requestMs: 2000, sliceMs: 22_000 }];
    const part = {
      servers: [],
      answers: [],
      classes: [],
      rounds: 1,
      sliceMs: 1,
      cells: [CELL],
      leftOut: [],
      costs: [],
    };
    const page = writePage(report({ embeddings: measured('a', { ...part, leftOut }) })).markdown;
    expect(page).toMatch(
      /Left out, because.*\n\n.*a slice would take, s \|\n.*\n\| embed-64 \| 4 \| plain \| 2000 \| 22 \|/,
    );
    expect(writePage(report({ embeddings: measured('a', part) })).markdown).not.toContain('Left out');
  });

  it('has the fits of time against length and questions with their R²', () => {
    const points = [1, 2, 4, 8].map((questions) => {
      return { peer: 'umpire', stateTokens: 512, questions, p50Ms: 10 + 3 * questions, samples: 1 };
    });
    const figures = { servers: [], answers: [], classes: [], points, lines: fitLines(points) };
    const page = writePage(report({ scaling: measured('a', figures) })).markdown;
    expect(page).toMatch(/\| umpire \| questions, 512 tokens \| 10 \| 3 \| 1.0000 \| 1.0000 \| -?0.0 % \| yes \|/);
  });

  it('has the two ways to split the cores', () => {
    const classes = [{ id: 'short', title: '128 tokens' }];
    const cells = Object.keys(splitServers(2)).map((peer) => ({ ...CELL, peer }));
    const page = writePage(report({ splits: measured('a', { rounds: 1, sliceMs: 1, classes, cells }) })).markdown;
    expect(page).toMatch(/\| short \| 1 \| 2 × 1 \| .*\n\| short \| 1 \| 1 × 2 \|/);
  });
});

describe('cost', () => {
  it('is that of the concurrency with the most tokens per second', () => {
    const cells = [
      { ...CELL, tokensPerSecond: 5000 },
      { ...CELL, concurrency: 8, tokensPerSecond: 20_000 },
      { ...CELL, concurrency: 64, tokensPerSecond: 19_000 },
    ];
    const [cost, ...rest] = listCosts(cells, 0.36);
    expect(rest).toEqual([]);
    expect(cost).toMatchObject({ concurrency: 8, tokensPerSecond: 20_000 });
    // 20,000 tokens a second are 72 million an hour.
    expect(cost?.usdPerMillionTokens).toBeCloseTo(0.005, 12);
  });
});

describe('a table in Markdown', () => {
  it('puts numbers to the right and escapes what would end a cell', () => {
    const table = markdownTable([
      ['what', 'ms'],
      ['a|b', 12.345],
      ['none', Number.NaN],
    ]);
    expect(table.split('\n')).toEqual(['| what | ms |', '| --- | ---: |', '| a\\|b | 12.3 |', '| none | – |']);
  });

  it('without rows says that there are none', () => {
    expect(markdownTable([['what']])).toBe('None.');
  });
});
