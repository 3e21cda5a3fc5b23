// Money is integer arithmetic. A price is micro-dollars per million tokens, so tokens × price is pico-dollars, exact.

export interface Price {
  /** Micro-dollars per 1,000,000 input tokens. */
  readonly inputMicroUsd: number;
  /** Micro-dollars per 1,000,000 output tokens. */
  readonly outputMicroUsd: number;
}

const MICRO_USD_PER_USD = 1_000_000;

/** US dollars per 1,000,000 tokens, for display. */
export function toUsdPerMillionTokens(microUsd: number): number {
  return microUsd / MICRO_USD_PER_USD;
}
