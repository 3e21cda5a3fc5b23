// How long a model takes to load into a worker: from the bytes of its graphs, corrected by what loads took. Pure.

/** Opening sessions, tokenizer and golden cases of a model of few bytes. */
const LEAST_MS = 300;
/** A BERT-base in fp32, 435 MB: 6.8 s with the optimising of a first time, 2.4 s after it, on a quiet core. */
const MS_PER_BYTE = 15e-6;
/** What one load tells of the next. */
const TRUST = 0.5;

export class LoadTime {
  /** How much slower this machine is than the estimate. */
  #factor = 1;

  estimateMs(bytes: number): number {
    return this.#factor * rawMs(bytes);
  }

  observe(bytes: number, tookMs: number): void {
    this.#factor += TRUST * (tookMs / rawMs(bytes) - this.#factor);
  }
}

function rawMs(bytes: number): number {
  return LEAST_MS + MS_PER_BYTE * bytes;
}
