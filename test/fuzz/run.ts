// npm run fuzz [-- --seconds 60] [--seed N] [--store sqlite|postgres|both] [--kinds raw,http,bodies] [--stall-ms 100]
// npm run fuzz -- --seed N --cases 12,40   sends these cases of a run alone, over and over.
// Prints what it did and every fault with the case behind it; exits 1 when there is one.

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { CASE_KINDS } from './cases.ts';
import { STORE_NAMES, type StoreName } from './faulty-store.ts';
import { type FuzzOptions, type FuzzReport, runFuzz } from './fuzz-run.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 31)) },
    store: { type: 'string', default: 'both' },
    kinds: { type: 'string', default: CASE_KINDS.join(',') },
    cases: { type: 'string', default: '' },
    'stall-ms': { type: 'string', default: '100' },
  },
});

const number = z.coerce.number();
const seconds = number.positive().parse(values.seconds);
const seed = number.int().min(0).parse(values.seed);
const stallLimitMs = number.positive().parse(values['stall-ms']);
const kinds = z.array(z.enum(CASE_KINDS)).min(1).parse(values.kinds.split(','));
const cases = z.array(number.int().min(0)).parse(values.cases === '' ? [] : values.cases.split(','));
const stores = values.store === 'both' ? STORE_NAMES : [z.enum(STORE_NAMES).parse(values.store)];

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function list(counts: ReadonlyMap<number | string, number>): string {
  const entries = [...counts].sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, times]) => `${name} ×${times}`).join(', ');
}

function tell(store: StoreName, report: FuzzReport): void {
  const { faults, paid, peakBytes } = report;
  say(`== ${store}: ${report.cases} cases, ${paid.answered} paid answers, ${paid.cut} cut, ${paid.rows} rows`);
  say(`statuses: ${list(report.statuses)}`);
  say(`failures: ${list(report.failures) || 'none'}`);
  const { work, blocked, waiting } = report.longestMs;
  say(
    `longest stalls: ${[work, blocked, waiting].map((ms) => ms.toFixed(0)).join(', ')} ms (work, blocked, for want of a core)`,
  );
  if (peakBytes !== undefined) say(`peak of memory: ${Math.round(peakBytes / 2 ** 20)} MiB`);
  for (const fault of faults) say(`FAULT ${fault}`);
  if (faults.length === 0) return;
  const file = join(tmpdir(), `umpire-fuzz-${store}-${seed}.log`);
  writeFileSync(file, report.log);
  say(`The server's log: ${file}`);
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

say(`seed ${seed}`);
let faults = 0;
for (const store of stores) {
  const options: FuzzOptions = { seed, store, seconds: seconds / stores.length, kinds, cases, stallLimitMs };
  const report = await runFuzz(options);
  tell(store, report);
  faults += report.faults.length;
}
const again = `npm run fuzz -- --seed ${seed} --kinds ${values.kinds} --store ${values.store} --cases N`;
say(faults === 0 ? 'nothing found' : `${faults} faults; a case again: ${again}`);
process.exitCode = faults === 0 ? 0 : 1;
