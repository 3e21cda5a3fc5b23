// OpenTelemetry's own SDK, set up for this server: what is traced, how much may wait, where it goes. Loaded only where a
// collector is configured.

import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api';
import { type ExportResult, ExportResultCode, setGlobalErrorHandler } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type Span,
  type SpanExporter,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { messageOf } from '../../domain/errors.ts';
import { startMetricSender } from './metric-sender.ts';
import { beginRequestSpan } from './request-spans.ts';
import type { Telemetry, TelemetryOptions } from './telemetry.ts';

/** Small enough that writing one holds up nobody. */
const SPANS_PER_DELIVERY = 256;
const DELIVER_WITHIN_MS = 1000;
/** One is under way at a time, but for the end of the server; how much there can be in all, the sampler bounds. */
const DELIVERIES_AT_ONCE = 1000;
const TROUBLE_AT_MOST_EVERY_MS = 60_000;
const SCOPE = 'umpire';

export function openTelemetry(options: TelemetryOptions): Telemetry {
  listenToTrouble(options.onTrouble);
  const waiting = new WaitingSpans(options.maxQueuedSpans);
  const resource = resourceOf(options);
  const exporter = new CountedExporter(new OTLPTraceExporter(deliveryOf(options, 'v1/traces')), waiting);
  const provider = new TracerProvider({
    resource,
    sampler: samplerOf(options, waiting),
    spanProcessors: [
      waiting,
      new BatchSpanProcessor({
        exporter,
        // What begins while there is room may end when there is none: the sampler keeps the bound.
        maxQueueSize: Number.MAX_SAFE_INTEGER,
        maxExportBatchSize: SPANS_PER_DELIVERY,
        scheduledDelayMillis: DELIVER_WITHIN_MS,
        exportTimeoutMillis: options.exportTimeoutMs + 1000,
      }),
    ],
  });
  let endMetrics = async (): Promise<void> => undefined;
  const close = (): Promise<void> => {
    const closed = Promise.all([endMetrics(), provider.shutdown()]).then(() => undefined);
    return within(options.closeTimeoutMs, closed, options.onTrouble);
  };
  const tracer = provider.getTracer(SCOPE, options.serviceVersion);
  return {
    counts: waiting,
    beginRequest: (request) => beginRequestSpan(tracer, request, options.continueTraces),
    sendMetrics: (read) => {
      if (!options.metrics) return;
      const delivery = deliveryOf(options, 'v1/metrics');
      const end = startMetricSender({ resource, delivery, intervalMs: options.metricsIntervalMs, read });
      let ended: Promise<void> | undefined;
      endMetrics = () => {
        ended ??= end();
        return ended;
      };
    },
    retire: async () => {
      await within(options.closeTimeoutMs, endMetrics(), options.onTrouble);
      await waiting.allEnded();
      await close();
    },
    close,
  };
}

function resourceOf({ serviceName, serviceVersion, instanceId, resource }: TelemetryOptions): Resource {
  return resourceFromAttributes({
    'service.name': serviceName,
    'service.version': serviceVersion,
    'service.instance.id': instanceId,
    ...resource,
  });
}

function deliveryOf({ endpoint, headers, exportTimeoutMs }: TelemetryOptions, path: string) {
  return {
    url: `${endpoint.replace(/\/+$/, '')}/${path}`,
    headers: { ...headers },
    timeoutMillis: exportTimeoutMs,
    concurrencyLimit: DELIVERIES_AT_ONCE,
  };
}

function samplerOf({ sampleRatio }: TelemetryOptions, waiting: WaitingSpans): Sampler {
  const unlessFull = (sampler: Sampler): Sampler => ({
    shouldSample: (...args) => {
      const result = sampler.shouldSample(...args);
      if (result.decision === SamplingDecision.NOT_RECORD || !waiting.isFull) return result;
      waiting.untracedRequests += 1;
      return { decision: SamplingDecision.NOT_RECORD };
    },
  });
  return new ParentBasedSampler({
    root: unlessFull(new TraceIdRatioBasedSampler(sampleRatio)),
    remoteParentSampled: unlessFull(new AlwaysOnSampler()),
  });
}

/** Spans that have ended and are not delivered, and what became of the others. */
class WaitingSpans implements SpanProcessor {
  exported = 0;
  failed = 0;
  untracedRequests = 0;
  #begun = 0;
  #ended = 0;
  #onAllEnded: (() => void) | undefined;
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#ended - this.exported - this.failed >= this.#max;
  }

  /** Resolves when no span is open. */
  allEnded(): Promise<void> {
    return new Promise((resolve) => {
      this.#onAllEnded = resolve;
      this.#look();
    });
  }

  onStart(): void {
    this.#begun += 1;
  }

  onEnd(_span: Span | ReadableSpan): void {
    this.#ended += 1;
    this.#look();
  }

  #look(): void {
    if (this.#begun === this.#ended) this.#onAllEnded?.();
  }

  async forceFlush(): Promise<void> {}

  async shutdown(): Promise<void> {}
}

class CountedExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #counts: WaitingSpans;

  constructor(exporter: SpanExporter, counts: WaitingSpans) {
    this.#exporter = exporter;
    this.#counts = counts;
  }

  export(spans: ReadableSpan[], onEnd: (result: ExportResult) => void): void {
    this.#exporter.export(spans, (result) => {
      if (result.code === ExportResultCode.SUCCESS) this.#counts.exported += spans.length;
      else this.#counts.failed += spans.length;
      onEnd(result);
    });
  }

  async forceFlush(): Promise<void> {
    await this.#exporter.forceFlush?.();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}

/** The SDK has one voice for the whole process. What it says of failures holds addresses and codes; bodies are left out. */
function listenToTrouble(onTrouble: (message: string) => void): void {
  let nextMs = 0;
  const tell = (message: string): void => {
    const nowMs = performance.now();
    if (nowMs < nextMs) return;
    nextMs = nowMs + TROUBLE_AT_MOST_EVERY_MS;
    onTrouble(message);
  };
  const silent = () => undefined;
  const logger: DiagLogger = { error: tell, warn: tell, info: silent, debug: silent, verbose: silent };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  setGlobalErrorHandler((error) => tell(typeof error === 'string' ? error : messageOf(error)));
}

async function within(limitMs: number, work: Promise<void>, onTrouble: (message: string) => void): Promise<void> {
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(() => {
    onTrouble('the collector did not take what waited when the server ended');
    resolve();
  }, limitMs);
  await Promise.race([work.catch((error: unknown) => onTrouble(messageOf(error))), over]);
  clearTimeout(timer);
}
