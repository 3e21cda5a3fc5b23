// The books of the stream proof find what is wrong: each fault a ledger could have, injected into a case that is right.

import { expect, it } from 'vitest';
import type { LeavingPolicy } from '../../src/upstream/chat-upstream.ts';
import type { ClientRecord } from './leaving-client.ts';
import { faultsOfStreams, type StreamRow } from './stream-books.ts';
import { costOf, estimateOfTexts, PROMPT_ESTIMATE, type StreamOrder, type Tokens, WORD } from './stream-order.ts';

const TEXTS = 10;
const SEEN = 4;
const SAID = 6;
const USAGE: Tokens = { input: 100, cached: 20, output: 30 };

function orderOf(policy: LeavingPolicy): StreamOrder {
  return {
    policy,
    keyIndex: 0,
    idempotencyKey: undefined,
    cut: undefined,
    plan: {
      id: 'stream-1',
      headMs: 0,
      pauseMs: 0,
      burst: 1,
      texts: TEXTS,
      usage: 'end',
      promptTokens: USAGE.input,
      cachedTokens: USAGE.cached,
      completionTokens: USAGE.output,
      breaksAfter: null,
    },
  };
}

function clientOf(policy: LeavingPolicy, texts: number): ClientRecord {
  const isWhole = texts === TEXTS;
  const text = `data: {"content":"${WORD}"}\n\n`.repeat(texts) + (isWhole ? 'data: [DONE]\n\n' : '');
  return { order: orderOf(policy), status: 200, isReplay: false, costUsd: undefined, text, hasLeft: !isWhole };
}

function rowOf(changes: Partial<StreamRow> = {}): StreamRow {
  const tokens = changes.tokens ?? USAGE;
  const row = { requestId: 'stream-1', keyId: 'key', end: 'completed', status: 200, isEstimated: false };
  return { ...row, tokens, costPicoUsd: costOf(tokens), ...changes };
}

const LEFT = { end: 'client_left', status: 499 };
const NOTHING: Tokens = { input: 0, cached: 0, output: 0 };

function estimated(texts: number): Partial<StreamRow> {
  return {
    ...LEFT,
    isEstimated: true,
    tokens: { input: PROMPT_ESTIMATE, cached: 0, output: estimateOfTexts(texts) },
  };
}

function faults(client: ClientRecord, rows: readonly StreamRow[], upstream = { texts: TEXTS, saidAll: true }): number {
  const records = [{ id: 'stream-1', ...upstream }];
  return faultsOfStreams({ clients: [client], retries: [], upstream: records, rows }).length;
}

it.each<[string, boolean, readonly StreamRow[]]>([
  ['a right row', true, [rowOf()]],
  ['no row', false, []],
  ['two rows', false, [rowOf(), rowOf()]],
  ['a row of nobody', false, [rowOf(), rowOf({ requestId: 'stranger' })]],
  ['a cost that is not that of its tokens', false, [rowOf({ costPicoUsd: 1n })]],
  ['tokens that nobody told', false, [rowOf({ tokens: { ...USAGE, output: 31 } })]],
  ['an estimate though usage was told', false, [rowOf({ isEstimated: true })]],
  ['an end that its client did not see', false, [rowOf({ ...LEFT, tokens: NOTHING })]],
  ['a failure that was none', false, [rowOf({ end: 'upstream_failed', tokens: NOTHING })]],
  ['a crash', false, [rowOf({ end: 'crashed', tokens: NOTHING })]],
])('of a stream read to its end: %s, right: %s', (_name, isRight, rows) => {
  expect(faults(clientOf('estimate', TEXTS), rows) === 0).toBe(isRight);
});

it.each<[string, boolean, LeavingPolicy, Partial<StreamRow>]>([
  ['the least that can have been sent', true, 'estimate', estimated(SEEN)],
  ['the most', true, 'estimate', estimated(SAID)],
  ['less than the client saw', false, 'estimate', estimated(SEEN - 1)],
  ['more than the upstream said', false, 'estimate', estimated(SAID + 1)],
  ['usage that was not told yet', false, 'estimate', { ...LEFT, tokens: USAGE }],
  ['nothing', false, 'estimate', { ...LEFT, tokens: NOTHING }],
  ['nothing where it is free', true, 'free', { ...LEFT, tokens: NOTHING }],
  ['something where it is free', false, 'free', estimated(SEEN)],
  ['a whole answer that was not said', false, 'free', {}],
  ['a cut where it is drained', false, 'drain', estimated(SEEN)],
])('of a stream that was left: %s, right: %s', (_name, isRight, policy, row) => {
  const found = faults(clientOf(policy, SEEN), [rowOf(row)], { texts: SAID, saidAll: false });
  expect(found === 0).toBe(isRight);
});

it('of a stream that was drained: its usage, and nothing else', () => {
  expect(faults(clientOf('drain', SEEN), [rowOf(LEFT)])).toBe(0);
  expect(faults(clientOf('drain', SEEN), [rowOf(estimated(SEEN))])).toBe(1);
});
