// Spans of OpenTelemetry behind the interfaces of the domain. A request that is not traced has one all the same, which only
// hands on the ids of its caller's trace.

import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { AppError } from '../../domain/errors.ts';
import type { RequestSpan, SpanFacts, SpanName, TracedRequest, TraceSpan } from '../../domain/trace.ts';

const propagator = new W3CTraceContextPropagator();
const HEADERS_OF_TRACES = {
  get: (headers: TracedRequest['headers'], name: string) => headers[name],
  keys: (headers: TracedRequest['headers']) => Object.keys(headers),
};
const PLAIN_OBJECT = {
  set: (headers: Record<string, string>, name: string, value: string) => {
    headers[name] = value;
  },
};

/** @param continues whether it belongs to the trace of its caller */
export function beginRequestSpan(
  tracer: Tracer,
  { method, route, headers }: TracedRequest,
  continues: boolean,
): RequestSpan {
  const caller = continues ? propagator.extract(ROOT_CONTEXT, headers, HEADERS_OF_TRACES) : ROOT_CONTEXT;
  const attributes = { 'http.request.method': method, 'http.route': route };
  // One clock for all spans of a request: the system's may be set meanwhile.
  const clock = { tracer, originMs: Date.now() - performance.now() };
  const startTime = clock.originMs + performance.now();
  const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes, startTime }, caller);
  return new OtelSpan(clock, span, caller);
}

interface TracerOfRequest {
  readonly tracer: Tracer;
  /** What is added to `performance.now()`, for milliseconds since 1970. */
  readonly originMs: number;
}

class OtelSpan implements RequestSpan {
  readonly #of: TracerOfRequest;
  readonly #span: Span;
  readonly #outside: Context;
  readonly #isRecorded: boolean;
  #isEnded = false;

  constructor(of: TracerOfRequest, span: Span, outside: Context) {
    this.#of = of;
    this.#span = span;
    this.#outside = outside;
    this.#isRecorded = span.isRecording();
  }

  get traceId(): string {
    return this.#span.spanContext().traceId;
  }

  get headers(): Readonly<Record<string, string>> {
    const headers: Record<string, string> = {};
    propagator.inject(this.#inside, headers, PLAIN_OBJECT);
    return headers;
  }

  begin(name: SpanName, facts: SpanFacts = {}): TraceSpan {
    // Of what is not recorded there is nothing to tell: its parts only hand on the ids.
    if (!this.#isRecorded) return this;
    const kind = name === 'upstream' ? SpanKind.CLIENT : SpanKind.INTERNAL;
    const options = { kind, attributes: attributesOf(facts), startTime: this.#timeOf(performance.now()) };
    const inside = this.#inside;
    return new OtelSpan(this.#of, this.#of.tracer.startSpan(name, options, inside), inside);
  }

  add(name: SpanName, startMs: number, endMs: number): void {
    if (!this.#isRecorded) return;
    const span = this.#of.tracer.startSpan(name, { startTime: this.#timeOf(startMs) }, this.#inside);
    span.end(this.#timeOf(endMs));
  }

  note(facts: SpanFacts): void {
    if (this.#isOpen) this.#span.setAttributes(attributesOf(facts));
  }

  end(failure?: unknown): void {
    if (!this.#isOpen) return;
    if (failure !== undefined) {
      this.#span.setAttribute('error.type', codeOf(failure));
      this.#span.setStatus({ code: SpanStatusCode.ERROR });
    }
    this.#isEnded = true;
    this.#span.end(this.#timeOf(performance.now()));
  }

  finish(facts: SpanFacts, isFault: boolean): void {
    this.note(facts);
    if (this.#isOpen && isFault) this.#span.setStatus({ code: SpanStatusCode.ERROR });
    this.end();
  }

  get #isOpen(): boolean {
    return this.#isRecorded && !this.#isEnded;
  }

  /** With this span as the parent. */
  get #inside(): Context {
    return trace.setSpan(this.#outside, this.#span);
  }

  #timeOf(ms: number): number {
    return this.#of.originMs + ms;
  }
}

function attributesOf(facts: SpanFacts): Attributes {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

/** Messages may quote the caller. */
function codeOf(failure: unknown): string {
  if (failure instanceof AppError) return failure.code;
  return failure instanceof Error ? failure.name : typeof failure;
}
