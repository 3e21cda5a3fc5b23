// The header in which a caller says how long it will wait for its whole answer.

import type { FastifyRequest } from 'fastify';
import { AppError } from '../domain/errors.ts';

export const DEADLINE_HEADER = 'x-umpire-deadline-ms';
export const MAX_DEADLINE_MS = 600_000;

const WHOLE_NUMBER = /^[0-9]{1,6}$/;

/** @returns undefined when there is none @throws AppError `invalid_request` */
export function readDeadlineMs({ headers }: FastifyRequest): number | undefined {
  const text = headers[DEADLINE_HEADER];
  if (text === undefined) return undefined;
  const deadlineMs = typeof text === 'string' && WHOLE_NUMBER.test(text) ? Number(text) : 0;
  if (deadlineMs >= 1 && deadlineMs <= MAX_DEADLINE_MS) return deadlineMs;
  const message = `The header '${DEADLINE_HEADER}' must be a whole number of milliseconds from 1 to 600,000.`;
  throw new AppError('invalid_request', message, { param: DEADLINE_HEADER });
}
