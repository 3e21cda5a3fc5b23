// What a million tokens cost on this machine at an hourly price of it, beside what the models are sold for. Pure, but for reading
// the manifests.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { DECISION_MODEL, EMBEDDING_MODEL } from '../load/workload.ts';
import { ROOT } from '../servers/started-peer.ts';
import type { ClosedCell } from './closed-part.ts';

const manifestSchema = z.object({ price: z.object({ input_micro_usd_per_million_tokens: z.number() }) });

export interface CostFigures {
  readonly peer: string;
  readonly load: string;
  /** Of the cells of this load the one with the most tokens per second. */
  readonly concurrency: number;
  readonly tokensPerSecond: number;
  readonly usdPerMillionTokens: number;
}

export function listCosts(cells: readonly ClosedCell[], usdPerHour: number): CostFigures[] {
  const answered = cells.filter(({ tokensPerSecond }) => tokensPerSecond > 0);
  const groups = Map.groupBy(answered, ({ peer, load }) => JSON.stringify([peer, load]));
  return [...groups.values()].map((group) => {
    const best = group.reduce((top, cell) => (cell.tokensPerSecond > top.tokensPerSecond ? cell : top));
    const { peer, load, concurrency, tokensPerSecond } = best;
    const usdPerMillionTokens = (usdPerHour / (tokensPerSecond * 3600)) * 1e6;
    return { peer, load, concurrency, tokensPerSecond, usdPerMillionTokens };
  });
}

/** What the shipped models ask for a million tokens of input. */
export function readPrices(): Readonly<Record<string, number>> {
  return Object.fromEntries([DECISION_MODEL, EMBEDDING_MODEL].map((model) => [model, readPrice(model)]));
}

function readPrice(model: string): number {
  const manifest: unknown = JSON.parse(readFileSync(join(ROOT, 'models', model, 'model.json'), 'utf8'));
  return manifestSchema.parse(manifest).price.input_micro_usd_per_million_tokens / 1e6;
}
