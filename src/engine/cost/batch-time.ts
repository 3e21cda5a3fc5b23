// Door of cost, for shared runs: what a batch of so many tokens takes on a device, a + b · tokens, learnt from those that ran.
// Pure.

/** Before anything was measured: a small model on a device of today. */
const FIRST_BATCH_MS = 4;
const FIRST_TOKEN_MS = 0.002;
/** What an older batch still weighs after a newer one: about twenty are remembered. */
const MEMORY = 0.95;
/** What the first estimate weighs against measurements, in batches. */
const PRIOR = 0.2;
/** Two points that fix the first estimate. */
const PRIOR_TOKENS = [64, 4096];

interface Sums {
  weight: number;
  tokens: number;
  wallMs: number;
  tokensTokens: number;
  tokensWallMs: number;
}

export class BatchTime {
  readonly #sums: Sums = { weight: 0, tokens: 0, wallMs: 0, tokensTokens: 0, tokensWallMs: 0 };

  constructor() {
    for (const tokens of PRIOR_TOKENS) this.#add(tokens, FIRST_BATCH_MS + FIRST_TOKEN_MS * tokens, PRIOR);
  }

  observe(tokens: number, wallMs: number): void {
    const sums = this.#sums;
    for (const key of Object.keys(sums) as (keyof Sums)[]) sums[key] *= MEMORY;
    this.#add(tokens, wallMs, 1);
  }

  /** Of a whole batch. */
  batchMs(tokens: number): number {
    const { fixedMs, tokenMs } = this.#line();
    return fixedMs + tokenMs * tokens;
  }

  /** What a task of so many tokens adds to the work of a device that runs full batches. */
  shareMs(tokens: number, mostTokens: number): number {
    return (this.batchMs(mostTokens) * tokens) / mostTokens;
  }

  #add(tokens: number, wallMs: number, weight: number): void {
    const sums = this.#sums;
    sums.weight += weight;
    sums.tokens += weight * tokens;
    sums.wallMs += weight * wallMs;
    sums.tokensTokens += weight * tokens * tokens;
    sums.tokensWallMs += weight * tokens * wallMs;
  }

  /** The straight line of least squares, neither part of it below nothing. */
  #line(): { fixedMs: number; tokenMs: number } {
    const { weight, tokens, wallMs, tokensTokens, tokensWallMs } = this.#sums;
    const spread = weight * tokensTokens - tokens * tokens;
    const tokenMs = spread > 0 ? Math.max(0, (weight * tokensWallMs - tokens * wallMs) / spread) : 0;
    const fixedMs = (wallMs - tokenMs * tokens) / weight;
    return fixedMs >= 0 ? { fixedMs, tokenMs } : { fixedMs: 0, tokenMs: wallMs / tokens };
  }
}
