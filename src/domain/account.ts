// Where a key stands between two requests, and what becomes of that when one is let in or ends. Pure: times, amounts and
// limits are handed in, and the account that is handed in never changes.

import type { BudgetReset, KeyLimits } from './api-key.ts';
import type { Demand, RefusingLimit, Standing } from './ledger.ts';
import {
  advance,
  fits,
  type MinuteWindow,
  moveTokens,
  NEW_WINDOW,
  rateStanding,
  waitMs,
  withdraw,
} from './minute-window.ts';

export interface Account {
  readonly keyId: string;
  /** Start of the budget period that the amounts are of; 0: of all time. */
  readonly periodStartMs: number;
  /** Sum of the rows accepted since then. */
  readonly spentPicoUsd: bigint;
  /** Sum of what requests accepted since then, and still running, may cost. */
  readonly reservedPicoUsd: bigint;
  readonly inFlight: number;
  /** null: never. */
  readonly lastUsedAtMs: number | null;
  readonly window: MinuteWindow;
}

/** Under what a request was let in. */
export type Terms = Pick<Demand, 'budget' | 'limits'>;

/** A request that was let in and has not ended. */
export interface Opened {
  readonly acceptedAtMs: number;
  readonly costPicoUsd: bigint;
  readonly tokens: number;
}

/** What it turned out to be. */
export interface Closed {
  readonly costPicoUsd: bigint;
  readonly tokens: number;
}

export type Verdict =
  | { readonly type: 'admitted'; readonly account: Account }
  | { readonly type: 'refused'; readonly reason: RefusingLimit; readonly retryAfterMs: number | null };

const DAY_MS = 86_400_000;
/** When a running request ends is not known; asking once a second costs little. */
const CONCURRENT_RETRY_MS = 1000;

export function newAccount(keyId: string): Account {
  return {
    keyId,
    periodStartMs: 0,
    spentPicoUsd: 0n,
    reservedPicoUsd: 0n,
    inFlight: 0,
    lastUsedAtMs: null,
    window: NEW_WINDOW,
  };
}

/** Start of the period that `nowMs` is in, in UTC; 0 where spending is never counted anew. */
export function periodStartMs(reset: BudgetReset, nowMs: number): number {
  if (reset === 'none') return 0;
  if (reset === 'day') return Math.floor(nowMs / DAY_MS) * DAY_MS;
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
}

/** Start of the next one; null: there is none. */
export function periodEndMs(reset: BudgetReset, nowMs: number): number | null {
  if (reset === 'none') return null;
  if (reset === 'day') return periodStartMs('day', nowMs) + DAY_MS;
  const now = new Date(nowMs);
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1);
}

/** @param account of the period that `nowMs` is in */
export function admit(account: Account, demand: Demand, nowMs: number): Verdict {
  const window = advance(account.window, nowMs);
  const refusal = refuseBudget(account, demand, nowMs) ?? refuseLimits({ ...account, window }, demand, nowMs);
  if (refusal !== undefined) return { type: 'refused', ...refusal };
  const { requestsNow, tokensNow } = window;
  return {
    type: 'admitted',
    account: {
      ...account,
      reservedPicoUsd: account.reservedPicoUsd + demand.costPicoUsd,
      inFlight: account.inFlight + 1,
      window: { ...window, requestsNow: requestsNow + 1, tokensNow: tokensNow + demand.tokens },
    },
  };
}

/** The request has left its row. */
export function settle(account: Account, opened: Opened, closed: Closed): Account {
  const { acceptedAtMs } = opened;
  const isOfPeriod = acceptedAtMs >= account.periodStartMs;
  return {
    ...endOne(account, opened),
    spentPicoUsd: account.spentPicoUsd + (isOfPeriod ? closed.costPicoUsd : 0n),
    lastUsedAtMs: Math.max(account.lastUsedAtMs ?? acceptedAtMs, acceptedAtMs),
    window: moveTokens(account.window, acceptedAtMs, closed.tokens - opened.tokens),
  };
}

/** The row turned out to be of an answer that was never given: it costs something else now. */
export function correct(
  account: Account,
  acceptedAtMs: number,
  { before, now }: { before: Closed; now: Closed },
): Account {
  const costPicoUsd = acceptedAtMs >= account.periodStartMs ? now.costPicoUsd - before.costPicoUsd : 0n;
  return {
    ...account,
    spentPicoUsd: account.spentPicoUsd + costPicoUsd,
    window: moveTokens(account.window, acceptedAtMs, now.tokens - before.tokens),
  };
}

/** The request was not taken on after all: as if it had never been let in. */
export function release(account: Account, opened: Opened): Account {
  return { ...endOne(account, opened), window: withdraw(account.window, opened.acceptedAtMs, opened.tokens) };
}

