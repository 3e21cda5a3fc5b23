// What was used and what it cost: sums and single rows of the ledger, page by page or as a whole, and where a key stands.

import type { KeyStanding } from '../../domain/account.ts';
import type { ApiKey } from '../../domain/api-key.ts';
import type { LedgerRow } from '../../domain/ledger.ts';
import { type Page, pageOf } from '../../domain/page.ts';
import type {
  EndedPlace,
  LatencyGroup,
  LatencyQuery,
  UsageDimension,
  UsageFilter,
  UsageGroup,
} from '../../domain/usage-report.ts';
import type { LedgerStore, UsageStore } from '../../storage/stores.ts';
import { Turnstile } from './turnstile.ts';

/** How much of an export is in memory at a time. */
const EXPORT_PAGE_GROUPS = 5000;
const EXPORT_PAGE_ROWS = 500;
/** Reports take long; what else needs the store must not wait behind all of them. */
const AT_A_TIME = { maxRunning: 2, maxWaiting: 200 };

/** How far back the feed goes. */
const FEED_REACH_MS = 3_600_000;
/**
 * Requests that ended a moment ago may not have their row yet: the feed waits for them, for it never looks back. It is the
 * time that a commit takes and that the clocks of servers differ by.
 */
const FEED_DELAY_MS = 1000;

export interface RowPage {
  /** The last row of the page before. */
  readonly before: Pick<LedgerRow, 'acceptedAtMs' | 'id'> | undefined;
  readonly limit: number;
}

export interface GroupPage {
  readonly offset: number;
  readonly limit: number;
}

export interface UsageReport extends Page<UsageGroup> {
  readonly total: UsageGroup;
}

/** Requests in the order in which they ended, the latest last. */
export interface FeedPage extends Page<LedgerRow> {
  /** Where the next page goes on; there may be nothing yet. */
  readonly next: EndedPlace;
  /** Whether requests between the place asked for and this page were left out, because they are too old for the feed. */
  readonly hasGap: boolean;
}

const NO_USAGE: UsageGroup = {
  requests: 0,
  inputTokens: 0n,
  cachedTokens: 0n,
  outputTokens: 0n,
  reasoningTokens: 0n,
  costPicoUsd: 0n,
};

export interface UsageServiceOptions {
  readonly usage: UsageStore;
  readonly ledger: Pick<LedgerStore, 'standing'>;
  /** Milliseconds since the epoch. Default: the system's clock. */
  readonly nowMs?: () => number;
}

export class UsageService {
  readonly #usage: UsageStore;
  readonly #ledger: Pick<LedgerStore, 'standing'>;
  readonly #nowMs: () => number;
  readonly #turnstile = new Turnstile(AT_A_TIME);

  constructor({ usage, ledger, nowMs = Date.now }: UsageServiceOptions) {
    this.#usage = usage;
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  nowMs(): number {
    return this.#nowMs();
  }

  /** A page of groups, and the sum of all of them. */
  async report(filter: UsageFilter, by: readonly UsageDimension[], page: GroupPage): Promise<UsageReport> {
    const groups = await this.groups(filter, by, page);
    const total = by.length === 0 && page.offset === 0 ? (groups.items[0] ?? NO_USAGE) : await this.total(filter);
    return { ...groups, total };
  }

  /** All of the filter in one sum. */
  async total(filter: UsageFilter): Promise<UsageGroup> {
    const [total] = await this.#turnstile.pass(() => this.#usage.sum(filter, [], { offset: 0, limit: 1 }));
    return total ?? NO_USAGE;
  }

  async groups(filter: UsageFilter, by: readonly UsageDimension[], page: GroupPage): Promise<Page<UsageGroup>> {
    const { offset, limit } = page;
    const found = await this.#turnstile.pass(() => this.#usage.sum(filter, by, { offset, limit: limit + 1 }));
    return pageOf(found, limit);
  }

  /** Times of completed requests, by groups. */
  async latency(query: LatencyQuery, { offset, limit }: GroupPage): Promise<Page<LatencyGroup>> {
    const found = await this.#turnstile.pass(() => this.#usage.latency(query, { offset, limit: limit + 1 }));
    return pageOf(found, limit);
  }

  /** What has ended since the place; undefined: the last that ended before now. Every row is told once. */
  async feed(place: EndedPlace | undefined, limit: number): Promise<FeedPage> {
    const nowMs = this.#nowMs();
    const untilMs = nowMs - FEED_DELAY_MS;
    const oldest = { endedAtMs: nowMs - FEED_REACH_MS, id: '' };
    const hasGap = place !== undefined && place.endedAtMs < oldest.endedAtMs;
    const after = place === undefined || hasGap ? oldest : place;
    const page = place === undefined ? { last: true, limit } : { last: false, limit: limit + 1 };
    const found = pageOf(await this.#turnstile.pass(() => this.#usage.ended({ after, untilMs }, page)), limit);
    const lastRow = found.items.at(-1);
    if (found.hasMore && lastRow !== undefined) return { ...found, next: placeOf(lastRow), hasGap };
    // The clock of another server may be ahead of ours: never back.
    return { ...found, next: untilMs > after.endedAtMs ? { endedAtMs: untilMs, id: '' } : after, hasGap };
  }

  /** Newest first. */
  async rows(filter: UsageFilter, page: RowPage): Promise<Page<LedgerRow>> {
    const { before, limit } = page;
    const found = await this.#turnstile.pass(() => this.#usage.rows(filter, { before, limit: limit + 1 }));
    return pageOf(found, limit);
  }

  /** Every group, a page in memory at a time. */
  async *allGroups(filter: UsageFilter, by: readonly UsageDimension[]): AsyncGenerator<readonly UsageGroup[]> {
    for (let offset = 0; ; offset += EXPORT_PAGE_GROUPS) {
      const { items, hasMore } = await this.groups(filter, by, { offset, limit: EXPORT_PAGE_GROUPS });
      yield items;
      if (!hasMore) return;
    }
  }

  /** Every row, newest first, a page in memory at a time. */
  async *allRows(filter: UsageFilter): AsyncGenerator<readonly LedgerRow[]> {
    let before: RowPage['before'];
    for (;;) {
      const { items, hasMore } = await this.rows(filter, { before, limit: EXPORT_PAGE_ROWS });
      yield items;
      if (!hasMore) return;
      before = items.at(-1);
    }
  }

  /** Where the key stands now. */
  async standing(key: ApiKey): Promise<KeyStanding> {
    return await this.#ledger.standing({ id: key.id, budget: key.budget, limits: key.limits }, this.#nowMs());
  }
}

function placeOf({ acceptedAtMs, durationMs, id }: LedgerRow): EndedPlace {
  return { endedAtMs: acceptedAtMs + durationMs, id };
}
