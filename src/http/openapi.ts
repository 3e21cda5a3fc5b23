// `/openapi.json`: OpenAPI 3.1 built from the very schemas that validate. Adds what schemas cannot say, such as which
// error codes stand behind a status.

import swagger from '@fastify/swagger';
import { createJsonSchemaTransformObject, jsonSchemaTransform } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import type { KeyScope } from '../domain/api-key.ts';
import type { BodyLimitsByRoute } from './body-limits.ts';
import { describeBodies } from './openapi-bodies.ts';
import { DEADLINE, IDEMPOTENCY_KEY } from './openapi-headers.ts';
import { type Document, describeReplies, type Operation, sharedReplies } from './openapi-replies.ts';
import { operation } from './operation.ts';

const documentSchema = operation(
  {
    operationId: 'describe',
    summary: 'This description',
    description: 'Every route, what it takes and what it gives, built from the schemas that check requests.',
    tag: 'Service',
    errors: [],
    needsKey: false,
  },
  {
    response: { 200: z.looseObject({ openapi: z.string().describe('Version of OpenAPI.') }).describe('OpenAPI 3.1.') },
  },
);

export interface Described {
  readonly version: string;
  readonly bodyLimits: BodyLimitsByRoute;
}

export async function describeApi(app: FastifyInstance, { version, bodyLimits }: Described): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'umpire',
        version,
        description: [
          'Decisions, embeddings, reranking and chat behind one address and one set of keys. Bodies are JSON in UTF-8. Moments are',
          'those of RFC 3339; where one is asked for, a date alone is its midnight in UTC.',
        ].join(' '),
        contact: { name: 'Whoever runs this server' },
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: '/' }],
      tags: [
        { name: 'Inference', description: 'Work for a model.' },
        { name: 'Models', description: 'What there is.' },
        { name: 'Usage', description: 'What the calling key used.' },
        { name: 'Administration', description: 'Keys, prices and reports, for keys with the scope `admin`.' },
        { name: 'Service', description: 'About the server itself.' },
      ],
      components: {
        securitySchemes: {
          inferenceKey: keyOfScope('inference'),
          adminKey: keyOfScope('admin'),
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: (document) => finish(componentsOf(document) as Document),
  });
  const text = new DescriptionText(() => app.swagger() as Document, bodyLimits);
  // Tens of milliseconds in which nobody else is served: not in the first request of whoever comes.
  app.addHook('onReady', (done) => {
    text.now();
    done();
  });
  app.get('/openapi.json', { schema: documentSchema }, async (_request, reply) => {
    return reply.type('application/json; charset=utf-8').send(text.now());
  });
}

/** The limits of bodies may change while the server runs; the rest of the document is made once. */
class DescriptionText {
  readonly #open: () => Document;
  readonly #limits: BodyLimitsByRoute;
  #document: Document | undefined;
  #limitsThen = '';
  #json = '';

  constructor(open: () => Document, limits: BodyLimitsByRoute) {
    this.#open = open;
    this.#limits = limits;
  }

  now(): string {
    const limits = JSON.stringify(this.#limits);
    if (limits === this.#limitsThen) return this.#json;
    this.#limitsThen = limits;
    this.#document ??= this.#open();
    describeBodies(this.#document.paths ?? {}, this.#limits);
    this.#json = JSON.stringify(this.#document);
    return this.#json;
  }
}

function keyOfScope(scope: KeyScope): OpenAPIV3_1.HttpSecurityScheme {
  return { type: 'http', scheme: 'bearer', description: `An API key of this server with the scope \`${scope}\`.` };
}

const componentsOf = createJsonSchemaTransformObject({});

function finish(document: Document): Document {
  for (const path of Object.values(document.paths ?? {})) {
    for (const operation of Object.values(path ?? {})) {
      if (typeof operation !== 'object' || !('responses' in operation)) continue;
      placeOptionalBody(operation as Operation);
      placeExample(operation as Operation);
      describeReplies(operation as Operation, document);
      placeIdempotencyKey(operation as Operation);
      placeDeadline(operation as Operation);
      placeOtherForms(operation as Operation);
    }
  }
  const components = { ...document.components, ...sharedReplies(document) };
  const schemas = usedSchemas({ ...document, components });
  return withPlainNames(withoutNoise({ ...document, components: { ...components, schemas } }));
}

function placeOptionalBody(operation: Operation): void {
  const isOptional = operation['x-body-optional'] === true;
  delete operation['x-body-optional'];
  const body = operation.requestBody;
  if (isOptional && body !== undefined && !('$ref' in body)) body.required = false;
}

function placeExample(operation: Operation): void {
  const example = operation['x-request-example'];
  delete operation['x-request-example'];
  const body = operation.requestBody;
  if (example === undefined || body === undefined || '$ref' in body) return;
  for (const media of Object.values(body.content)) media.example = example;
}

/** What a route can answer besides JSON. */
function placeOtherForms(operation: Operation): void {
  const { 'x-event-stream': events, 'x-csv': csv } = operation;
  delete operation['x-event-stream'];
  delete operation['x-csv'];
  const reply = operation.responses?.['200'];
  if (reply === undefined || '$ref' in reply) return;
  if (csv !== undefined)
    reply.content = { ...reply.content, 'text/csv': { schema: { type: 'string', description: csv } } };
  if (events === undefined) return;
  // Without a schema: before OpenAPI 3.2 nothing says whether one is of the whole text or of each event.
  reply.content = { ...reply.content, 'text/event-stream': {} };
  reply.description = `${reply.description}\n\n${events}`;
}

/** Not in the schemas: the header is checked where it is read. */
function placeIdempotencyKey(operation: Operation): void {
  if (operation['x-error-codes']?.includes('idempotency_key_reused') !== true) return;
  operation.parameters = [...(operation.parameters ?? []), IDEMPOTENCY_KEY];
}

function placeDeadline(operation: Operation): void {
  const takesDeadline = operation['x-takes-deadline'] === true;
  delete operation['x-takes-deadline'];
  if (takesDeadline) operation.parameters = [...(operation.parameters ?? []), DEADLINE];
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
  visit(JSON.stringify([document.paths, document.components?.responses]));
  return Object.fromEntries(Object.entries(all).filter(([name]) => used.has(name)));
}

/**
 * zod bounds every integer by what a double holds exactly. Generators need to know that it may not fit into 32 bits; the
 * bounds themselves would only be repeated to readers.
 */
function withoutNoise(document: Document): Document {
  return JSON.parse(JSON.stringify(document), (_name, value: Record<string, unknown> | null) => {
    if (typeof value !== 'object' || value?.['type'] !== 'integer' || 'const' in value) return value;
    const { minimum, maximum, ...rest } = value;
    const isBoundedBelow = minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER;
    const isBoundedAbove = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER;
    return {
      ...rest,
      ...(isBoundedAbove ? {} : { format: 'int64' }),
      ...(isBoundedBelow ? { minimum } : {}),
      ...(isBoundedAbove ? { maximum } : {}),
    };
  });
}

/** The provider names what a request takes `…Input`; here no schema is used both ways, so the plain name is free. */
function withPlainNames(document: Document): Document {
  const schemas = Object.entries(document.components?.schemas ?? {});
  const renamed = schemas.map(([name, schema]) => [name.replace(/Input$/, ''), schema]);
  const all = { ...document, components: { ...document.components, schemas: Object.fromEntries(renamed) } };
  return JSON.parse(JSON.stringify(all).replaceAll(/("#\/components\/schemas\/[^"]+?)Input"/g, '$1"')) as Document;
}