/** A limit that refuses every further request at this moment, whatever it asks for. */
export function findFullLimit(account: Account, limits: KeyLimits, nowMs: number): LimitRefusal | undefined {
  const demand: Demand = { costPicoUsd: 0n, tokens: 1, budget: null, limits };
  return refuseLimits({ ...account, window: advance(account.window, nowMs) }, demand, nowMs);
}

export function standingOf(account: Account, { budget, limits }: Terms, nowMs: number): Standing {
  const window = advance(account.window, nowMs);
  const used = account.spentPicoUsd + account.reservedPicoUsd;
  const { requestsPerMinute, tokensPerMinute, concurrentRequests } = limits;
  return {
    budget:
      budget === null
        ? null
        : {
            amountPicoUsd: budget.amountPicoUsd,
            remainingPicoUsd: budget.amountPicoUsd > used ? budget.amountPicoUsd - used : 0n,
            resetsAtMs: periodEndMs(budget.reset, nowMs),
          },
    requests: requestsPerMinute === null ? null : rateStanding(window, 'requests', { limit: requestsPerMinute, nowMs }),
    tokens: tokensPerMinute === null ? null : rateStanding(window, 'tokens', { limit: tokensPerMinute, nowMs }),
    concurrent:
      concurrentRequests === null
        ? null
        : { limit: concurrentRequests, remaining: Math.max(0, concurrentRequests - account.inFlight) },
  };
}

function endOne(account: Account, { acceptedAtMs, costPicoUsd }: Opened): Account {
  const reserved = account.reservedPicoUsd - (acceptedAtMs >= account.periodStartMs ? costPicoUsd : 0n);
  return {
    ...account,
    reservedPicoUsd: reserved > 0n ? reserved : 0n,
    inFlight: Math.max(0, account.inFlight - 1),
  };
}

type VerdictRefusal = Omit<Extract<Verdict, { type: 'refused' }>, 'type'>;

export interface LimitRefusal {
  readonly reason: Exclude<RefusingLimit, 'budget'>;
  /** null: not by waiting. */
  readonly retryAfterMs: number | null;
}

function refuseBudget(account: Account, { budget, costPicoUsd }: Demand, nowMs: number): VerdictRefusal | undefined {
  if (budget === null) return undefined;
  const { amountPicoUsd, reset } = budget;
  if (account.spentPicoUsd + account.reservedPicoUsd + costPicoUsd <= amountPicoUsd) return undefined;
  const endMs = periodEndMs(reset, nowMs);
  const helpsToWait = endMs !== null && costPicoUsd <= amountPicoUsd;
  return { reason: 'budget', retryAfterMs: helpsToWait ? endMs - nowMs : null };
}

/** Of several limits the one that takes longest is named. */
function refuseLimits(account: Account, { limits, tokens }: Demand, nowMs: number): LimitRefusal | undefined {
  const refusals = [
    refuseConcurrent(account, limits),
    refuseRate(account.window, 'requests', { limit: limits.requestsPerMinute, amount: 1, nowMs }),
    refuseRate(account.window, 'tokens', { limit: limits.tokensPerMinute, amount: tokens, nowMs }),
  ].filter((refusal) => refusal !== undefined);
  const waitOf = ({ retryAfterMs }: LimitRefusal): number => retryAfterMs ?? Number.POSITIVE_INFINITY;
  return refusals.toSorted((a, b) => waitOf(b) - waitOf(a))[0];
}

function refuseConcurrent(account: Account, { concurrentRequests: limit }: KeyLimits): LimitRefusal | undefined {
  if (limit === null || account.inFlight < limit) return undefined;
  return { reason: 'concurrent', retryAfterMs: limit === 0 ? null : CONCURRENT_RETRY_MS };
}

interface WantedRate {
  readonly limit: number | null;
  readonly amount: number;
  readonly nowMs: number;
}

function refuseRate(window: MinuteWindow, unit: 'requests' | 'tokens', wanted: WantedRate): LimitRefusal | undefined {
  const { limit, amount, nowMs } = wanted;
  if (limit === null || fits(window, unit, { limit, amount, nowMs })) return undefined;
  return { reason: unit, retryAfterMs: waitMs(window, unit, { limit, amount, nowMs }) };
}

/** Where a key stands without asking for anything. */
export interface KeyStanding {
  readonly standing: Standing;
  /** In the period of the budget that `nowMs` lies in; of all time where there is no budget, or one without reset. */
  readonly spentPicoUsd: bigint;
  readonly reservedPicoUsd: bigint;
  /** What refuses any further request at this moment, whatever it asks for; null: no limit does. */
  readonly limit: LimitRefusal | null;
}
