// Replies as `/openapi.json` describes them: which error codes stand behind a status, and the headers of every reply. What
// many routes share, headers and error replies, stands once, under `components`.

import type { OpenAPIV3_1 } from 'openapi-types';
import { type ErrorCode, errorCatalogue } from '../domain/errors.ts';
import { EVERY_REPLY, type HeaderDocs, INFERENCE_REPLY, STANDING, TRY_AGAIN } from './openapi-headers.ts';

export type Document = Partial<OpenAPIV3_1.Document>;
export type Operation = OpenAPIV3_1.OperationObject & {
  readonly 'x-error-codes'?: readonly ErrorCode[];
  'x-body-optional'?: true;
  'x-takes-deadline'?: true;
  'x-request-example'?: unknown;
  'x-event-stream'?: string;
  'x-csv'?: string;
};

const TRY_AGAIN_CODES: readonly ErrorCode[] = [
  'rate_limit_exceeded',
  'overloaded',
  'store_unavailable',
  'idempotency_key_in_use',
];
const STANDING_CODES: readonly ErrorCode[] = ['insufficient_quota', 'rate_limit_exceeded'];

/** In place. Error replies become references to what `sharedReplies` gives. */
export function describeReplies(operation: Operation, document: Document): void {
  const isInference = operation.tags?.includes('Inference') ?? false;
  const { responses = {} } = operation;
  for (const [status, reply] of Object.entries(responses)) {
    if ('$ref' in reply) continue;
    const codes = codesOf(operation, status);
    if (codes.length > 0) {
      responses[status] = { $ref: `#/components/responses/${nameOf(codes)}` };
      continue;
    }
    reply.description = describedBySchema(reply, document) ?? reply.description;
    reply.headers = refer({ ...EVERY_REPLY, ...(status === '200' && isInference ? INFERENCE_REPLY : {}) });
  }
}

/** Everything that the replies of the document refer to but their schemas. */
export function sharedReplies({ paths = {} }: Document): Pick<OpenAPIV3_1.ComponentsObject, 'headers' | 'responses'> {
  const operations = Object.values(paths).flatMap((path) => Object.values(path ?? {}) as Operation[]);
  const errors = operations.flatMap((operation) =>
    Object.keys(operation.responses ?? {})
      .map((status) => codesOf(operation, status))
      .filter((codes) => codes.length > 0)
      .map((codes) => [nameOf(codes), describeErrors(codes)] as const),
  );
  return { headers: { ...EVERY_REPLY, ...INFERENCE_REPLY, ...TRY_AGAIN }, responses: Object.fromEntries(errors) };
}

function codesOf(operation: Operation, status: string): readonly ErrorCode[] {
  return operation['x-error-codes']?.filter((code) => errorCatalogue[code].status === Number(status)) ?? [];
}

function nameOf(codes: readonly ErrorCode[]): string {
  return codes.join('-or-');
}

function describeErrors(codes: readonly ErrorCode[]): OpenAPIV3_1.ResponseObject {
  const has = (some: readonly ErrorCode[]): boolean => codes.some((code) => some.includes(code));
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCatalogue[code].when}`).join('\n\n'),
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    headers: refer({
      ...EVERY_REPLY,
      ...(has(TRY_AGAIN_CODES) ? TRY_AGAIN : {}),
      ...(has(STANDING_CODES) ? STANDING : {}),
    }),
  };
}

function refer(headers: HeaderDocs): Record<string, OpenAPIV3_1.ReferenceObject> {
  return Object.fromEntries(Object.keys(headers).map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The description of the named schema that a reply points to. */
function describedBySchema(reply: OpenAPIV3_1.ResponseObject, document: Document): string | undefined {
  const schema = reply.content?.['application/json']?.schema;
  if (schema === undefined || !('$ref' in schema)) return undefined;
  return document.components?.schemas?.[schema.$ref.replace('#/components/schemas/', '')]?.description;
}
