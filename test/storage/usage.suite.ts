// What reports must do on every database, as cases and as properties beside a plain sum in memory. A suite, not a test
// file: usage.*.test.ts call it.

import fc from 'fast-check';
import type { Insertable, Kysely } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  LatencyGroup,
  LatencyMeasure,
  LatencyQuery,
  UsageDimension,
  UsageFilter,
  UsageGroup,
} from '../../src/domain/usage-report.ts';
import { withoutAbsent } from '../../src/domain/without-absent.ts';
import { KyselyUsageStore } from '../../src/storage/kysely-usage-store.ts';
import { sumCosts } from '../../src/storage/ledger-sums.ts';
import type { Database, LedgerTable } from '../../src/storage/schema.ts';
import type { UsageStore } from '../../src/storage/stores.ts';
import { until } from '../waiting/until.ts';

export interface OpenedDatabase {
  /** Migrated, and empty. */
  readonly database: Kysely<Database>;
  /** The same data, as another process has it. */
  openAgain(): Promise<{ readonly usage: UsageStore; close(): Promise<void> }>;
  /** How the database would find rows. */
  explain(query: string): Promise<string>;
  remove(): Promise<void>;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 0, 30);
const EVER: UsageFilter = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER };
const ALL = { offset: 0, limit: 1_000_000 };
/** The most that 64 bits hold. */
const MAX_COST = 2n ** 63n - 1n;

type Row = Insertable<LedgerTable> & { accepted_at_ms: number; cost_pico_usd: bigint };

function row(id: string, parts: Partial<Row> = {}): Row {
  return {
    id,
    request_id: `request of ${id}`,
    key_id: 'key_a',
    model_id: 'kev',
    endpoint: '/ai/v1/systemone',
    is_streamed: 0,
    accepted_at_ms: START_MS,
    input_micro_usd: 37_800,
    cached_input_micro_usd: 37_800,
    output_micro_usd: 0,
    end_type: 'completed',
    status: 200,
    error_code: null,
    input_tokens: 100,
    cached_tokens: 10,
    output_tokens: 7,
    reasoning_tokens: 3,
    is_estimated: 0,
    cost_pico_usd: 3_780_000n,
    duration_ms: 12,
    wait_ms: 1,
    upstream: null,
    upstream_failures: null,
    ...parts,
  };
}

const byText = (left: string, right: string): number => Buffer.compare(Buffer.from(left), Buffer.from(right));

/** The oracle: the same report over rows in memory. */
function sumInMemory(rows: readonly Row[], filter: UsageFilter, by: readonly UsageDimension[]): UsageGroup[] {
  const groups = new Map<string, { names: (string | number)[]; group: UsageGroup }>();
  if (by.length === 0) groups.set('[]', { names: [], group: { ...NOTHING } });
  for (const each of rows.filter((candidate) => isIn(candidate, filter))) {
    const parts = by.map((dimension) => partOf(each, dimension));
    const names = parts.flatMap((part) => [part.startMs ?? String(Object.values(part)[0])]);
    const name = JSON.stringify(names);
    const { group } = groups.get(name) ?? { group: { ...Object.assign({}, ...parts), ...NOTHING } };
    groups.set(name, { names, group: plus(group, each) });
  }
  return [...groups.values()].sort((left, right) => compareNames(left.names, right.names)).map(({ group }) => group);
}

const NOTHING = {
  requests: 0,
  inputTokens: 0n,
  cachedTokens: 0n,
  outputTokens: 0n,
  reasoningTokens: 0n,
  costPicoUsd: 0n,
};

function isIn(each: Row, { fromMs, toMs, keyId, modelId, endpoint }: UsageFilter): boolean {
  return (
    each.accepted_at_ms >= fromMs &&
    each.accepted_at_ms < toMs &&
    (keyId === undefined || each.key_id === keyId) &&
    (modelId === undefined || each.model_id === modelId) &&
    (endpoint === undefined || each.endpoint === endpoint)
  );
}

