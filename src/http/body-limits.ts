// How much a body may be, by route, and the words for one that is more. What is in it is the parser's business.

import { AppError } from '../domain/errors.ts';

export interface BodyLimits {
  /** Decoded, where the body came encoded. */
  readonly bytes: number;
  /** Objects, arrays, strings, numbers and literals together; an empty object or array counts twice. */
  readonly values: number;
}

export interface BodyLimitsByRoute {
  readonly decisions: BodyLimits;
  readonly embeddings: BodyLimits;
  readonly reranking: BodyLimits;
  readonly chat: BodyLimits;
  readonly administration: BodyLimits;
  readonly learning: BodyLimits;
}

/** Far above what a model's context can hold: what is longer is no document but an attack, or a mistake. */
const MAX_VALUES = 100_000;
/** 2,048 arrays of as many ids of tokens as a text may have. */
const MAX_TOKEN_ARRAY_VALUES = 600_000;
/** Ten thousand rows with a hundred values each. */
const MAX_LEARNING_VALUES = 1_000_000;
const ADMINISTRATION: BodyLimits = { bytes: 256 * 1024, values: 10_000 };

export interface ConfiguredBodyLimits {
  readonly bodyLimitBytes: number;
  readonly decisionBodyLimitBytes: number;
  readonly learningBodyLimitBytes: number;
}

/** @param configured asked again for every body: its bytes may change while the server runs */
export function bodyLimitsByRoute(
  configured: () => ConfiguredBodyLimits,
  tokenArrays: 'refuse' | 'model',
): BodyLimitsByRoute {
  const limits = (values: number, bytesOf: (of: ConfiguredBodyLimits) => number): BodyLimits => ({
    values,
    get bytes() {
      return bytesOf(configured());
    },
  });
  const any = limits(MAX_VALUES, ({ bodyLimitBytes }) => bodyLimitBytes);
  return {
    decisions: limits(MAX_VALUES, (of) => Math.min(of.bodyLimitBytes, of.decisionBodyLimitBytes)),
    embeddings: limits(
      tokenArrays === 'model' ? MAX_TOKEN_ARRAY_VALUES : MAX_VALUES,
      ({ bodyLimitBytes }) => bodyLimitBytes,
    ),
    reranking: any,
    chat: any,
    administration: ADMINISTRATION,
    learning: limits(MAX_LEARNING_VALUES, ({ learningBodyLimitBytes }) => learningBodyLimitBytes),
  };
}

/** `8,388,608 bytes (8 MiB)` */
export function describeBytes(bytes: number): string {
  const exact = `${bytes.toLocaleString('en-US')} bytes`;
  const [unit, size] = bytes % MIB === 0 ? ['MiB', MIB] : ['KiB', 1024];
  return bytes % size === 0 ? `${exact} (${bytes / size} ${unit})` : exact;
}

const MIB = 1024 * 1024;

export function tooManyBytes({ bytes }: BodyLimits): AppError {
  const message = `The body is larger than this route takes: at most ${describeBytes(bytes)}, counted after decoding.`;
  return new AppError('request_too_large', message);
}

export function tooManyValues({ values }: BodyLimits): AppError {
  const most = values.toLocaleString('en-US');
  return new AppError(
    'request_too_large',
    `The body has more values than this route takes: at most ${most} objects, arrays, strings, numbers and literals.`,
  );
}
