// The comparison: starts every server, compares their answers, measures them in turns, and writes a page, its figures and its
// plots.
// npm run bench:peers [-- --quick] [--only PARTS] [--peers IDS] [--rounds N] [--concurrency LIST] [--usd-per-hour X] [--environments DIR] [--out DIR]

import { loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openTokenizer } from '../src/runtime/tokenizer/open-tokenizer.ts';
import { Loads } from './load/loads.ts';
import { DECISION_MODEL } from './load/workload.ts';
import { describeMachine, describeVersions, listSettings } from './pages/hardware.ts';
import { writePage } from './pages/page.ts';
import {
  type Figures,
  mergeWithEarlier,
  nameReport,
  PART_NAMES,
  type PartName,
  type Parts,
  type PeersReport,
  writeFile,
} from './pages/peers-report.ts';
import { drawPlots } from './pages/plots.ts';
import { judgeTargets } from './pages/targets.ts';
import { measureBareLimit } from './parts/bare-limit.ts';
import { type CompareOptions, compareServers } from './parts/compare.ts';
import { readPrices } from './parts/cost.ts';
import { type Effort, planEffort } from './parts/effort.ts';
import { measureKeptDocuments } from './parts/kept-document.ts';
import { measureShares } from './parts/shares.ts';
import { measureSplits } from './parts/splits.ts';
import { measureWorkerMemory } from './parts/worker-memory.ts';
import type { Peer } from './servers/peer.ts';
import { listPeers } from './servers/peers.ts';
import { DEFAULT_ENVIRONMENTS_FOLDER } from './servers/python-environment.ts';
import { ROOT } from './servers/started-peer.ts';

/** Of a machine of two cores like the one it is measured on, as clouds rent them by the hour; `--usd-per-hour` says otherwise. */
const DEFAULT_USD_PER_HOUR = '0.10';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string', default: PART_NAMES.join(',') },
    peers: { type: 'string' },
    rounds: { type: 'string' },
    concurrency: { type: 'string' },
    'usd-per-hour': { type: 'string', default: DEFAULT_USD_PER_HOUR },
    environments: { type: 'string', default: DEFAULT_ENVIRONMENTS_FOLDER },
    out: { type: 'string', default: join(ROOT, 'bench', 'results') },
  },
});

const startedMs = performance.now();

function say(text: string): void {
  const minutes = ((performance.now() - startedMs) / 60_000).toFixed(1);
  process.stderr.write(`${minutes.padStart(5)} min  ${text}\n`);
}

function readNumber(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${option} must be a number above 0, not ${text}.`);
  return value;
}

/** @throws if one is not known */
function pickNames<Name extends string>(option: string, wanted: string, known: readonly Name[]): Name[] {
  const names = wanted.split(',').map((name) => name.trim());
  const stranger = names.find((name) => !known.some((other) => other === name));
  if (stranger !== undefined) throw new Error(`--${option} ${stranger}: known are ${known.join(', ')}.`);
  return known.filter((name) => names.includes(name));
}

function pickPeers(): Peer[] {
  const peers = listPeers({ environmentsFolder: resolve(values.environments) });
  const ids = peers.map(({ id }) => id);
  const wanted = values.peers === undefined ? ids : pickNames('peers', values.peers, ids);
  return peers.filter(({ id }) => wanted.includes(id));
}

/** Measures what was asked for and keeps it, with the moment and the versions. */
class Run {
  readonly parts: { -readonly [Name in PartName]?: Parts[Name] } = {};
  readonly wanted = pickNames('only', values.only, PART_NAMES);

  isWanted(...names: readonly PartName[]): boolean {
    return names.some((name) => this.wanted.includes(name));
  }

  readonly part = async <Name extends PartName>(name: Name, measure: () => Promise<Figures[Name]>): Promise<void> => {
    if (!this.isWanted(name)) return;
    say(`${name} …`);
    const [startedAt, partMs] = [new Date().toISOString(), performance.now()];
    const loadBefore = loadavg()[0] ?? Number.NaN;
    const figures = await measure();
    const measured = {
      startedAt,
      tookMs: performance.now() - partMs,
      versions: describeVersions(),
      loadBefore,
      figures,
    };
    Object.assign(this.parts, { [name]: measured });
    // At once: what was measured before a fault is kept, for parts stand for themselves.
    writeReport({ ...head, parts: this.parts, targets: [] });
  };
}

async function openLoads(): Promise<Loads> {
  const tokenizer = await openTokenizer(join(ROOT, 'models', DECISION_MODEL));
  return new Loads((text) => tokenizer.encode(text).length);
}

async function measureComparisons(run: Run, rest: Omit<CompareOptions, 'task' | 'part'>): Promise<void> {
  const { part } = run;
  if (run.isWanted('decisions', 'open', 'scaling')) await compareServers({ ...rest, task: 'decision', part });
  if (run.isWanted('embeddings')) await compareServers({ ...rest, task: 'embedding', part });
}

async function measureOurs({ part }: Run, loads: Loads, effort: Effort): Promise<void> {
  await part('kept', () => measureKeptDocuments(effort.keptPairs));
  const { shareRounds, shareSamples: samplesPerRound, rounds, sliceMs } = effort;
  await part('shares', () => measureShares({ loads, rounds: shareRounds, samplesPerRound }));
  await part('bare', () => measureBareLimit(effort.bareRounds, effort.bareMs));
  await part('memory', () => measureWorkerMemory(loads, effort.memoryLoadMs));
  await part('splits', () => measureSplits({ loads, rounds, sliceMs, say }));
}

/** @returns the page */
function writeReport(report: PeersReport): string {
  const folder = resolve(values.out);
  const merged = mergeWithEarlier(folder, report);
  const judged: PeersReport = { ...merged, targets: judgeTargets(merged.parts) };
  const name = nameReport(judged);
  const plots = drawPlots(judged);
  const page = writePage(judged, plots);
  writeFile(folder, `${name}.json`, `${JSON.stringify(judged, null, 1)}\n`);
  for (const { suffix, svg } of plots) writeFile(folder, `${name}-${suffix}.svg`, svg);
  say(`written: ${writeFile(folder, `${name}.md`, page)}`);
  return page;
}

const run = new Run();
const usdPerHour = readNumber('usd-per-hour', values['usd-per-hour']);
const rounds = values.rounds === undefined ? undefined : readNumber('rounds', values.rounds);
const planned = planEffort(values.quick, rounds);
const concurrencies = values.concurrency?.split(',').map((text) => readNumber('concurrency', text));
const effort: Effort = concurrencies === undefined ? planned : { ...planned, concurrencies };
const head = {
  format: 1,
  startedAt: new Date().toISOString(),
  isQuick: values.quick,
  machine: describeMachine(),
  settings: listSettings(),
  usdPerHour,
  prices: readPrices(),
} as const;
const loads = await openLoads();
await measureComparisons(run, { peers: pickPeers(), loads, effort, usdPerHour, say });
await measureOurs(run, loads, effort);
process.stdout.write(writeReport({ ...head, parts: run.parts, targets: [] }));
