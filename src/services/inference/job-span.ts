// The span of a local job, and those of its parts, which the engine tells as lengths when the job is done.

import type { TraceSpan } from '../../domain/trace.ts';
import type { JobTimings } from '../../domain/usage.ts';
import type { ResultSource } from '../../engine/engine.ts';

interface DoneJob {
  readonly timings: JobTimings;
  readonly source: ResultSource;
}

export function jobSpan(request: TraceSpan | undefined, modelId: string): JobSpan | undefined {
  return request && new JobSpan(request.begin('job', { 'gen_ai.request.model': modelId }));
}

class JobSpan {
  readonly #span: TraceSpan;
  readonly #startMs = performance.now();

  constructor(span: TraceSpan) {
    this.#span = span;
  }

  /**
   * Parts are set one after the other, and none beyond the end: tokenising and inference are of all workers together, so
   * that their sum may be longer than the job. The true sums are among the facts.
   */
  tell({ timings, source }: DoneJob): void {
    const span = this.#span;
    const endMs = performance.now();
    const { queueMs, tokenizeMs, inferMs } = timings;
    const queuedMs = Math.min(this.#startMs + queueMs, endMs);
    span.add('queue', this.#startMs, queuedMs);
    if (source.answer === 'run') {
      const tokenizedMs = Math.min(queuedMs + tokenizeMs, endMs);
      span.add('tokenize', queuedMs, tokenizedMs);
      span.add('infer', tokenizedMs, Math.min(tokenizedMs + inferMs, endMs));
    }
    span.note({
      'umpire.answer.source': source.answer,
      'umpire.kept_tokens': source.keptTokens,
      'umpire.tokenize.worker_ms': tokenizeMs,
      'umpire.infer.worker_ms': inferMs,
    });
    span.end();
  }

  fail(error: unknown): void {
    this.#span.end(error);
  }
}
