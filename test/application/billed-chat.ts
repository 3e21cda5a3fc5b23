// A server of ours on a real port between a real client and an upstream double, over a ledger that remembers what it was
// told: what becomes of a chat call shows in its one settlement, or in its absence.

import { expect } from 'vitest';
import type { RequestOutcome } from '../../src/domain/ledger.ts';
import { LedgerAccounting } from '../../src/services/accounting/ledger-accounting.ts';
import { type ChatSetup, startChat } from '../contract/openai-chat-fixture.ts';
import { ScriptedLedger } from '../ledger/scripted-ledger.ts';
import type { AnswerScript } from '../upstream/upstream-double.ts';
import { KEY } from './test-server.ts';

const PRICE = { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000, cachedInputMicroUsd: 250_000 };
const MESSAGES = [{ role: 'user', content: 'Hi there' }];
/** Our estimate of these messages. */
export const INPUT_ESTIMATE = 6;

export async function startBilledChat(answer: AnswerScript, { upstream = {}, ...setup }: ChatSetup = {}) {
  const ledger = new ScriptedLedger();
  const accounting = new LedgerAccounting({
    store: ledger,
    instanceId: 'instance',
    whenStoreFails: 'refuse',
    settleTimeoutMs: 1,
    idempotency: { windowMs: 60_000, maxReplyBytes: 1_000_000, waitMs: 1000 },
    metrics: { ledgerAnswered: () => undefined, servedUnbilled: () => undefined },
    onFault: (error) => {
      throw error;
    },
  });
  const chat = await startChat(answer, { ...setup, upstream: { price: PRICE, ...upstream }, accounting });
  const { server, baseURL, double } = chat;
  return {
    ...chat,
    ledger,
    ask: (fields: object = {}, init: RequestInit = {}) => ask(baseURL, fields, init),
    /** The one row, once every call is at its end and nothing is left at the upstream. */
    row: async (): Promise<RequestOutcome> => {
      await server.chat.close();
      await double.until(() => double.runningReplies === 0);
      expect(ledger.reservations).toHaveLength(1);
      expect(ledger.released).toHaveLength(0);
      const [settlement, ...others] = ledger.settlements;
      if (settlement === undefined || others.length > 0) throw new Error(`${ledger.settlements.length} rows`);
      return settlement.outcome;
    },
  };
}

function ask(baseURL: string, fields: object, { headers, ...init }: RequestInit): Promise<Response> {
  return fetch(`${baseURL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'llama', messages: MESSAGES, ...fields }),
    ...init,
  });
}

/** Pico-dollars at PRICE. */
export function cost(inputTokens: number, outputTokens: number): bigint {
  return BigInt(inputTokens * PRICE.inputMicroUsd + outputTokens * PRICE.outputMicroUsd);
}
