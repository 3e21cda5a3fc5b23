// The status of a server on the wire: its engine, its caches, and what it refused.

import { z } from 'zod';
import { errorCatalogue } from '../../domain/errors.ts';
import { toInstant } from '../../domain/instant.ts';
import { sum } from '../../domain/sum.ts';
import type { ServerStatus } from '../../services/server-status.ts';
import { instantReply } from './instant.ts';
import { modelStatusSchema, toWireModelStatus } from './model-status.ts';

const count = z.int().min(0);

const engineSchema = z
  .object({
    device: z.string().describe('What models run on: `cpu`, `cuda`, …'),
    workers: count.describe('Threads that run models.'),
    busy_workers: count.describe('Those that have work.'),
    threads_per_worker: count.describe('Threads of each of them.'),
    queued_jobs: count.describe('Jobs that wait for a worker.'),
    queued_cost_ms: z.number().min(0).describe('Worker time that they are estimated to take.'),
    expected_drain_ms: z.number().min(0).describe('When all that waits or runs will be done.'),
    models: z.array(modelStatusSchema).describe('The local models, and whether they are loaded.'),
    memory_taken_bytes: count.describe('Estimate of what loaded models may need, and of what caches may grow to.'),
    memory_budget_bytes: count.describe('What these may take: `engine.memoryBytes`.'),
    refused: z
      .object({
        jobs: count.describe('Too many jobs waited.'),
        cost: count.describe('Too much work waited.'),
        wait: count.describe('It could not have begun in time.'),
        late: count.describe("It could not have been answered within the caller's own deadline."),
      })
      .describe('Calls refused as `overloaded` since the start.'),
  })
  .meta({ id: 'EngineStatus', description: 'The engine of local models: its workers and its queue.' });

const cachesSchema = z
  .object({
    state_tokens: count.describe('Tokens of documents in decisions since the start.'),
    kept_tokens: count.describe('Those of them that a worker had kept, and need not be read again.'),
    answers: z
      .object({
        run: count.describe('Answers that a run of their own gave.'),
        merged: count.describe('Answers taken from an identical request under way.'),
        kept: count.describe('Answers that had been kept.'),
        kept_bytes: count.describe('Memory of those that are kept now.'),
      })
      .nullable()
      .describe('Decisions, embeddings and rankings since the start; null: answers are not shared.'),
  })
  .meta({ id: 'CacheStatus', description: 'What need not be done twice.' });

const errorSchema = z
  .object({
    code: z.enum(Object.keys(errorCatalogue) as (keyof typeof errorCatalogue)[]).describe('Of the error.'),
    status: z.int().describe('Of the replies.'),
    since_start: count.describe('How many since the start.'),
    last_hour: count.describe('How many in the last 60 minutes.'),
    by_minute: z.array(count).describe('The same by minutes: 60 of them, the one that runs last.'),
  })
  .meta({ id: 'ErrorCount', description: 'Requests that ended with one error, refused ones among them.' });

export const serverStatusSchema = z
  .object({
    object: z.literal('server_status').describe('What this is.'),
    host: z.string().describe('Name of the machine.'),
    process_id: count.describe('Of the server.'),
    version: z.string().describe('Of umpire.'),
    started_at: instantReply.describe('When the process started: its counts begin there.'),
    state: z.enum(['loading', 'ready', 'draining', 'unresponsive']).describe('As `/readyz` tells it.'),
    requests_under_way: count.describe('Without a complete reply; this one is among them.'),
    engine: engineSchema,
    caches: cachesSchema,
    errors: z.array(errorSchema).describe('By code, the most frequent first; codes that did not occur are left out.'),
  })
  .meta({
    id: 'ServerStatus',
    description: 'How the server that answers fares. Others on the same store have their own.',
  });

interface Known {
  readonly version: string;
  readonly state: z.output<typeof serverStatusSchema>['state'];
}

export function toWireStatus(status: ServerStatus, { version, state }: Known): z.output<typeof serverStatusSchema> {
  return {
    object: 'server_status',
    host: status.host,
    process_id: status.processId,
    version,
    started_at: toInstant(status.startedAtMs),
    state,
    requests_under_way: status.requestsUnderWay,
    engine: toWireEngine(status.engine),
    caches: toWireCaches(status),
    errors: status.errors.map(({ code, sinceStart, byMinute }) => ({
      code,
      status: errorCatalogue[code].status,
      since_start: sinceStart,
      last_hour: sum(byMinute),
      by_minute: [...byMinute],
    })),
  };
}

function toWireEngine(engine: ServerStatus['engine']): z.output<typeof engineSchema> {
  return {
    device: engine.device,
    workers: engine.workers,
    busy_workers: engine.busyWorkers,
    threads_per_worker: engine.threadsPerWorker,
    queued_jobs: engine.queuedJobs,
    queued_cost_ms: engine.queuedCostMs,
    expected_drain_ms: engine.expectedDrainMs,
    models: engine.models.map(toWireModelStatus),
    memory_taken_bytes: Math.round(engine.memory.takenBytes),
    memory_budget_bytes: Math.round(engine.memory.budgetBytes),
    refused: { ...engine.refusals },
  };
}

function toWireCaches({ engine, answers }: ServerStatus): z.output<typeof cachesSchema> {
  return {
    state_tokens: engine.stateCache.stateTokens,
    kept_tokens: engine.stateCache.keptTokens,
    answers: answers && {
      run: answers.miss,
      merged: answers.merged,
      kept: answers.hit,
      kept_bytes: answers.keptBytes,
    },
  };
}
