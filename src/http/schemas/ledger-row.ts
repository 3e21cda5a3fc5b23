// Single rows of the ledger on the wire, in JSON and as CSV: what each request was, used and cost.

import { z } from 'zod';
import { toInstant } from '../../domain/instant.ts';
import type { LedgerRow } from '../../domain/ledger.ts';
import { formatPrice } from '../../domain/money.ts';
import type { CsvRow } from '../csv-reply.ts';
import { instantReply } from './instant.ts';
import { picoUsdReply, toWireCost, usdReply } from './money-field.ts';
import { listOf } from './paging.ts';

const price = z.string().describe('US dollars per 1,000,000 tokens when it was accepted.');

const tokens = z.int().min(0);

const rowShape = {
  id: z.string().describe('Of the row.'),
  request_id: z.string().describe("As in the reply's `x-request-id`; a client may choose it."),
  key: z.string().describe('Id of the calling key.'),
  model: z.string().describe('Id of the model.'),
  endpoint: z.string().describe('Path of the route.'),
  streamed: z.boolean().describe('Whether a stream was asked for.'),
  accepted_at: instantReply.describe('When it was accepted.'),
  end: z
    .enum(['completed', 'client_left', 'failed', 'upstream_failed', 'crashed'])
    .describe('How it ended. `crashed`: the server died before it answered.'),
  status: z.int().describe('Of the reply; 499: nobody was left to get one.'),
  error_code: z.string().nullable().describe('Of the reply; null: it was no error.'),
  input_tokens: tokens.describe('Tokens read, cached ones included.'),
  cached_tokens: tokens.describe('Those that the upstream had cached.'),
  output_tokens: tokens.describe('Tokens written, reasoning included.'),
  reasoning_tokens: tokens.describe('Those of reasoning.'),
  estimated: z.boolean().describe('Whether the counts are ours because the upstream told none.'),
  input_price_usd: price,
  cached_input_price_usd: price,
  output_price_usd: price,
  cost_usd: usdReply,
  cost_pico_usd: picoUsdReply,
  duration_ms: z.number().describe('From its acceptance to its end.'),
  wait_ms: z.number().nullable().describe('Until work began, or the first byte of the upstream came.'),
  upstream: z.string().nullable().describe('Name of the upstream that answered, or failed last; null: none was asked.'),
  upstream_failures: z
    .string()
    .nullable()
    .describe(
      'Upstreams that gave no answer, in the order they were asked, each with the reason: `vendor:timeout own:connect`. null: none.',
    ),
};

export const ledgerRowSchema = z.object(rowShape).meta({ id: 'LedgerRow', description: 'One accepted request.' });

export const ledgerRowsSchema = listOf(ledgerRowSchema, {
  id: 'LedgerRowList',
  description: 'Accepted requests, newest first.',
});

export const rowHeading: readonly string[] = Object.keys(rowShape);

export function toWireRow(row: LedgerRow): z.output<typeof ledgerRowSchema> {
  return {
    id: row.id,
    request_id: row.requestId,
    key: row.keyId,
    model: row.modelId,
    endpoint: row.endpoint,
    streamed: row.isStreamed,
    accepted_at: toInstant(row.acceptedAtMs),
    end: row.end,
    status: row.status,
    error_code: row.errorCode,
    input_tokens: row.usage.inputTokens,
    cached_tokens: row.usage.cachedTokens,
    output_tokens: row.usage.outputTokens,
    reasoning_tokens: row.usage.reasoningTokens,
    estimated: row.isEstimated,
    input_price_usd: formatPrice(row.price.inputMicroUsd),
    cached_input_price_usd: formatPrice(row.price.cachedInputMicroUsd),
    output_price_usd: formatPrice(row.price.outputMicroUsd),
    ...toWireCost(row.costPicoUsd),
    duration_ms: row.durationMs,
    wait_ms: row.waitMs,
    upstream: row.upstream,
    upstream_failures: row.upstreamFailures,
  };
}

/** In the order of the heading. */
export function toRowCells(row: LedgerRow): CsvRow {
  return Object.values(toWireRow(row));
}
