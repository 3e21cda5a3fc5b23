// What a setting is declared with: its note, and the kinds of values that several settings share.

import { isIP } from 'node:net';
import { z } from 'zod';

export interface SettingNote {
  readonly help: string;
  readonly unit?: 'ms' | 'bytes' | 'tokens' | 'micro-USD per 1,000,000 tokens';
  /** Masked wherever settings are shown. */
  readonly secret?: true;
  /** A path: from the file it is relative to the file's folder, otherwise to the working directory. */
  readonly path?: true;
  /** A running server takes it over when it is told to reload; what is under way keeps what it began with. */
  readonly reloads?: true;
  /** Shown instead of a default that depends on the machine. */
  readonly defaultText?: string;
}

export const settingNotes = z.registry<SettingNote>();

/** Node's timers take no more: about 24.8 days. */
const MAX_TIMER_MS = 2 ** 31 - 1;
export const milliseconds = (min = 1): z.ZodInt => z.int().min(min).max(MAX_TIMER_MS);
export const text = z.string().min(1);
/** Buffers of one worker cannot be larger than this. */
const MAX_BYTES = 2 ** 32;
export const bytes = (min = 1): z.ZodInt => z.int().min(min).max(MAX_BYTES);
/** Of memory as a whole: no machine has more than 16 TiB. */
export const memory = (min = 1): z.ZodInt =>
  z
    .int()
    .min(min)
    .max(2 ** 44);
export const count = (min = 1): z.ZodInt => z.int().min(min).max(1_000_000);

/** An IP address, or a network of them: `10.0.0.0/8`. */
export const network = text.refine((value) => {
  const [address = '', bits, ...more] = value.split('/');
  const version = isIP(address);
  const isPrefix = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
  return version !== 0 && isPrefix && more.length === 0;
}, 'must be an IP address, or a network such as 10.0.0.0/8');
