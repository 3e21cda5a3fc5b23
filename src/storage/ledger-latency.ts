// Percentiles of the times in the ledger, as one statement. Times are counted by their first three digits: a group has
// some thousand different ones at most, however many rows it is of, and no row is sorted.

import { type RawBuilder, sql } from 'kysely';
import type { LatencyGroup, LatencyQuery } from '../domain/usage-report.ts';
import {
  groupBy,
  groupColumns,
  matches,
  type NamedRow,
  type SummedColumn,
  shownColumns,
  toGroupNames,
} from './ledger-sums.ts';

export interface LatencyRow extends NamedRow {
  readonly requests: SummedColumn;
  readonly p50: SummedColumn;
  readonly p90: SummedColumn;
  readonly p95: SummedColumn;
  readonly p99: SummedColumn;
  readonly longest: SummedColumn;
}

const TIME_COLUMNS = { duration: 'duration_ms', wait: 'wait_ms' } as const;

/** `select … order by` the dimensions: one row per group with a completed request. */
export function selectLatency({ filter, by, measure }: LatencyQuery): RawBuilder<LatencyRow> {
  const time = sql.ref(TIME_COLUMNS[measure]);
  const columns = groupColumns(by).map((column) => sql.ref(column));
  const counted = sql`select ${sql.join([...shownColumns(by, 'accepted_at_ms'), sql`${threeDigits(time)} as time_ms`])},
    count(*) as rows_of_time, max(${time}) as longest_of_time from ledger
    where ${matches(filter, 'accepted_at_ms')} and end_type = 'completed' and ${time} is not null
    ${groupBy([...columns, sql`time_ms`])}`;
  const partition = columns.length === 0 ? sql`` : sql`partition by ${sql.join(columns)}`;
  const ranked = sql`select ${sql.join([...columns, sql`time_ms`])}, longest_of_time,
    sum(rows_of_time) over (${partition} order by time_ms) as rows_up_to,
    sum(rows_of_time) over (${partition}) as all_rows from (${counted}) as counted`;
  const figures = [
    sql`max(all_rows) as requests`,
    ...[50, 90, 95, 99].map(percentile),
    sql`max(longest_of_time) as longest`,
  ];
  // Without dimensions there is one group, also of nothing: that one is left out.
  const order = columns.length === 0 ? sql`` : sql` order by ${sql.join(columns)}`;
  return sql`select ${sql.join([...columns, ...figures])} from (${ranked}) as ranked${groupBy(columns)}
    having count(*) > 0${order}`;
}

export function toLatencyGroup(row: LatencyRow): LatencyGroup {
  return {
    ...toGroupNames(row),
    requests: Number(row.requests),
    p50Ms: Number(row.p50),
    p90Ms: Number(row.p90),
    p95Ms: Number(row.p95),
    p99Ms: Number(row.p99),
    longestMs: Number(row.longest),
  };
}

/** By nearest rank. */
function percentile(percent: number): RawBuilder<unknown> {
  const isReached = sql`rows_up_to * 100 >= all_rows * ${sql.lit(percent)}`;
  return sql`min(case when ${isReached} then time_ms end) as ${sql.ref(`p${percent}`)}`;
}

/** 123456 → 123000. The last unit is of three hours: no request takes a day. */
function threeDigits(time: RawBuilder<unknown>): RawBuilder<unknown> {
  const units = [1, 10, 100, 1000, 10_000].map(
    (unit) => sql`when ${time} < ${sql.lit(1000 * unit)} then ${time} - ${time} % ${sql.lit(unit)}`,
  );
  return sql`case ${sql.join(units, sql` `)} else ${time} - ${time} % 100000 end`;
}
