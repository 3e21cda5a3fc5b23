// Money is integer arithmetic. A price is micro-dollars per million tokens, which is pico-dollars per token: tokens ×
// price is exact, and nothing is ever rounded. Decimal text is for display and for what people type.

/** All prices are integers in micro-dollars per 1,000,000 tokens. */
export interface Price {
  readonly inputMicroUsd: number;
  /** Input that an upstream had cached. */
  readonly cachedInputMicroUsd: number;
  readonly outputMicroUsd: number;
}

/** A price of a model from a moment on, until a later one. */
export interface DatedPrice {
  readonly modelId: string;
  readonly effectiveFromMs: number;
  readonly price: Price;
  readonly createdAtMs: number;
  readonly createdBy: string;
}

/** What a cost is computed of. */
export interface BilledTokens {
  /** Cached ones included. */
  readonly inputTokens: number;
  readonly cachedTokens: number;
  /** Reasoning included. */
  readonly outputTokens: number;
}

export const PICO_USD_PER_MICRO_USD = 1_000_000n;
const MICRO_USD_PER_USD = 1_000_000;
const PICO_DIGITS = 12;
const PICO_USD_PER_USD = 10n ** BigInt(PICO_DIGITS);
const DECIMAL_USD = /^(\d{1,7})(?:\.(\d{1,12}))?$/;

/** The highest price that is taken: $1,000 per million tokens. With MAX_BILLED_TOKENS a cost fits 64 bits. */
export const MAX_PRICE_MICRO_USD = 1_000_000_000;
/** The highest count of tokens that is believed of one request. */
export const MAX_BILLED_TOKENS = 1_000_000_000;

/** US dollars per 1,000,000 tokens, for display. */
export function toUsdPerMillionTokens(microUsd: number): number {
  return microUsd / MICRO_USD_PER_USD;
}

/** Pico-dollars, exact. */
export function costPicoUsd({ inputTokens, cachedTokens, outputTokens }: BilledTokens, price: Price): bigint {
  const cached = Math.min(cachedTokens, inputTokens);
  return (
    BigInt(inputTokens - cached) * BigInt(price.inputMicroUsd) +
    BigInt(cached) * BigInt(price.cachedInputMicroUsd) +
    BigInt(outputTokens) * BigInt(price.outputMicroUsd)
  );
}

/** Exact decimal dollars without trailing zeros: `4762800n` → `0.0000047628`. */
export function formatUsd(picoUsd: bigint): string {
  const sign = picoUsd < 0n ? '-' : '';
  const digits = String(picoUsd < 0n ? -picoUsd : picoUsd).padStart(PICO_DIGITS + 1, '0');
  const fraction = digits.slice(-PICO_DIGITS).replace(/0+$/, '');
  return `${sign}${digits.slice(0, -PICO_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Dollars per 1,000,000 tokens, exact. */
export function formatPrice(microUsd: number): string {
  return formatUsd(BigInt(microUsd) * PICO_USD_PER_MICRO_USD);
}

/** `12.50` → pico-dollars. @returns undefined unless it is a decimal of up to 7 digits before and 12 after the point */
export function findPicoUsd(text: string): bigint | undefined {
  const match = DECIMAL_USD.exec(text);
  if (match === null) return undefined;
  const [, whole = '0', fraction = ''] = match;
  return BigInt(whole) * PICO_USD_PER_USD + BigInt(fraction.padEnd(PICO_DIGITS, '0'));
}
