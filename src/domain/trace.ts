// The trace of a request as the layers see it: spans that they begin and end. Where they go, observability knows; where
// nobody asked for traces there is no span, and nothing is done. Spans hold counts, ids of models and codes, never texts or
// keys.

/** Parts of a request that have a span of their own. */
export type SpanName =
  | 'authenticate'
  | 'parse'
  | 'count_tokens'
  | 'reserve'
  | 'job'
  | 'queue'
  | 'tokenize'
  | 'infer'
  | 'upstream'
  | 'settle';

/** By name in the conventions of OpenTelemetry, or `umpire.…`. What is undefined is left out. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | undefined>>;

export interface TraceSpan {
  /** 32 hex digits: the same for all spans of a request, and for whoever called us within a trace. */
  readonly traceId: string;
  /** `traceparent` and `tracestate`, for a server that is asked within this span. */
  readonly headers: Readonly<Record<string, string>>;
  /** A span inside this one. */
  begin(name: SpanName, facts?: SpanFacts): TraceSpan;
  /** A span inside this one that is over already; times are of `performance.now()`. */
  add(name: SpanName, startMs: number, endMs: number): void;
  note(facts: SpanFacts): void;
  /** @param failure why what it stands for failed; its code is recorded, its message is not */
  end(failure?: unknown): void;
}

/** What a trace is told of a request at its head. */
export interface TracedRequest {
  readonly method: string;
  /** As it is registered: a path may hold anything. */
  readonly route: string;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** Of a whole request. */
export interface RequestSpan extends TraceSpan {
  /** @param facts known only at its end @param isFault whether it failed by a fault of the server: a refusal is none */
  finish(facts: SpanFacts, isFault: boolean): void;
}

export interface RequestTracer {
  /** @returns undefined: it is not traced */
  beginRequest(request: TracedRequest): RequestSpan | undefined;
}

/** Work within a span of its own. @throws what the work throws */
export async function inSpan<Result>(
  parent: TraceSpan | undefined,
  name: SpanName,
  work: (span: TraceSpan | undefined) => Promise<Result>,
): Promise<Result> {
  const span = parent?.begin(name);
  try {
    const result = await work(span);
    span?.end();
    return result;
  } catch (error) {
    span?.end(error);
    throw error;
  }
}
