// Targets are judged by what was measured: missed is said missed, and what was not measured is neither.

import { describe, expect, it } from 'vitest';
import { summariseOutcomes } from '../../../bench/load/goodput.ts';
import { summariseLatencies } from '../../../bench/load/statistics.ts';
import { describeVersions } from '../../../bench/machine/machine.ts';
import { type JudgedTarget, judgeTarget } from '../../../bench/pages/target.ts';
import { judgeTargets } from '../../../bench/pages/targets.ts';
import type { ClosedCell, ClosedFigures } from '../../../bench/parts/closed.ts';
import type { ServerFigures } from '../../../bench/parts/compared.ts';
import type { OpenCell, OpenFigures } from '../../../bench/parts/open.ts';
import type { Measured, Parts } from '../../../bench/parts/parts.ts';

function measured<T>(figures: T): Measured<T> {
  return { startedAt: '2026-11-21T00:00:00Z', tookMs: 1, versions: describeVersions(), loadBefore: 0, figures };
}

function server(id: string, kind: ServerFigures['kind']): ServerFigures {
  const readyMs = { firstMs: 1, secondMs: 1 };
  return {
    id,
    title: id,
    kind,
    settings: {},
    versions: {},
    readyMs,
    startedBytes: null,
    loadedBytes: null,
    idleShare: 0,
  };
}

const SERVERS = [
  server('umpire', 'ours'),
  server('plain', 'as-written'),
  server('fast', 'tuned'),
  server('slow', 'tuned'),
];

/** @param rates requests per second of each slice */
function cell(peer: string, load: string, { rates, p99Ms = 100 }: { rates: number[]; p99Ms?: number }): ClosedCell {
  const mean = rates.reduce((total, rate) => total + rate, 0) / rates.length;
  return {
    peer,
    load,
    concurrency: 8,
    requestsPerSecond: mean,
    requestsPerSecondBySlice: rates,
    tokensPerSecond: 100 * mean,
    latency: summariseLatencies([p99Ms]),
    refused: 0,
    errors: 0,
    clientShare: 0,
    cpuMs: 1,
  };
}

function closedPart(cells: ClosedCell[]): Measured<ClosedFigures> {
  return measured({ servers: SERVERS, answers: [], classes: [], rounds: 1, sliceMs: 1, leftOut: [], cells, costs: [] });
}

function openPart(cells: OpenCell[]): Measured<OpenFigures> {
  const part = { servers: SERVERS, answers: [], classes: [], rounds: 1, sliceMs: 1, capacities: [], bursts: [], cells };
  return measured(part);
}

function openCell(share: number, answersMs: readonly number[], refusalsMs: readonly number[] = []): OpenCell {
  const at = { group: 'a', plannedMs: 0, sentMs: 0 };
  const outcomes = [
    ...answersMs.map((endedMs) => ({ ...at, endedMs, ending: { kind: 'answered' } as const })),
    ...refusalsMs.map((endedMs) => ({ ...at, endedMs, ending: { kind: 'refused', retryAfterMs: 1 } as const })),
  ];
  return { peer: 'umpire', load: 'short', hasDeadline: true, share, ...summariseOutcomes(outcomes, 1000) };
}

function find(parts: Parts, ...words: readonly string[]): JudgedTarget {
  const found = judgeTargets(parts).filter(({ what }) => words.every((word) => what.includes(word)));
  expect(found).toHaveLength(1);
  return found[0] as JudgedTarget;
}

describe('a target', () => {
  it('is reached at its very value, and missed beyond it', () => {
    expect(judgeTarget('p50', ['≤', 10, 'ms'], { value: 10 }).outcome).toBe('reached');
    expect(judgeTarget('p50', ['≤', 10, 'ms'], { value: 10.001 }).outcome).toBe('missed');
    expect(judgeTarget('p50', ['≥', 10, 'ms'], { value: 9.999 }).outcome).toBe('missed');
  });

  it('that has no figure is not measured', () => {
    for (const value of [undefined, Number.NaN])
      expect(judgeTarget('p50', ['≤', 10, 'ms'], { value })).toMatchObject({ outcome: 'not measured', value: null });
    expect(new Set(judgeTargets({}).map(({ outcome }) => outcome))).toEqual(new Set(['not measured']));
  });
});

