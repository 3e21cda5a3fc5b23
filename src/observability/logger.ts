// The log: JSON lines, or plain text on a terminal. Owns what must never get into it: keys, request headers, texts of
// callers. What is worth a line, the caller decides.

import { type Logger, pino } from 'pino';
import { AppError } from '../domain/errors.ts';
import { MASK, MASKING_SERIALIZERS, maskInside } from './masked-fields.ts';
import { type LinePaint, toTextLine } from './text-line.ts';

export type { Logger } from 'pino';

export interface LoggerOptions {
  readonly level: string;
  readonly format: 'json' | 'text';
  /** Of text. Default: as it is. */
  readonly paint?: LinePaint;
  /** Texts that are cut out wherever they appear: the keys of the configuration. More may be added at any time. */
  readonly secrets?: readonly string[];
  /** Receives whole lines. Default: standard output, written at once, so that nothing is lost at the exit. */
  readonly destination?: LogDestination;
}

export interface LogDestination {
  write(line: string): unknown;
}

const ISSUED_KEY = /ump_[0-9A-Za-z]{38}/g;
const MAX_CAUSES = 3;

interface Description {
  readonly hasFrames: boolean;
  readonly depth: number;
}

const FRAMES: Description = { hasFrames: true, depth: 0 };
const NO_FRAMES: Description = { hasFrames: false, depth: 0 };

const SERIALIZERS = {
  ...MASKING_SERIALIZERS,
  err: (error: unknown) => describeError(error, FRAMES),
  // Of a failure that is expected: what happened. Where in our code, nobody asks.
  cause: (error: unknown) => describeError(error, NO_FRAMES),
  req: describeRequest,
  res: () => undefined,
};
const DESCRIBED: ReadonlySet<string> = new Set(Object.keys(SERIALIZERS));
const maskObjects = (fields: object): Record<string, unknown> =>
  maskInside(fields as Record<string, unknown>, DESCRIBED);

export function createLogger(options: LoggerOptions): Logger {
  const { level, format, paint = plain, secrets = [], destination = pino.destination({ fd: 1, sync: true }) } = options;
  const scrub = scrubber(secrets);
  const write = (line: string): unknown => destination.write(scrub(format === 'text' ? toTextLine(line, paint) : line));
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: maskObjects },
      serializers: SERIALIZERS,
    },
    { write },
  );
}

const plain: LinePaint = (_style, text) => text;

function scrubber(secrets: readonly string[]): (line: string) => string {
  let needles: readonly string[] = [];
  let known = 0;
  return (line) => {
    if (known !== secrets.length) {
      known = secrets.length;
      // As they are, and as they look inside a JSON string.
      needles = secrets.flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)]);
    }
    return needles.reduce((text, needle) => text.replaceAll(needle, MASK), line.replace(ISSUED_KEY, MASK));
  };
}

/** Without the message where it holds text of the caller: it says so itself, or it is a parser quoting its input. */
function describeError(error: unknown, { hasFrames, depth }: Description): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error };
  const quotesInput = error instanceof SyntaxError || (error instanceof AppError && error.quotesCaller);
  const { cause } = error;
  return {
    type: error.name,
    ...('code' in error ? { code: error.code } : {}),
    ...(quotesInput ? {} : { message: error.message }),
    ...(hasFrames ? { stack: framesOf(error) } : {}),
    ...(cause === undefined || depth >= MAX_CAUSES
      ? {}
      : { cause: describeError(cause, { hasFrames, depth: depth + 1 }) }),
  };
}

/** Without the lines before them, which repeat the message. */
function framesOf(error: Error): string | undefined {
  return error.stack
    ?.split('\n')
    .filter((line) => /^\s+at /.test(line))
    .join('\n');
}

/** No headers, and no query: both may hold a key. */
function describeRequest(request: { readonly method?: string; readonly url?: string }): Record<string, unknown> {
  return { method: request.method, path: request.url?.split('?')[0] };
}