function partOf(each: Row, dimension: UsageDimension): Partial<UsageGroup> {
  const atMs = each.accepted_at_ms;
  switch (dimension) {
    case 'key':
      return { keyId: each.key_id };
    case 'model':
      return { modelId: each.model_id };
    case 'endpoint':
      return { endpoint: each.endpoint };
    case 'end':
      return { end: each.end_type };
    case 'day':
      return { startMs: Math.floor(atMs / DAY_MS) * DAY_MS };
    case 'hour':
      return { startMs: Math.floor(atMs / HOUR_MS) * HOUR_MS };
    case 'minute':
      return { startMs: Math.floor(atMs / MINUTE_MS) * MINUTE_MS };
  }
}

function plus(group: UsageGroup, each: Row): UsageGroup {
  return {
    ...group,
    requests: group.requests + 1,
    inputTokens: group.inputTokens + BigInt(each.input_tokens),
    cachedTokens: group.cachedTokens + BigInt(each.cached_tokens),
    outputTokens: group.outputTokens + BigInt(each.output_tokens),
    reasoningTokens: group.reasoningTokens + BigInt(each.reasoning_tokens),
    costPicoUsd: group.costPicoUsd + each.cost_pico_usd,
  };
}

/** The oracle of times: by nearest rank over the sorted times. */
function latencyInMemory(rows: readonly Row[], { filter, by, measure }: LatencyQuery): LatencyGroup[] {
  const column = measure === 'duration' ? 'duration_ms' : 'wait_ms';
  const completed = rows.filter((each) => each.end_type === 'completed' && each[column] !== null);
  const groups = sumInMemory(completed, filter, by).filter(({ requests }) => requests > 0);
  return groups.map(({ requests, keyId, modelId, startMs }) => {
    const names = withoutAbsent({ keyId, modelId, startMs });
    const isOfGroup = (each: Row) => Object.entries(names).every(([name, value]) => namesOf(each, by)[name] === value);
    const times = completed.filter((each) => isIn(each, filter) && isOfGroup(each)).map((each) => Number(each[column]));
    times.sort((left, right) => left - right);
    const percentile = (percent: number) => threeDigits(times[Math.ceil((percent * requests) / 100) - 1] ?? Number.NaN);
    const [p50Ms, p90Ms, p95Ms, p99Ms] = [50, 90, 95, 99].map(percentile);
    return { ...names, requests, p50Ms, p90Ms, p95Ms, p99Ms, longestMs: times.at(-1) } as LatencyGroup;
  });
}

function namesOf(each: Row, by: readonly UsageDimension[]): Record<string, unknown> {
  return Object.assign({}, ...by.map((dimension) => partOf(each, dimension)));
}

function threeDigits(time: number): number {
  const unit = 10 ** Math.max(0, String(time).length - 3);
  return time - (time % unit);
}

function compareNames(left: readonly (string | number)[], right: readonly (string | number)[]): number {
  for (const [index, one] of left.entries()) {
    const other = right[index] ?? '';
    const order = typeof one === 'number' ? one - Number(other) : byText(one, String(other));
    if (order !== 0) return order;
  }
  return 0;
}

const anyTokens = fc.oneof(fc.integer({ min: 0, max: 5000 }), fc.constant(1_000_000_000));
const anyRow = fc.record({
  key_id: fc.constantFrom('key_a', 'key_b', 'key_Z', "key_'; drop table ledger; --"),
  model_id: fc.constantFrom('kev', 'Kev', 'k-e-v', 'gpt/ö'),
  endpoint: fc.constantFrom('/ai/v1/systemone', '/ai/v1/embeddings'),
  end_type: fc.constantFrom('completed', 'failed', 'client_left'),
  accepted_at_ms: fc.integer({ min: START_MS, max: START_MS + 3 * DAY_MS }),
  input_tokens: anyTokens,
  cached_tokens: anyTokens,
  output_tokens: anyTokens,
  reasoning_tokens: anyTokens,
  cost_pico_usd: fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 12n }), fc.constant(MAX_COST)),
});
const anyRows = fc
  .array(anyRow, { maxLength: 40 })
  .map((all) => all.map((parts, index) => row(`req_${String(index).padStart(3, '0')}`, parts)));

