// What a learning under way costs those who ask meanwhile: `npm run bench:learning-beside [-- --turns 8] [--seconds 5]`. A server
// learns a model from rows while one caller, and then four, ask it for decisions. The learning is held and let go by turns
// (SIGSTOP, SIGCONT), so that both sides have the same machine. Linux only.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { runClosedLoop } from './load/closed-loop.ts';
import { percentile } from './load/statistics.ts';
import {
  DECISION_MODEL,
  type DecisionBody,
  decisionJob,
  makeDecision,
  makeRandom,
  type Work,
} from './load/workload.ts';
import { type Cell, formatTable } from './pages/table.ts';
import { type Member, withServers } from './servers/fleet.ts';
import { umpire, WITHOUT_CACHES } from './servers/umpire.ts';

const { values } = parseArgs({
  options: { turns: { type: 'string', default: '8' }, seconds: { type: 'string', default: '5' } },
});
const TURNS = Number(values.turns);
const TURN_MS = 1000 * Number(values.seconds);
const CALLERS = [1, 4];
/** More than are read within the bench. */
const ROWS = 9000;
const STATE_TOKENS = 100;
const LEARNED_ID = 'beside';

const random = makeRandom(17);
const nextWork = (): Work => ({
  job: decisionJob({ stateTokens: STATE_TOKENS, questions: 2 }, random),
  tokens: STATE_TOKENS,
  group: 'short',
});

/** Rows of no meaning: what they cost is what is asked here. */
function makeOrder() {
  const { questions } = makeDecision({ stateTokens: STATE_TOKENS, questions: 1 }, random);
  const rows = Array.from({ length: ROWS }, (_, row) => {
    const { state } = makeDecision({ stateTokens: STATE_TOKENS, questions: 1 }, random);
    return {
      state,
      gold: Object.fromEntries(Object.entries(questions).map(([name, asked]) => [name, rightOf(asked, row)])),
    };
  });
  return { id: LEARNED_ID, model: DECISION_MODEL, questions, rows };
}

function rightOf(question: DecisionBody['questions'][string], row: number): unknown {
  if (question.type === 'noul') return row % 2 === 0;
  const options = Object.keys(question.criteria ?? {});
  return question.type === 'score' ? row % options.length : options[row % options.length];
}

/** Processes that learn, which the server started. */
function learners(member: Member): number[] {
  return member.process.pids().filter((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('learn-'));
}

async function askFor(member: Member, concurrency: number): Promise<readonly number[]> {
  const { latenciesMs } = await runClosedLoop({
    client: member.client,
    next: nextWork,
    concurrency,
    durationMs: TURN_MS,
  });
  return latenciesMs;
}

async function waitUntilReading({ client }: Member): Promise<void> {
  for (;;) {
    const { text } = await client.get(`/admin/v1/models/${LEARNED_ID}`);
    const { job } = JSON.parse(text) as { job?: { state: string; progress?: { step: string } } };
    if (job?.progress?.step === 'reading') return;
    if (job?.state === 'failed') throw new Error(`the learning failed: ${text}`);
    await sleep(100);
  }
}

await withServers({ umpire: umpire({ settings: WITHOUT_CACHES }) }, async ({ umpire: member }) => {
  await askFor(member, 2);
  const ordered = await member.client.post('/admin/v1/models', JSON.stringify(makeOrder()));
  if (ordered.status >= 300) throw new Error(`the order was answered with ${ordered.status}: ${ordered.text}`);
  await waitUntilReading(member);
  const table: Cell[][] = [['callers', 'learning', 'answers', 'p50 ms', 'p95 ms', 'p99 ms']];
  for (const callers of CALLERS) {
    const times = { held: [] as number[], 'under way': [] as number[] };
    for (let turn = 0; turn < 2 * TURNS; turn++) {
      // Each is first every other time.
      const isHeld = (turn + Math.floor(turn / 2)) % 2 === 0;
      for (const pid of learners(member)) process.kill(pid, isHeld ? 'SIGSTOP' : 'SIGCONT');
      times[isHeld ? 'held' : 'under way'].push(...(await askFor(member, callers)));
    }
    for (const [learning, ms] of Object.entries(times)) {
      table.push([callers, learning, ms.length, ...[0.5, 0.95, 0.99].map((share) => percentile(ms, share))]);
    }
  }
  const { text } = await member.client.get(`/admin/v1/models/${LEARNED_ID}`);
  const { job } = JSON.parse(text) as { job?: { state: string } };
  for (const pid of learners(member)) process.kill(pid, 'SIGCONT');
  process.stdout.write(`${formatTable(table)}\n\nThe learning at the end: ${job?.state}\n`);
});
