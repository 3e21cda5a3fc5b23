// A collector of OpenTelemetry for tests: takes OTLP over HTTP, and reads it by the published schema, out of an older package
// that still had it as its protobuf definitions are compiled. It can refuse, hang and answer drop by drop.

import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import schema from 'otlp-schema/build/src/generated/root.js';
import { until } from '../../waiting/until.ts';

interface Message {
  decode(bytes: Uint8Array): object;
  encode(message: object): { finish(): Uint8Array };
  toObject(message: object, options: object): unknown;
}

interface Services {
  readonly trace: { readonly v1: { readonly ExportTraceServiceRequest: Message } };
  readonly metrics: { readonly v1: { readonly ExportMetricsServiceRequest: Message } };
}

type AnyValue = Readonly<Record<string, unknown>>;
type Attributes = readonly { readonly key: string; readonly value: AnyValue }[];

interface TraceRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Attributes };
    readonly scopeSpans: readonly { readonly scope: { readonly name: string }; readonly spans: readonly WireSpan[] }[];
  }[];
}

interface WireSpan {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly parentSpanId?: Uint8Array;
  readonly traceState?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: Attributes;
  readonly status?: { readonly code?: string; readonly message?: string };
}

export interface CollectedSpan {
  readonly name: string;
  readonly kind: string;
  /** Hex. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty: none. */
  readonly parentId: string;
  readonly traceState: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly status: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface CollectedMetric {
  readonly name: string;
  readonly description: string;
  readonly gauge?: { readonly dataPoints: readonly CollectedPoint[] };
  readonly sum?: {
    readonly dataPoints: readonly CollectedPoint[];
    readonly isMonotonic: boolean;
    readonly aggregationTemporality: string;
  };
  readonly histogram?: { readonly dataPoints: readonly CollectedPoint[]; readonly aggregationTemporality: string };
}

export interface CollectedPoint {
  readonly attributes?: Attributes;
  readonly asDouble?: number;
  readonly asInt?: string;
  readonly count?: string;
  readonly sum?: number;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
}

/** Writes the reply, or does not. */
export type CollectorAnswer = (response: ServerResponse) => void;

export const take: CollectorAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
};
export const refuse: CollectorAnswer = (response) => {
  response.writeHead(400, { 'content-type': 'text/plain' }).end('no');
};
export const hang: CollectorAnswer = () => undefined;
/** A reply that never ends. */
export const drip: CollectorAnswer = (response) => {
  response.writeHead(200, { 'content-type': 'application/x-protobuf' });
  const timer = setInterval(() => response.write('\0'), 20);
  response.once('close', () => clearInterval(timer));
};

const services = (schema as unknown as { opentelemetry: { proto: { collector: Services } } }).opentelemetry.proto
  .collector;
const PLAIN = { longs: String, enums: String };

export class OtlpCollector {
  readonly spans: CollectedSpan[] = [];
  /** Of the latest delivery. */
  metrics: readonly CollectedMetric[] = [];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly bytes: Buffer }[] = [];
  answer: CollectorAnswer = take;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<OtlpCollector> {
    const server = createServer();
    const collector = new OtlpCollector(server);
    server.on('request', async (request, response) => {
      const bytes = Buffer.concat(await request.toArray());
      const path = request.url ?? '';
      collector.requests.push({ path, headers: request.headers, bytes });
      if (collector.answer === take) collector.#keep(path, bytes);
      collector.answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Everything that came, as text: what must not be in it is not in it. */
  get text(): string {
    return this.requests.map(({ bytes }) => bytes.toString('latin1')).join('\n');
  }

  async untilSpans(isSo: (spans: readonly CollectedSpan[]) => boolean): Promise<readonly CollectedSpan[]> {
    await until('the collector has the spans', () => isSo(this.spans));
    return this.spans;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #keep(path: string, bytes: Buffer): void {
    if (path === '/v1/traces') {
      const { resourceSpans } = read(services.trace.v1.ExportTraceServiceRequest, bytes) as TraceRequest;
      for (const { resource, scopeSpans } of resourceSpans) {
        const server = toRecord(resource.attributes);
        this.spans.push(...scopeSpans.flatMap(({ spans }) => spans.map((span) => toSpan(span, server))));
      }
    } else if (path === '/v1/metrics') {
      const { resourceMetrics } = read(services.metrics.v1.ExportMetricsServiceRequest, bytes) as {
        readonly resourceMetrics: readonly {
          readonly scopeMetrics: readonly { readonly metrics: CollectedMetric[] }[];
        }[];
      };
      this.metrics = resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
    }
  }
}

/** What the schema does not know would be skipped without a word, and missing when it is written again. */
function read(message: Message, bytes: Uint8Array): unknown {
  const decoded = message.decode(bytes);
  const again = message.encode(decoded).finish();
  if (again.length < bytes.length) throw new Error(`The schema knows ${again.length} of ${bytes.length} bytes.`);
  return message.toObject(decoded, PLAIN);
}

function toSpan(span: WireSpan, resource: Readonly<Record<string, unknown>>): CollectedSpan {
  return {
    name: span.name,
    kind: span.kind.replace('SPAN_KIND_', '').toLowerCase(),
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentId: hex(span.parentSpanId ?? new Uint8Array()),
    traceState: span.traceState ?? '',
    startNs: BigInt(span.startTimeUnixNano),
    endNs: BigInt(span.endTimeUnixNano),
    attributes: toRecord(span.attributes ?? []),
    status: (span.status?.code ?? 'STATUS_CODE_UNSET').replace('STATUS_CODE_', '').toLowerCase(),
    resource,
  };
}

/** Numbers that the wire has as 64 bits are numbers again. */
export function toRecord(attributes: Attributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value['intValue'] === undefined ? Object.values(value)[0] : Number(value['intValue']),
    ]),
  );
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

/** Settings of a server that tells its collector of every request. */
export const EVERY_TRACE = {
  headers: {},
  sampleRatio: 1,
  continueTraces: true,
  serviceName: 'umpire',
  serviceVersion: '1.2.3',
  instanceId: 'host-1',
  resource: {},
  metrics: false,
  metricsIntervalMs: 60_000,
  maxQueuedSpans: 8192,
  exportTimeoutMs: 10_000,
  closeTimeoutMs: 100_000,
} as const;
