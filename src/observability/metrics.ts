// Prometheus metrics of the process: requests, tokens, the ledger, the engine's queue, and what the runtime says of
// itself. Labels hold routes and model ids, never text of a caller.

import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { RequestSample } from '../domain/request-sample.ts';
import type { AnswerCounts, Usage } from '../domain/usage.ts';
import { RequestTally } from './request-tally.ts';
import type { MetricFamily, SpanCounts } from './telemetry/telemetry.ts';

/** The engine's numbers, read at scrape time. */
export interface EngineGauges {
  readonly state: string;
  readonly queuedJobs: number;
  readonly queuedCostMs: number;
  readonly busyWorkers: number;
  readonly workers: number;
  readonly stateCache: { readonly stateTokens: number; readonly keptTokens: number };
  readonly models: readonly { readonly state: string }[];
  readonly memory: { readonly takenBytes: number };
}

export interface MetricsSources {
  readonly engineStatus: () => EngineGauges;
  /** Absent: no answers are shared. */
  readonly answerCounts?: (() => AnswerCounts) | undefined;
  /** Absent: nothing is traced. */
  readonly spanCounts?: (() => SpanCounts | undefined) | undefined;
}

/** From 1 ms, the time of an error, to a minute, the time of a long chat. */
const DURATION_BUCKETS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30, 60];

export type Metrics = ReturnType<typeof createMetrics>;

export function createMetrics({ engineStatus, answerCounts, spanCounts }: MetricsSources) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const tally = new RequestTally();
  const requests = requestMetrics(registry, tally);
  const tokens = new Counter({
    name: 'umpire_tokens_total',
    help: 'Tokens of answered requests, by model and direction.',
    labelNames: ['model', 'direction'],
    registers: [registry],
  });
  engineMetrics(registry, engineStatus);
  if (answerCounts !== undefined) answerMetrics(registry, answerCounts);
  if (spanCounts !== undefined) spanMetrics(registry, spanCounts);
  return {
    ...requests,
    tally,
    ...ledgerMetrics(registry),
    ...upstreamMetrics(registry),
    countTokens(modelId: string, usage: Usage): void {
      tokens.inc({ model: modelId, direction: 'input' }, usage.inputTokens);
      tokens.inc({ model: modelId, direction: 'output' }, usage.outputTokens);
    },
    /** The Prometheus text format. */
    async render() {
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
    /** The same as values. */
    async read(): Promise<readonly MetricFamily[]> {
      return (await registry.getMetricsAsJSON()) as unknown as MetricFamily[];
    },
  };
}

function requestMetrics(registry: Registry, tally: RequestTally) {
  const inFlight = new Gauge({
    name: 'umpire_http_requests_in_flight',
    help: 'Requests without a complete reply.',
    registers: [registry],
  });
  const labelNames = ['method', 'route', 'status'] as const;
  const total = new Counter({
    name: 'umpire_http_requests_total',
    help: 'Requests, by route, method and status; 499 is a client that left before its reply.',
    labelNames,
    registers: [registry],
  });
  const duration = new Histogram({
    name: 'umpire_http_request_duration_seconds',
    help: 'Time from the head of a request to the end of its reply.',
    labelNames,
    buckets: DURATION_BUCKETS_SECONDS,
    registers: [registry],
  });
  const errors = new Counter({
    name: 'umpire_http_errors_total',
    help: 'Requests that ended with an error, refusals (401, 402, 429, 503) among them, by code.',
    labelNames: ['code'],
    registers: [registry],
  });
  return {
    requestStarted(): void {
      inFlight.inc();
      tally.started();
    },
    requestFinished({ method, route, status, errorCode, durationMs }: RequestSample): void {
      inFlight.dec();
      tally.ended(errorCode);
      total.inc({ method, route, status });
      if (errorCode !== null) errors.inc({ code: errorCode });
      duration.observe({ method, route, status }, durationMs / 1000);
    },
  };
}

function upstreamMetrics(registry: Registry) {
  const calls = new Counter({
    name: 'umpire_upstream_calls_total',
    help: 'Chat calls to upstreams, by upstream and model.',
    labelNames: ['upstream', 'model'],
    registers: [registry],
  });
  const failures = new Counter({
    name: 'umpire_upstream_failures_total',
    help: 'Chat calls that failed at their upstream, or found no room there, by upstream, model, code and reason.',
    labelNames: ['upstream', 'model', 'code', 'reason'],
    registers: [registry],
  });
  const answers = new Counter({
    name: 'umpire_upstream_answers_total',
    help: 'Chat calls that an upstream answered to the end, by upstream and model.',
    labelNames: ['upstream', 'model'],
    registers: [registry],
  });
  const passedOn = new Counter({
    name: 'umpire_upstream_failovers_total',
    help: 'Chat calls that failed at an upstream before anything was sent, and went to the next, by upstream, model and reason.',
    labelNames: ['upstream', 'model', 'reason'],
    registers: [registry],
  });
  const open = new Gauge({
    name: 'umpire_upstream_breaker_open',
    help: '1 while an upstream is left out for a model because it failed again and again, otherwise 0.',
    labelNames: ['upstream', 'model'],
    registers: [registry],
  });
  return {
    upstreamAnswered(upstream: string, model: string): void {
      answers.inc({ upstream, model });
    },
    upstreamPassedOn(upstream: string, model: string, reason: string): void {
      passedOn.inc({ upstream, model, reason });
    },
    upstreamLeftOut(upstream: string, model: string, isLeftOut: boolean): void {
      open.set({ upstream, model }, isLeftOut ? 1 : 0);
    },
    upstreamCalled(upstream: string, model: string): void {
      calls.inc({ upstream, model });
    },
    upstreamFailed(labels: { upstream: string; model: string; code: string; reason: string }): void {
      failures.inc(labels);
    },
  };
}