const anyHourMs = fc.integer({ min: -2, max: 74 }).map((hours) => START_MS + hours * HOUR_MS);
function anyDimensions(times: readonly UsageDimension[]): fc.Arbitrary<UsageDimension[]> {
  return fc
    .tuple(
      fc.option(fc.constantFrom(...times), { nil: undefined }),
      fc.subarray<UsageDimension>(['key', 'model', 'endpoint', 'end']),
    )
    .map(([time, others]) => (time === undefined ? others : [time, ...others]))
    .chain((all) => fc.shuffledSubarray(all, { minLength: all.length }));
}
const anyMinuteOrMore = anyDimensions(['minute', 'hour', 'day']);
const anyHourOrMore = anyDimensions(['hour', 'day']);

function anyFilter(time: fc.Arbitrary<number>): fc.Arbitrary<UsageFilter> {
  return fc
    .record(
      {
        fromMs: time,
        toMs: time,
        keyId: fc.constantFrom('key_a', 'key_b', 'key_none', "' or 1=1 --"),
        modelId: fc.constantFrom('kev', 'Kev'),
        endpoint: fc.constant('/ai/v1/embeddings'),
      },
      { requiredKeys: ['fromMs', 'toMs'] },
    )
    .map((filter) => filter as UsageFilter);
}

