// An upstream that is at fault, or without room: neither the caller, nor we. Says why, in one of few words that metrics,
// traces and the ledger can count.

import { AppError, type AppErrorOptions, type ErrorCode, type FailureReason } from '../domain/errors.ts';

const CODES: Readonly<Record<FailureReason, ErrorCode>> = {
  connect: 'upstream_error',
  timeout: 'upstream_timeout',
  rate_limited: 'overloaded',
  busy: 'overloaded',
  refused: 'upstream_error',
  server_error: 'upstream_error',
  error_reply: 'upstream_error',
  broken_reply: 'upstream_error',
};

interface FaultOptions extends AppErrorOptions {
  /** Default: the one of the reason. */
  readonly code?: ErrorCode;
}

export class UpstreamFault extends AppError {
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, { code = CODES[reason], ...options }: FaultOptions = {}) {
    super(code, message, options);
    this.reason = reason;
  }
}
