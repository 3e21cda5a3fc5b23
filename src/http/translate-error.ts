// Failures in other people's vocabulary, told in ours: the web framework's errors and anything unexpected become an
// AppError. Nothing of the caller's input, and nothing of our insides, gets into a message.

import { AppError, StoreUnavailableError } from '../domain/errors.ts';
import { storeUnavailable } from '../services/refusal.ts';

/** The framework's codes that a caller can cause, with what we say instead. */
const FRAMEWORK_ERRORS: Readonly<Record<string, () => AppError>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () =>
    new AppError('invalid_request', 'The body must be JSON, sent with "Content-Type: application/json".'),
  FST_ERR_CTP_EMPTY_JSON_BODY: () => new AppError('invalid_request', 'The body is empty; it must be a JSON object.'),
  FST_ERR_CTP_INVALID_JSON_BODY: () => new AppError('invalid_request', 'The body is not valid JSON.'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new AppError('invalid_request', 'The body is not as long as the Content-Length header says.'),
  FST_ERR_CTP_BODY_TOO_LARGE: () => new AppError('request_too_large', 'The body is larger than this server takes.'),
  FST_ERR_BAD_URL: () => new AppError('invalid_request', 'The path is not a valid URL.'),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('not_found', 'No such route.'),
};

export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof StoreUnavailableError) return storeUnavailable(error);
  const code = codeOf(error);
  const known = FRAMEWORK_ERRORS[code];
  if (known !== undefined) return known();
  // Whatever else the framework calls the caller's mistake is one: also what a later version may add.
  if (code.startsWith('FST_') && isCallersMistake(error)) {
    return new AppError('invalid_request', 'The request is malformed.');
  }
  // The connection broke while the body was being read. Nobody is there to be answered, but it is not our fault.
  if (code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE') {
    return new AppError('invalid_request', 'The connection was closed before the request was complete.');
  }
  return new AppError('internal_error', 'The server made a mistake. Its log has the details under this request id.', {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

function isCallersMistake(error: unknown): boolean {
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 0;
  return status >= 400 && status < 500;
}