/** From a tenth of a millisecond, a group commit of SQLite, to seconds, a store that cannot keep up. */
const LEDGER_BUCKETS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
];

function ledgerMetrics(registry: Registry) {
  const duration = new Histogram({
    name: 'umpire_ledger_duration_seconds',
    help: 'Time in which the ledger let a request in (reserve) or wrote its row (settle), failures included.',
    labelNames: ['operation'],
    buckets: LEDGER_BUCKETS_SECONDS,
    registers: [registry],
  });
  const unbilled = new Counter({
    name: 'umpire_unbilled_requests_total',
    help: 'Requests that were served without a row, because the store failed and ledger.whenStoreFails is serve.',
    registers: [registry],
  });
  return {
    ledgerAnswered(operation: 'reserve' | 'settle', durationMs: number): void {
      duration.observe({ operation }, durationMs / 1000);
    },
    servedUnbilled(): void {
      unbilled.inc();
    },
  };
}

function engineMetrics(registry: Registry, engineStatus: () => EngineGauges): void {
  const gauge = (name: string, help: string, read: (gauges: EngineGauges) => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read(engineStatus()));
      },
    });
  gauge('umpire_engine_ready', '1 while the engine takes work, otherwise 0.', ({ state }) =>
    state === 'ready' ? 1 : 0,
  );
  gauge('umpire_engine_queued_jobs', 'Jobs that wait for a worker.', (engine) => engine.queuedJobs);
  gauge(
    'umpire_engine_queued_cost_seconds',
    'Estimated worker time of the jobs that wait.',
    (engine) => engine.queuedCostMs / 1000,
  );
  gauge('umpire_engine_busy_workers', 'Workers with a job.', (engine) => engine.busyWorkers);
  gauge('umpire_engine_workers', 'Workers.', (engine) => engine.workers);
  gauge(
    'umpire_engine_loaded_models',
    'Local models that are loaded.',
    ({ models }) => models.filter(({ state }) => state === 'loaded').length,
  );
  gauge(
    'umpire_engine_memory_estimate_bytes',
    'Estimate of what loaded models may need, and of what caches may grow to.',
    ({ memory }) => memory.takenBytes,
  );
  countedAtScrape(registry, {
    name: 'umpire_state_cache_tokens_total',
    help: 'Tokens of the states of decisions: those that had been kept from earlier ones, and those that were read.',
    label: 'kind',
    read: () => {
      const { stateTokens, keptTokens } = engineStatus().stateCache;
      return { kept: keptTokens, encoded: stateTokens - keptTokens };
    },
  });
}

function answerMetrics(registry: Registry, answerCounts: () => AnswerCounts): void {
  countedAtScrape(registry, {
    name: 'umpire_answer_cache_requests_total',
    help: 'Decisions, embeddings and rankings, by where the answer came from: a run of its own (miss), one under way (merged), one that was kept (hit).',
    label: 'result',
    read: () => {
      const { miss, merged, hit } = answerCounts();
      return { miss, merged, hit };
    },
  });
  new Gauge({
    name: 'umpire_answer_cache_bytes',
    help: 'Memory of the answers that are kept.',
    registers: [registry],
    collect() {
      this.set(answerCounts().keptBytes);
    },
  });
}

/** Before anybody wants traces there is nothing to tell. */
function spanMetrics(registry: Registry, spanCounts: () => SpanCounts | undefined): void {
  countedAtScrape(registry, {
    name: 'umpire_trace_spans_total',
    help: 'Spans that the collector took (exported) or did not take (failed).',
    label: 'result',
    read: () => {
      const counts = spanCounts();
      return counts === undefined ? {} : { exported: counts.exported, failed: counts.failed };
    },
  });
  new Counter({
    name: 'umpire_untraced_requests_total',
    help: 'Requests that were served untraced, because telemetry.maxQueuedSpans waited.',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(spanCounts()?.untracedRequests ?? 0);
    },
  });
}

interface ScrapedCounter {
  readonly name: string;
  readonly help: string;
  readonly label: string;
  /** By value of the label, since the start. */
  readonly read: () => Readonly<Record<string, number>>;
}

/** Counted elsewhere, and read when somebody asks. */
function countedAtScrape(registry: Registry, { name, help, label, read }: ScrapedCounter): void {
  new Counter({
    name,
    help,
    labelNames: [label],
    registers: [registry],
    collect() {
      this.reset();
      for (const [value, count] of Object.entries(read())) this.inc({ [label]: value }, count);
    },
  });
}
