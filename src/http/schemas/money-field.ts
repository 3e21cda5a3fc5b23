// Dollars on the wire: exact decimals as text, never floating-point numbers. Beside what is summed stands the integer.

import { z } from 'zod';
import { findPicoUsd, formatUsd, PICO_USD_PER_MICRO_USD } from '../../domain/money.ts';

export const usdReply = z
  .string()
  .describe('US dollars, exact.')
  .meta({ examples: ['12.5'] });
export const picoUsdReply = z.string().describe('The same in pico-dollars (1e-12), a whole number.');

/** Pico-dollars. */
export function usdField(name: string) {
  const message = `The field '${name}' must be dollars as text, such as "12.50".`;
  return z
    .string(message)
    .transform((text, context) => {
      const picoUsd = findPicoUsd(text);
      if (picoUsd !== undefined) return picoUsd;
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'string', pattern: '^(\\d{1,6}(\\.\\d{1,12})?|1000000(\\.0{1,12})?)$', examples: ['12.50'] });
}

/** Dollars per 1,000,000 tokens → micro-dollars. */
export function priceField(name: string) {
  const message = `The field '${name}' must be dollars per 1,000,000 tokens as text, such as "0.0378", with at most 6 decimals.`;
  return z
    .string(message)
    .transform((text, context) => {
      const picoUsd = findPicoUsd(text);
      if (picoUsd !== undefined && picoUsd % PICO_USD_PER_MICRO_USD === 0n)
        return Number(picoUsd / PICO_USD_PER_MICRO_USD);
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    })
    .meta({ type: 'string', pattern: '^(\\d{1,3}(\\.\\d{1,6})?|1000(\\.0{1,6})?)$', examples: ['0.0378'] });
}

/** The two spellings of one cost. */
export function toWireCost(picoUsd: bigint): { cost_usd: string; cost_pico_usd: string } {
  return { cost_usd: formatUsd(picoUsd), cost_pico_usd: String(picoUsd) };
}
