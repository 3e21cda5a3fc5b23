// How this process fares, as far as it can tell without its engine.

import { hostname } from 'node:os';
import type { Metrics } from '../observability/metrics.ts';
import type { ServerStatus } from '../services/server-status.ts';

export function statusOfProcess(startedAtMs: number, { tally }: Metrics): Omit<ServerStatus, 'engine' | 'answers'> {
  const { underWay: requestsUnderWay } = tally;
  return { host: hostname(), processId: process.pid, startedAtMs, requestsUnderWay, errors: tally.errors() };
}
