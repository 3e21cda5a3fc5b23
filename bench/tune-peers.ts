// Looks for the settings with which a Python server is fastest on this machine, and prints all that were tried.
// node bench/tune-peers.ts decisions|infinity|sentence-transformers [--environments DIR] [--rounds N] [--seconds N] [--only PATTERN]

import { parseArgs } from 'node:util';
import { joinRuns, runClosedLoop } from './load/closed-loop.ts';
import { median } from './load/statistics.ts';
import { decisionJob, type Job, makeDocument, makeMixedInputs } from './load/workload.ts';
import { sumCpuMs } from './machine/processes.ts';
import { formatTable } from './pages/table.ts';
import { type Fleet, type Member, withServers } from './servers/fleet.ts';
import { DEFAULT_ENVIRONMENTS } from './servers/python-program.ts';
import { FAMILIES, listCandidates } from './servers/python-servers.ts';
import { umpire, WITHOUT_CACHES } from './servers/umpire.ts';

interface Load {
  readonly name: string;
  readonly concurrency: number;
  readonly makeJob: () => Job;
}

const decide = (stateTokens: number) => () => decisionJob({ stateTokens, questions: 1, kind: 'choice' });
const embed = (makeInputs: () => string[]) => (): Job => ({ task: 'embedding', inputs: makeInputs() });
const LOADS: Readonly<Record<Job['task'], readonly Load[]>> = {
  decision: [
    { name: '128 × 1', concurrency: 1, makeJob: decide(128) },
    { name: '128 × 8', concurrency: 8, makeJob: decide(128) },
    { name: '512 × 8', concurrency: 8, makeJob: decide(512) },
  ],
  embedding: [
    { name: '1 × 16, 8 clients', concurrency: 8, makeJob: embed(() => [makeDocument(16)]) },
    { name: '32 × 8–248, 4 clients', concurrency: 4, makeJob: embed(makeMixedInputs) },
  ],
};

type Sample = Awaited<ReturnType<typeof measure>>;

async function measure({ server, client, process: running }: Member, load: Load, durationMs: number) {
  const { concurrency, makeJob } = load;
  const cpuBeforeMs = sumCpuMs(running.pids());
  const next = () => ({ job: makeJob(), tokens: 0, group: '' });
  const run = await runClosedLoop({ client, next, concurrency, durationMs, leastReplies: 1, maxMs: 4 * durationMs });
  const { requestsPerSecond, latency, errors } = joinRuns([run]);
  if (errors > 0) throw new Error(`${server.title}: ${errors} requests failed.`);
  /** What the server's processes spent, per request, those of the ramp too: hardly moved by what else the machine does. */
  const cpuMs = (sumCpuMs(running.pids()) - cpuBeforeMs) / (latency.samples + concurrency);
  return { requestsPerSecond, p99Ms: latency.p99Ms, cpuMs };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    environments: { type: 'string', default: DEFAULT_ENVIRONMENTS },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
});
const family = FAMILIES[positionals[0] ?? ''];
if (family === undefined) throw new Error(`Say which of ${Object.keys(FAMILIES).join(', ')}.`);
const loads = LOADS[family.program.task];
const [rounds, durationMs] = [Number(values.rounds), Number(values.seconds) * 1000];
const say = (text: string): void => void process.stderr.write(`${text}\n`);
// Ours first, to see what the settings are worth beside it. Titles of settings are no names of folders.
const servers = [umpire({ settings: WITHOUT_CACHES }), ...listCandidates(family, values.environments)].filter(
  ({ title }) => new RegExp(values.only).test(title),
);

const measureAll = async (fleet: Fleet): Promise<void> => {
  const samples = loads.map(() => new Map<string, Sample[]>());
  // The round before the first is for warming up.
  for (let round = 0; round <= rounds; round++) {
    for (const [place, load] of loads.entries()) {
      const found = await fleet.inTurns(1, (member) => measure(member, load, round === 0 ? 1000 : durationMs));
      for (const [name, some] of round > 0 ? found : [])
        samples[place]?.set(name, [...(samples[place].get(name) ?? []), ...some]);
    }
    say(`round ${round} of ${rounds}`);
  }
  const head = ['settings', ...loads.flatMap(({ name }) => [`${name} /s`, 'p99 ms', 'CPU ms']), 'MB'];
  const rows = fleet.members.map(({ name, server, process: running }) => [
    server.title,
    ...samples.flatMap((ofLoad) => {
      const medianOf = (figure: keyof Sample): number => median((ofLoad.get(name) ?? []).map((one) => one[figure]));
      return [medianOf('requestsPerSecond'), medianOf('p99Ms'), medianOf('cpuMs')];
    }),
    Math.round((running.proportionalBytes() ?? Number.NaN) / 1e6),
  ]);
  process.stdout.write(`${formatTable([head, ...rows])}\n`);
};
await withServers(Object.fromEntries(servers.entries()), (_, fleet) => measureAll(fleet), { say });