export function describeUsage(name: string, open: () => Promise<OpenedDatabase>): void {
  describe(`reports on ${name}`, () => {
    let opened: OpenedDatabase;
    let database: Kysely<Database>;
    let usage: KyselyUsageStore;

    beforeEach(async () => {
      opened = await open();
      database = opened.database;
      usage = new KyselyUsageStore(database);
    });

    afterEach(async () => {
      await opened.remove();
    });

    async function write(rows: readonly Row[]): Promise<void> {
      for (let from = 0; from < rows.length; from += 500)
        await database
          .insertInto('ledger')
          .values(rows.slice(from, from + 500))
          .execute();
    }

    async function clear(): Promise<void> {
      await database.deleteFrom('ledger').execute();
      await database.deleteFrom('usage_rollups').execute();
    }

    it('are empty over nothing, but for the total, which is nothing', async () => {
      expect(await usage.sum(EVER, ['key', 'day'], ALL)).toEqual([]);
      expect(await usage.sum(EVER, [], ALL)).toEqual([NOTHING]);
      expect(await usage.rows(EVER, { before: undefined, limit: 10 })).toEqual([]);
      expect(await sumCosts(database, EVER)).toBe(0n);
    });

    it('leave out dimensions that were not asked for', async () => {
      await write([row('one')]);
      const [group] = await usage.sum(EVER, ['model'], ALL);
      expect(Object.keys(group ?? {}).sort()).toEqual(['modelId', ...Object.keys(NOTHING)].sort());
    });

    it('count the first millisecond of a range and not its end', async () => {
      await write([row('one', { accepted_at_ms: START_MS }), row('two', { accepted_at_ms: START_MS + 10 })]);
      const count = async (fromMs: number, toMs: number) => (await usage.sum({ fromMs, toMs }, [], ALL))[0]?.requests;
      expect(await count(START_MS, START_MS + 10)).toBe(1);
      expect(await count(START_MS, START_MS + 11)).toBe(2);
      expect(await count(START_MS + 1, START_MS + 10)).toBe(0);
    });

    it('are exact where a sum passes 64 bits, and after it was rolled up', async () => {
      await write(Array.from({ length: 40 }, (_, index) => row(`req_${index}`, { cost_pico_usd: MAX_COST })));
      expect((await usage.sum(EVER, ['key'], ALL))[0]?.costPicoUsd).toBe(MAX_COST * 40n);
      expect(await sumCosts(database, { keyId: 'key_a' })).toBe(MAX_COST * 40n);
      await rollUpAll(usage, START_MS + DAY_MS, 7);
      expect((await usage.sum(EVER, ['key'], ALL))[0]?.costPicoUsd).toBe(MAX_COST * 40n);
      expect(await sumCosts(database, { keyId: 'key_a' })).toBe(MAX_COST * 40n);
    });

    it('sum as a loop in memory does, by any dimensions, over any range', async () => {
      const anyMs = fc.integer({ min: START_MS - HOUR_MS, max: START_MS + 3 * DAY_MS + 1 });
      await fc.assert(
        fc.asyncProperty(anyRows, anyFilter(anyMs), anyMinuteOrMore, async (rows, filter, by) => {
          await clear();
          await write(rows);
          expect(await usage.sum(filter, by, ALL)).toEqual(sumInMemory(rows, filter, by));
          const costs = rows.filter((each) => isIn(each, filter)).reduce((sum, each) => sum + each.cost_pico_usd, 0n);
          expect(await sumCosts(database, filter)).toBe(costs);
        }),
        { numRuns: 60 },
      );
    });

    it('stay the same through any roll-ups, over ranges of whole hours', async () => {
      const anyRollUps = fc.array(fc.record({ beforeMs: anyHourMs, limit: fc.integer({ min: 1, max: 20 }) }), {
        maxLength: 5,
      });
      await fc.assert(
        fc.asyncProperty(
          anyRows,
          anyRows,
          anyFilter(anyHourMs),
          anyHourOrMore,
          anyRollUps,
          async (rows, later, filter, by, rollUps) => {
            await clear();
            await write(rows);
            for (const { beforeMs, limit } of rollUps) {
              expect(await usage.rollUp(beforeMs + 1234, limit)).toBeLessThanOrEqual(limit);
              expect(await usage.sum(filter, by, ALL)).toEqual(sumInMemory(rows, filter, by));
            }
            // Rows of hours that were rolled up before: a request may end long after it was accepted.
            const late = later.map((each) => ({ ...each, id: `late_${each.id}` }));
            await write(late);
            for (const { beforeMs, limit } of rollUps) await usage.rollUp(beforeMs, limit);
            expect(await usage.sum(filter, by, ALL)).toEqual(sumInMemory([...rows, ...late], filter, by));
          },
        ),
        { numRuns: 40 },
      );
    });

    it('by the minute count a rolled-up hour in its first minute', async () => {
      await write([5, 50].map((minute) => row(`req_${minute}`, { accepted_at_ms: START_MS + minute * MINUTE_MS })));
      const minutes = async () =>
        (await usage.sum(EVER, ['minute'], ALL)).map(({ startMs = 0, requests }) => [startMs - START_MS, requests]);
      expect(await minutes()).toEqual([
        [5 * MINUTE_MS, 1],
        [50 * MINUTE_MS, 1],
      ]);
      await rollUpAll(usage, START_MS + HOUR_MS, 100);
      expect(await minutes()).toEqual([[0, 2]]);
    });

    it('come in pages that together are the whole', async () => {
      const models = ['kev', 'a', 'b'];
      const rows = Array.from({ length: 20 }, (_, index) =>
        row(`req_${index}`, { model_id: models[index % 3] ?? '', accepted_at_ms: START_MS + index * HOUR_MS }),
      );
      await write(rows);
      const by = ['key', 'model', 'hour'] as const;
      const whole = await usage.sum(EVER, by, ALL);
      const pages: UsageGroup[] = [];
      for (let offset = 0; offset <= rows.length; offset += 3)
        pages.push(...(await usage.sum(EVER, by, { offset, limit: 3 })));
      expect(whole.length).toBeGreaterThan(3);
      expect(pages).toEqual(whole);
    });

    it('give single rows as they were written, newest first, in pages without a gap', async () => {
      const rows = Array.from({ length: 25 }, (_, index) =>
        row(`req_${String(index).padStart(2, '0')}`, {
          accepted_at_ms: START_MS + Math.floor(index / 4),
          key_id: index % 5 === 0 ? 'key_b' : 'key_a',
        }),
      );
      await write(rows);
      const wanted = rows.filter(({ key_id }) => key_id === 'key_a').map(({ id }) => id);
      const seen: string[] = [];
      let before: { acceptedAtMs: number; id: string } | undefined;
      await until('a page is empty', async () => {
        const page = await usage.rows({ ...EVER, keyId: 'key_a' }, { before, limit: 3 });
        const last = page.at(-1);
        seen.push(...page.map(({ id }) => id));
        if (last !== undefined) before = { acceptedAtMs: last.acceptedAtMs, id: last.id };
        return last === undefined;
      });
      expect(seen).toEqual(wanted.reverse());
    });

    it('give every field of a row', async () => {
      const price = { input_micro_usd: 1, cached_input_micro_usd: 2, output_micro_usd: 1_000_000_000 };
      await write([
        row('one', {
          ...price,
          is_streamed: 1,
          is_estimated: 1,
          end_type: 'upstream_failed',
          status: 502,
          error_code: 'upstream_error',
          wait_ms: null,
          upstream: 'vendor',
          upstream_failures: 'other:timeout vendor:connect',
          cost_pico_usd: MAX_COST,
        }),
      ]);
      expect(await usage.rows(EVER, { before: undefined, limit: 1 })).toEqual([
        {
          id: 'one',
          requestId: 'request of one',
          keyId: 'key_a',
          modelId: 'kev',
          endpoint: '/ai/v1/systemone',
          isStreamed: true,
          acceptedAtMs: START_MS,
          price: { inputMicroUsd: 1, cachedInputMicroUsd: 2, outputMicroUsd: 1_000_000_000 },
          end: 'upstream_failed',
          status: 502,
          errorCode: 'upstream_error',
          usage: { inputTokens: 100, cachedTokens: 10, outputTokens: 7, reasoningTokens: 3 },
          isEstimated: true,
          costPicoUsd: MAX_COST,
          durationMs: 12,
          waitMs: null,
          upstream: 'vendor',
          upstreamFailures: 'other:timeout vendor:connect',
        },
      ]);
    });

    it('give times as a loop in memory does, by any dimensions, of either measure', async () => {
      const anyTime = fc.oneof(fc.integer({ min: 0, max: 1500 }), fc.integer({ min: 0, max: 80_000_000 }));
      const anyTimedRows = fc.array(
        fc.record({
          ...{ key_id: fc.constantFrom('key_a', 'key_b'), model_id: fc.constantFrom('kev', 'gpt/ö') },
          end_type: fc.constantFrom('completed', 'completed', 'failed'),
          accepted_at_ms: fc.integer({ min: START_MS, max: START_MS + 3 * HOUR_MS }),
          ...{ duration_ms: anyTime, wait_ms: fc.option(anyTime) },
        }),
        { maxLength: 60 },
      );
      const anyMeasure = fc.constantFrom<LatencyMeasure>('duration', 'wait');
      const anyNames = fc.constantFrom<UsageDimension[]>([], ['hour'], ['minute'], ['key'], ['model', 'day']);
      await fc.assert(
        fc.asyncProperty(
          anyTimedRows,
          anyFilter(anyHourMs),
          anyNames,
          anyMeasure,
          async (parts, filter, by, measure) => {
            const rows = parts.map((each, index) => row(`req_${index}`, each));
            await clear();
            await write(rows);
            const found = await usage.latency({ filter, by, measure }, ALL);
            expect(found).toEqual(latencyInMemory(rows, { filter, by, measure }));
          },
        ),
        { numRuns: 60 },
      );
    });

    it('give times in pages, and none of rows that were rolled up', async () => {
      await write([
        row('a'),
        row('b', { model_id: 'b' }),
        row('c', { model_id: 'c', accepted_at_ms: START_MS + DAY_MS }),
      ]);
      const query = { filter: EVER, by: ['model'], measure: 'duration' } as const;
      const modelsOf = async (page: { offset: number; limit: number }) =>
        (await usage.latency(query, page)).map(({ modelId }) => modelId);
      expect(await modelsOf({ offset: 0, limit: 2 })).toEqual(['b', 'c']);
      expect(await modelsOf({ offset: 2, limit: 2 })).toEqual(['kev']);
      await rollUpAll(usage, START_MS + HOUR_MS, 100);
      expect(await modelsOf(ALL)).toEqual(['c']);
      expect(await usage.latency({ ...query, by: [], filter: { fromMs: 0, toMs: START_MS } }, ALL)).toEqual([]);
    });

    it('give rows in the order in which their requests ended, each once, however they are asked for', async () => {
      const anyEnd = fc.record({
        accepted_at_ms: fc.integer({ min: START_MS, max: START_MS + 20 }),
        duration_ms: fc.integer({ min: 0, max: 20 }),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(anyEnd, { maxLength: 30 }), fc.integer({ min: 1, max: 7 }), async (ends, limit) => {
          const rows = ends.map((each, index) => row(`req_${String(index).padStart(2, '0')}`, each));
          await clear();
          await write(rows);
          const untilMs = START_MS + 30;
          const ended = rows.map(({ id, ...each }) => ({
            id,
            endedAtMs: each.accepted_at_ms + Number(each.duration_ms),
          }));
          const wanted = ended
            .filter(({ endedAtMs }) => endedAtMs >= START_MS + 5 && endedAtMs < untilMs)
            .sort((left, right) => left.endedAtMs - right.endedAtMs || byText(left.id, right.id))
            .map(({ id }) => id);
          const seen: string[] = [];
          let after = { endedAtMs: START_MS + 5, id: '' };
          await until('a page is empty', async () => {
            const page = await usage.ended({ after, untilMs }, { last: false, limit });
            seen.push(...page.map(({ id }) => id));
            after = ended.find(({ id }) => id === page.at(-1)?.id) ?? after;
            return page.length === 0;
          });
          expect(seen).toEqual(wanted);
          const last = await usage.ended(
            { after: { endedAtMs: START_MS + 5, id: '' }, untilMs },
            { last: true, limit },
          );
          expect(last.map(({ id }) => id)).toEqual(wanted.slice(-limit));
        }),
        { numRuns: 40 },
      );
    });

    it('find what has ended in an index, without reading the rows before', async () => {
      expect(await opened.explain('select * from ledger where (accepted_at_ms + duration_ms) >= 5')).toContain(
        'ledger_by_end',
      );
    });

    it('roll up nothing of the hour that is asked for, and nothing twice', async () => {
      const beforeMs = START_MS + HOUR_MS + 1000;
      await write([
        row('old', { accepted_at_ms: START_MS + HOUR_MS - 1 }),
        row('same hour', { accepted_at_ms: START_MS + HOUR_MS }),
      ]);
      expect(await usage.rollUp(beforeMs, 100)).toBe(1);
      expect(await usage.rollUp(beforeMs, 100)).toBe(0);
      expect((await usage.rows(EVER, { before: undefined, limit: 10 })).map(({ id }) => id)).toEqual(['same hour']);
      expect((await usage.sum(EVER, [], ALL))[0]?.requests).toBe(2);
    });

    it('roll up the oldest first, no more than was said at a time', async () => {
      await write(
        Array.from({ length: 7 }, (_, index) => row(`req_${index}`, { accepted_at_ms: START_MS + 6 - index })),
      );
      expect(await usage.rollUp(START_MS + DAY_MS, 3)).toBe(3);
      const left = await usage.rows(EVER, { before: undefined, limit: 10 });
      expect(left.map(({ id }) => id)).toEqual(['req_0', 'req_1', 'req_2', 'req_3']);
    });

    it('are right while several processes roll up, and others write and read', async () => {
      const { openAgain } = opened;
      const rows = Array.from({ length: 600 }, (_, index) =>
        row(`req_${index}`, { accepted_at_ms: START_MS + index * 60_000, cost_pico_usd: BigInt(index) }),
      );
      await write(rows);
      const [reader, ...others] = await Promise.all([openAgain(), openAgain(), openAgain(), openAgain()]);
      const total = (await usage.sum(EVER, [], ALL))[0];
      let done = false;
      const rolling = Promise.all(others.map((other) => rollUpAll(other.usage, START_MS + 30 * DAY_MS, 13))).finally(
        () => {
          done = true;
        },
      );
      while (!done) expect((await reader.usage.sum(EVER, [], ALL))[0]).toEqual(total);
      expect((await rolling).reduce((sum, count) => sum + count, 0)).toBe(600);
      expect((await usage.sum(EVER, [], ALL))[0]).toEqual(total);
      expect(await usage.rows(EVER, { before: undefined, limit: 1 })).toEqual([]);
      await Promise.all([reader, ...others].map((other) => other.close()));
    });
  });
}

/** @returns how many rows that were */
async function rollUpAll(usage: UsageStore, beforeMs: number, limit: number): Promise<number> {
  let count = 0;
  await until('no row is left to roll up', async () => {
    const rolledUp = await usage.rollUp(beforeMs, limit);
    count += rolledUp;
    return rolledUp === 0;
  });
  return count;
}
