// The process that learns. Loaded in a process of its own alone: it gives way to everybody, says what it finds to whoever
// started it, and ends with it. It writes nothing before it is told to, and says nothing that is a text of a row.

import { AppError } from '../../domain/errors.ts';
import { LearnError } from '../../learning/learn-error.ts';
import type { LearnNews, LearnOutcome } from '../../learning/learn-order.ts';
import { createLogger } from '../../observability/logger.ts';
import type { LabelledRow } from '../../quality/labelled-row.ts';
import { ModelBusyError } from '../../runtime/model-folder/model-lock.ts';
import { StartError } from '../../runtime/start-error.ts';
import type { LearningError } from '../../services/learning/learning-job.ts';
import type { ChildNews, ChildOrder } from './child-messages.ts';
import { learnModel } from './learn-model.ts';
import { giveWay } from './lowest-priority.ts';
import { withoutTexts } from './textless-report.ts';

const BETWEEN_NEWS_MS = 100;
const MOST_FAULTS_TOLD = 10;

giveWay();
// A terminal and a supervisor tell the whole group. Whoever started this one decides when it ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => undefined);
// Nobody is left who could tell how it ended. An exit would wait for a run of the model.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const rows: LabelledRow[] = [];
let begun: Extract<ChildOrder, { kind: 'begin' }> | undefined;
const allowed = Promise.withResolvers<void>();

process.on('message', (order: ChildOrder) => {
  switch (order.kind) {
    case 'begin':
      begun = order;
      break;
    case 'rows':
      rows.push(...order.rows);
      break;
    case 'learn':
      void learn();
      break;
    case 'write':
      allowed.resolve();
  }
});

async function learn(): Promise<void> {
  await say(await carryOut());
  // Its threads are idle by now, or never began.
  process.exit(0);
}

async function carryOut(): Promise<ChildNews> {
  try {
    const { written } = await runOrder();
    if (written !== undefined) return { kind: 'written', digest: written.digest };
    return failed({ code: 'nothing_gained', message: 'No question is answered better than without it.' });
  } catch (error) {
    const expected = describe(error);
    return expected === undefined ? unexpected(error) : failed(expected);
  }
}

async function runOrder(): Promise<LearnOutcome> {
  if (begun === undefined) throw new Error('nothing was ordered');
  const { order, config } = begun;
  const { modelId: id, ...wanted } = order;
  return await learnModel(
    { ...wanted, id, rows, renames: [], replaces: true, isTrial: false },
    {
      config,
      now: new Date(),
      // Whoever wants it to end, ends the process.
      signal: new AbortController().signal,
      logger: createLogger({ level: 'silent', format: 'json' }),
      tell,
      onReport: async (report) => {
        await say({ kind: 'report', report: withoutTexts(report, rows) });
        await allowed.promise;
      },
    },
  );
}

let toldMs = 0;

/** Of thousands of documents not each: nobody asks that often. */
function tell(news: LearnNews): void {
  if (news.kind !== 'step') return;
  const { step, done, total } = news;
  const nowMs = performance.now();
  if (nowMs - toldMs < BETWEEN_NEWS_MS && done > 0 && done < total) return;
  toldMs = nowMs;
  void say({ kind: 'progress', progress: { step, done, total } });
}

function describe(error: unknown): LearningError | undefined {
  if (error instanceof LearnError) return { code: error.code, message: tellLearnError(error) };
  if (error instanceof ModelBusyError) return { code: 'model_busy', message: error.message };
  if (error instanceof StartError) return { code: 'cannot_start', message: error.message };
  if (error instanceof AppError && !error.quotesCaller) return { code: 'invalid_rows', message: error.message };
  return undefined;
}

const OTHER_BASE = [
  'The base, or the embedder, is not the one that the earlier rows were read by.',
  'Learn the model anew from all rows, without `more`.',
].join(' ');

function tellLearnError({ code, message, faults }: LearnError): string {
  if (code === 'base_changed') return OTHER_BASE;
  const [first = ''] = message.split('\n');
  const told = faults.slice(0, MOST_FAULTS_TOLD).map((one) => `rows[${one.line - 1}]: ${one.message}`);
  return [first, ...told].join(' ');
}

function failed(error: LearningError): ChildNews {
  return { kind: 'failed', error };
}

function unexpected(error: unknown): ChildNews {
  const { name, stack = '' } = error instanceof Error ? error : new Error('it is no error');
  const places = stack.split('\n').filter((line) => /^\s+at /.test(line));
  return { kind: 'fault', name, places: places.map((line) => line.trim()) };
}

function say(news: ChildNews): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(news, undefined, {}, () => resolve());
  });
}
