// The comparison: starts every server, compares their answers, measures them in turns, and writes a page, its figures and its
// plots. Nothing of a part is written during which the machine was not quiet, unless --noisy allows it.
// npm run bench:peers [-- --quick] [--noisy] [--only PARTS] [--peers IDS] [--rounds N] [--concurrency LIST] [--usd-per-hour X] [--environments DIR] [--out DIR]

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { Loads } from './load/loads.ts';
import { DECISION_MODEL, EMBEDDING_MODEL, type Task } from './load/workload.ts';
import { describeMachine, describeVersions, listSettings, ROOT, readLoad } from './machine/machine.ts';
import { expectQuiet, QuietWatch, requireQuiet } from './machine/quiet.ts';
import { reportFault } from './machine/told-fault.ts';
import { writePage } from './pages/page.ts';
import { mergeWithEarlier, nameReport, type PeersReport, renderReport } from './pages/peers-report.ts';
import { judgeTargets } from './pages/targets.ts';
import { type ComparedServers, withComparedServers } from './parts/compared.ts';
import { type Figures, type Measured, PART_NAMES, PARTS, type PartName, type Parts } from './parts/parts.ts';
import { Fleet } from './servers/fleet.ts';
import { DEFAULT_ENVIRONMENTS } from './servers/python-program.ts';
import { listPythonServers } from './servers/python-servers.ts';
import type { Server } from './servers/server.ts';
import { umpire, WITHOUT_CACHES } from './servers/umpire.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    noisy: { type: 'boolean', default: false },
    only: { type: 'string', default: PART_NAMES.join(',') },
    peers: { type: 'string' },
    rounds: { type: 'string' },
    concurrency: { type: 'string' },
    // Of a machine of two cores like the one it is measured on, as clouds rent them by the hour.
    'usd-per-hour': { type: 'string', default: '0.10' },
    environments: { type: 'string', default: DEFAULT_ENVIRONMENTS },
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

/** In the order of the tables: ours, then each of the others as its users write it, then tuned. */
function pickServers(): Server[] {
  const servers = [umpire({ settings: WITHOUT_CACHES }), ...listPythonServers(resolve(values.environments))];
  const ids = servers.map(({ id }) => id);
  const wanted = values.peers === undefined ? ids : pickNames('peers', values.peers, ids);
  return servers.filter(({ id }) => wanted.includes(id));
}

const manifestSchema = z.object({ price: z.object({ input_micro_usd_per_million_tokens: z.number() }) });

/** What a shipped model asks for a million tokens of input. */
function readPrice(model: string): number {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'models', model, 'model.json'), 'utf8'));
  return manifestSchema.parse(manifest).price.input_micro_usd_per_million_tokens / 1e6;
}

const parts: { -readonly [Name in PartName]?: Parts[Name] } = {};
const wanted = pickNames('only', values.only, PART_NAMES);
const rounds = values.rounds === undefined ? undefined : readNumber('rounds', values.rounds);
const effort = <T>(full: T, quick: T): T => (values.quick ? quick : full);
const bench = {
  loads: await Loads.open(),
  usdPerHour: readNumber('usd-per-hour', values['usd-per-hour']),
  environments: resolve(values.environments),
  concurrencies:
    values.concurrency?.split(',').map((text) => readNumber('concurrency', text)) ??
    effort([1, 2, 4, 8, 16, 32, 64], [1, 8]),
  effort,
  rounds: (full: number, quick: number) => rounds ?? effort(full, quick),
  say,
};
const ALONE: ComparedServers = { fleet: new Fleet([]), compared: () => ({ servers: [], answers: [] }) };

async function measurePart(name: PartName, servers: ComparedServers): Promise<void> {
  say(`${name} …`);
  const [startedAt, partMs, loadBefore] = [new Date().toISOString(), performance.now(), readLoad()];
  const watch = new QuietWatch();
  const figures: Figures[PartName] = await PARTS[name].measure({ ...bench, ...servers });
  const othersShare = watch.othersShare();
  requireQuiet(othersShare, values.noisy);
  const [tookMs, versions] = [performance.now() - partMs, describeVersions()];
  const measured: Measured<typeof figures> = { startedAt, tookMs, versions, loadBefore, othersShare, figures };
  Object.assign(parts, { [name]: measured });
  // At once: what was measured before a fault is kept, for parts stand for themselves.
  writeReport();
}

/** @returns the page */
function writeReport(): string {
  const folder = resolve(values.out);
  const merged = mergeWithEarlier(folder, { ...head, parts, targets: [] });
  const report: PeersReport = { ...merged, targets: judgeTargets(merged.parts) };
  const name = nameReport(report);
  const { markdown, plots } = writePage(report);
  mkdirSync(folder, { recursive: true });
  const files = [[`${name}.json.gz`, renderReport(report)], [`${name}.md`, markdown], ...plots] as const;
  for (const [file, content] of files) writeFileSync(join(folder, file), content);
  say(`written: ${join(folder, `${name}.md`)}`);
  return markdown;
}

/** Those for which the same servers run beside each other are of one start of these. */
async function measureTogether(task: Task | undefined, names: readonly PartName[]): Promise<void> {
  const measure = async (servers: ComparedServers): Promise<void> => {
    for (const name of names) await measurePart(name, servers);
  };
  if (task === undefined) return await measure(ALONE);
  const servers = pickServers().filter(({ tasks }) => tasks.includes(task));
  await withComparedServers({ servers, classes: bench.loads.classesOf(task), say }, measure);
}

const head = {
  format: 1,
  startedAt: new Date().toISOString(),
  isQuick: values.quick,
  machine: describeMachine(),
  settings: listSettings(),
  usdPerHour: bench.usdPerHour,
  prices: Object.fromEntries([DECISION_MODEL, EMBEDDING_MODEL].map((model) => [model, readPrice(model)])),
} as const;
await reportFault(async () => {
  await expectQuiet(values.noisy);
  for (const [task, names] of Map.groupBy(wanted, (name) => PARTS[name].task)) await measureTogether(task, names);
  process.stdout.write(writeReport());
});
