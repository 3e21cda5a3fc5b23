// `/openapi.json`: OpenAPI 3.1 built from the very schemas that validate. Adds what schemas cannot say: which error codes
// stand behind a status, and the headers of every reply.

import swagger from '@fastify/swagger';
import { createJsonSchemaTransformObject, jsonSchemaTransform } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { type ErrorCode, errorCatalogue } from '../domain/errors.ts';
import { STATUS_OF_CODE } from './error-reply.ts';

type Document = Partial<OpenAPIV3_1.Document>;
type Operation = OpenAPIV3_1.OperationObject & { readonly 'x-error-codes'?: readonly ErrorCode[] };

const EVERY_REPLY: Record<string, OpenAPIV3_1.HeaderObject> = {
  'x-request-id': { description: "The request's id; a sane one of the client is kept.", schema: { type: 'string' } },
};
const TRY_AGAIN: Record<string, OpenAPIV3_1.HeaderObject> = {
  'retry-after': { description: 'When to come back, in seconds.', schema: { type: 'integer' } },
  'retry-after-ms': { description: 'When to come back, in milliseconds.', schema: { type: 'integer' } },
};

export async function describeApi(app: FastifyInstance, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'umpire',
        version,
        description: 'Decisions, embeddings and chat behind one address and one set of keys.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'Inference', description: 'Work for a model.' },
        { name: 'Models', description: 'What there is.' },
        { name: 'Service', description: 'About the server itself.' },
      ],
      components: {
        securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of this server.' } },
      },
      security: [{ apiKey: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => finish(componentsOf(document) as Document),
  });
  let json: string | undefined;
  app.get('/openapi.json', { schema: { hide: true } }, async (_request, reply) => {
    json ??= JSON.stringify(app.swagger());
    return reply.type('application/json; charset=utf-8').send(json);
  });
}

const componentsOf = createJsonSchemaTransformObject({});

function finish(document: Document): Document {
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(path ?? {})) {
      if (typeof operation === 'object' && 'responses' in operation) describeReplies(operation as Operation);
    }
  }
  return { ...document, components: { ...document.components, schemas: usedSchemas(document) } };
}

function describeReplies(operation: Operation): void {
  const codes = operation['x-error-codes'] ?? [];
  for (const [status, reply] of Object.entries(operation.responses ?? {})) {
    if ('$ref' in reply) continue;
    const own = codes.filter((code) => STATUS_OF_CODE[code] === Number(status));
    if (own.length > 0) {
      reply.description = own.map((code) => `\`${code}\`: ${errorCatalogue[code].when}`).join('\n\n');
      reply.content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
    }
    reply.headers = { ...EVERY_REPLY, ...(status === '429' || own.includes('overloaded') ? TRY_AGAIN : {}) };
  }
}

/** Every named schema comes out twice, as input and as output; those that nothing points to are dropped. */
function usedSchemas(document: Document): Record<string, OpenAPIV3_1.SchemaObject> {
  const all = document.components?.schemas ?? {};
  const used = new Set<string>();
  const visit = (text: string): void => {
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name === undefined || used.has(name)) continue;
      used.add(name);
      visit(JSON.stringify(all[name]));
    }
  };
  visit(JSON.stringify(document.paths));
  return Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)));
}
