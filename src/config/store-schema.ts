// Settings of the store and of what is kept in it: connections, the ledger, replies for retries.

import { z } from 'zod';
import { count, milliseconds, settingNotes as note } from './setting-kinds.ts';

export const database = z.strictObject({
  poolSize: count().max(1000).default(10).register(note, {
    help: 'Connections of this process to PostgreSQL, besides two for reports. They may lead through a pooler that hands its own out by transaction.',
  }),
  connectTimeoutMs: milliseconds().default(3000).register(note, { help: 'Until a connection stands.', unit: 'ms' }),
  statementTimeoutMs: milliseconds().default(5000).register(note, {
    help: 'Until a statement is answered; then the store counts as unavailable. Reports may take ten times as long.',
    unit: 'ms',
  }),
});

export const ledger = z.strictObject({
  whenStoreFails: z.enum(['refuse', 'serve']).default('refuse').register(note, {
    help: 'While the store cannot be reached: `refuse` answers 503 `store_unavailable`. `serve` lets known keys work without budgets, limits and rows; what was served unbilled is counted in the metrics.',
  }),
  settleTimeoutMs: milliseconds().default(3000).register(note, {
    help: 'How long a finished request goes on trying to have its row written before it is answered 503. An attempt under way is waited for.',
    unit: 'ms',
  }),
  instanceTimeoutMs: milliseconds(1000).default(15_000).register(note, {
    help: 'PostgreSQL: a process that gave no sign of life for that long is dead, and its open requests are closed as `crashed`.',
    unit: 'ms',
  }),
  retentionDays: z.int().min(1).max(36_500).optional().register(note, {
    help: 'Rows older than this are summed by hour and deleted. Reports stay the same.',
    defaultText: 'rows are kept',
  }),
});

export const idempotency = z.strictObject({
  windowMs: milliseconds(1000).default(86_400_000).register(note, {
    help: 'How long a reply is kept for retries with the same `Idempotency-Key`.',
    unit: 'ms',
  }),
  maxReplyBytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(8 * 1024 * 1024)
    .register(note, {
      help: 'Largest reply that is kept. A retry of a larger one is refused rather than run and billed twice.',
      unit: 'bytes',
    }),
  waitMs: milliseconds(0).default(8000).register(note, {
    help: 'How long a retry waits for the first request to end before it gets a 409.',
    unit: 'ms',
  }),
});