describe('decisions beside other servers', () => {
  const cells = [
    cell('umpire', 'short', { rates: [90, 30, 90], p99Ms: 60 }),
    cell('plain', 'short', { rates: [50, 15, 50] }),
    cell('fast', 'short', { rates: [80, 28, 80] }),
    cell('slow', 'short', { rates: [10, 10, 10] }),
  ];
  const parts = { decisions: closedPart(cells) };

  it('are compared round by round with the plain server and with the best of the tuned ones', () => {
    expect(find(parts, 'short', 'over the plain', 'requests/s')).toMatchObject({ value: 1.8, outcome: 'reached' });
    const tuned = find(parts, 'short', 'best-tuned');
    expect(tuned).toMatchObject({ outcome: 'missed', note: 'fast' });
    expect(tuned.value).toBeCloseTo(1.125, 12);
  });

  it('are slower than half its p99, and it is said', () => {
    expect(find(parts, 'decisions, short', 'p99')).toMatchObject({ value: 0.6, outcome: 'missed' });
  });

  it('are not judged where a class was not measured', () => {
    expect(find(parts, 'mix', 'best-tuned').outcome).toBe('not measured');
  });
});

describe('embeddings beside other servers', () => {
  it('take the best concurrency of each, tuned peers apart from defaults', () => {
    const cells = [
      { ...cell('umpire', 'embed-8', { rates: [10] }), tokensPerSecond: 3000 },
      { ...cell('umpire', 'embed-8', { rates: [10] }), concurrency: 1, tokensPerSecond: 4000 },
      { ...cell('plain', 'embed-8', { rates: [10] }), tokensPerSecond: 2100 },
      { ...cell('slow', 'embed-8', { rates: [10] }), tokensPerSecond: 3200 },
    ];
    const parts = { embeddings: closedPart(cells) };
    expect(find(parts, 'embed-8', 'tuned')).toMatchObject({ value: 1.25, outcome: 'reached', note: 'slow' });
    expect(find(parts, 'embed-8', 'defaults')).toMatchObject({ outcome: 'missed', note: 'plain' });
  });
});

describe('models of hubs beside other servers', () => {
  it('are judged at each load by whichever other does best there, and not at all where they were not measured', () => {
    const cells = [
      cell('umpire', '20 words', { rates: [12, 10] }),
      cell('plain', '20 words', { rates: [10, 12.5] }),
      cell('slow', '20 words', { rates: [5, 5] }),
      cell('umpire', '300 words', { rates: [3] }),
      cell('fast', '300 words', { rates: [2] }),
    ];
    const figures = { servers: SERVERS, answers: [], rounds: 2, sliceMs: 1, cells };
    const judged = judgeTargets({ 'judge-fp32': measured(figures) }).filter(({ what }) => /judge|embedder/.test(what));
    expect(judged).toMatchObject([
      { what: expect.stringContaining('20 words'), value: 1, outcome: 'reached', note: 'plain' },
      { what: expect.stringContaining('300 words'), value: 1.5, outcome: 'reached', note: 'fast' },
    ]);
  });
});

describe('overload', () => {
  it('is judged by the best goodput of any load and by the slowest refusal', () => {
    const parts = { open: openPart([openCell(1, [10, 10, 10, 10]), openCell(2, [10, 10, 10, 500], [3, 11])]) };
    expect(find(parts, 'short at 2', 'goodput')).toMatchObject({ value: 0.75, outcome: 'missed' });
    expect(find(parts, 'short at 2', 'slowest refusal')).toMatchObject({ value: 11, outcome: 'missed' });
  });

  it('in which nobody was refused says so', () => {
    const parts = { open: openPart([openCell(2, [10])]) };
    const target = find(parts, 'short at 2', 'slowest refusal');
    expect(target).toMatchObject({ outcome: 'not measured', note: 'nobody was refused' });
  });
});

describe('memory of a second worker', () => {
  it('is the difference under load, without kept documents', () => {
    const row = (workers: number, loadedBytes: number, keepsDocuments = false) => {
      return { workers, keepsDocuments, startedBytes: 1, loadedBytes };
    };
    const memory = measured([row(1, 200e6), row(2, 261e6), row(2, 900e6, true)]);
    expect(find({ memory }, 'second worker')).toMatchObject({ value: 61, outcome: 'missed' });
  });
});
