// One route's schema: what it takes, what it gives, which errors it can end with. The same object validates requests and
// becomes an operation of `/openapi.json`.

import type { z } from 'zod';
import { type ErrorCode, errorCatalogue } from '../domain/errors.ts';
import { errorBodySchema } from './schemas/error-body.ts';

/** What can happen on any route behind authentication, besides `invalid_request`, which any head can be. */
const ERRORS_OF_EVERY_API_ROUTE: readonly ErrorCode[] = [
  'invalid_api_key',
  'insufficient_scope',
  'rate_limit_exceeded',
  'overloaded',
  'store_unavailable',
  'internal_error',
];
/** What can happen on any route that runs a model. */
const ERRORS_OF_EVERY_INFERENCE: readonly ErrorCode[] = [
  'context_length_exceeded',
  'model_type_mismatch',
  'insufficient_quota',
  'model_not_allowed',
  'model_not_found',
  'model_unavailable',
  'idempotency_key_reused',
  'idempotency_key_in_use',
];
/** What can happen to any request with a body. */
const ERRORS_OF_EVERY_BODY: readonly ErrorCode[] = ['request_timeout', 'request_too_large'];

export interface OperationDocs {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tag: 'Inference' | 'Models' | 'Usage' | 'Administration' | 'Service';
  /** Besides those of every route of its kind. */
  readonly errors: readonly ErrorCode[];
  /** Default: it is. */
  readonly needsKey?: boolean;
  /** Whether the request may come without its body. */
  readonly isBodyOptional?: true;
  /** Whether the caller may say how long it will wait. */
  readonly takesDeadline?: true;
  /** A request body that the server takes. */
  readonly example?: unknown;
  /** What the events are, where the route can answer with server-sent events too. */
  readonly eventStream?: string;
  /** What the rows are, where the route can answer with CSV too. */
  readonly csv?: string;
}

declare module 'fastify' {
  interface FastifySchema {
    operationId?: string;
    summary?: string;
    description?: string;
    tags?: readonly string[];
    security?: readonly Record<string, readonly string[]>[];
    hide?: boolean;
    produces?: readonly string[];
    /** Read by openapi.ts to describe each error status. */
    'x-error-codes'?: readonly ErrorCode[];
    /** Moved by openapi.ts to where it belongs: schemas cannot say it. */
    'x-body-optional'?: true;
    /** The same: headers have no schema here. */
    'x-takes-deadline'?: true;
    /** Moved by openapi.ts to where it belongs: zod drops examples of schemas that transform. */
    'x-request-example'?: unknown;
    /** Moved by openapi.ts to a second content type of the reply. */
    'x-event-stream'?: string;
    /** The same for CSV. */
    'x-csv'?: string;
  }
}

interface OperationSchemas {
  readonly body?: z.ZodType;
  readonly params?: z.ZodType;
  readonly querystring?: z.ZodType;
  /** By status; error replies are added from `docs.errors`. */
  readonly response: Readonly<Record<number, z.ZodType>>;
  /** Content type of the reply, when it is not JSON. */
  readonly produces?: readonly string[];
}

export function operation<Schemas extends OperationSchemas>(docs: OperationDocs, schemas: Schemas) {
  const codes = errorsOf(docs, schemas.body !== undefined);
  const errorReplies = Object.fromEntries(codes.map((code) => [errorCatalogue[code].status, errorBodySchema]));
  return {
    ...schemas,
    operationId: docs.operationId,
    summary: docs.summary,
    description: docs.description,
    tags: [docs.tag],
    ...securityOf(docs),
    response: { ...schemas.response, ...errorReplies },
    'x-error-codes': codes,
    ...(docs.isBodyOptional ? { 'x-body-optional': true as const } : {}),
    ...(docs.takesDeadline ? { 'x-takes-deadline': true as const } : {}),
    ...(docs.example === undefined ? {} : { 'x-request-example': docs.example }),
    ...(docs.eventStream === undefined ? {} : { 'x-event-stream': docs.eventStream }),
    ...(docs.csv === undefined ? {} : { 'x-csv': docs.csv }),
  };
}

/** The keys of openapi.ts, by scope. */
function securityOf({ tag, needsKey }: OperationDocs): { security: Record<string, string[]>[] } {
  if (needsKey === false) return { security: [] };
  return { security: [tag === 'Administration' ? { adminKey: [] } : { inferenceKey: [] }] };
}

function errorsOf(docs: OperationDocs, hasBody: boolean): readonly ErrorCode[] {
  const codes = new Set<ErrorCode>([
    'invalid_request',
    ...docs.errors,
    ...(docs.needsKey === false ? [] : ERRORS_OF_EVERY_API_ROUTE),
    ...(docs.tag === 'Inference' ? ERRORS_OF_EVERY_INFERENCE : []),
    ...(hasBody ? ERRORS_OF_EVERY_BODY : []),
  ]);
  return (Object.keys(errorCatalogue) as ErrorCode[]).filter((code) => codes.has(code));
}
