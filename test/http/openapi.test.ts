// `/openapi.json`, docs/errors.md and the catalogue of errors say the same, and the description fits what is served.

import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import type { OpenAPIV3_1 } from 'openapi-types';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderErrorsPage } from '../../src/docs/errors-page.ts';
import { renderOpenapiDocument } from '../../src/docs/openapi-document.ts';
import { type ErrorCode, errorCatalogue } from '../../src/domain/errors.ts';
import { AdminServer, type Caller } from '../application/admin-server.ts';

const page = (path: string) => readFileSync(new URL(`../../docs/${path}`, import.meta.url), 'utf8');
const catalogue = Object.keys(errorCatalogue).sort();

let server: AdminServer;
let caller: Caller;
let document: OpenAPIV3_1.Document;
beforeAll(async () => {
  server = await AdminServer.start();
  caller = await server.createCaller({ scopes: ['inference', 'admin'] });
  document = (await server.get('/openapi.json', caller)).json;
});
afterAll(() => server.close());

const operations = () =>
  Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods ?? {}).map(([method, operation]) => ({
      path,
      method,
      operation: withReplies(operation as OpenAPIV3_1.OperationObject & { 'x-error-codes': ErrorCode[] }),
    })),
  );

/** Each reply itself, in the place of a reference to it. */
function withReplies<O extends OpenAPIV3_1.OperationObject>(operation: O): O {
  const responses = Object.entries(operation.responses ?? {}).map(([status, reply]) => {
    const shared = '$ref' in reply ? reply.$ref.replace('#/components/responses/', '') : undefined;
    return [status, shared === undefined ? reply : document.components?.responses?.[shared]];
  });
  return { ...operation, responses: Object.fromEntries(responses) };
}

describe('/openapi.json', () => {
  it('is valid OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
    expect(document.openapi).toMatch(/^3\.1/);
  });

  it('has what it refers to, and no reply, header or schema that nothing refers to', () => {
    const { schemas, responses, headers } = document.components ?? {};
    const kinds = Object.entries({ schemas, responses, headers });
    const named = kinds.flatMap(([kind, all]) => Object.keys(all ?? {}).map((name) => `#/components/${kind}/${name}`));
    const referred = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target);
    expect([...new Set(referred)].sort()).toEqual(named.sort());
  });

  it('describes every route', () => {
    expect(
      operations()
        .map(({ method, path }) => `${method.toUpperCase()} ${path}`)
        .sort(),
    ).toEqual([
      'DELETE /admin/v1/models/{id}',
      'GET /admin/v1/audit',
      'GET /admin/v1/keys',
      'GET /admin/v1/keys/{id}',
      'GET /admin/v1/keys/{id}/standing',
      'GET /admin/v1/latency',
      'GET /admin/v1/models',
      'GET /admin/v1/models/{id}',
      'GET /admin/v1/prices',
      'GET /admin/v1/prices/history',
      'GET /admin/v1/requests',
      'GET /admin/v1/requests/feed',
      'GET /admin/v1/status',
      'GET /admin/v1/usage',
      'GET /ai/v1/models',
      'GET /ai/v1/models/{id}',
      'GET /ai/v1/usage',
      'GET /healthz',
      'GET /metrics',
      'GET /openapi.json',
      'GET /readyz',
      'PATCH /admin/v1/keys/{id}',
      'POST /admin/v1/keys',
      'POST /admin/v1/keys/{id}/revoke',
      'POST /admin/v1/keys/{id}/rotate',
      'POST /admin/v1/models',
      'POST /admin/v1/prices',
      'POST /ai/v1/chat/completions',
      'POST /ai/v1/completions',
      'POST /ai/v1/embeddings',
      'POST /ai/v1/rerank',
      'POST /ai/v1/responses',
      'POST /ai/v1/systemone',
    ]);
  });

  it('asks for a key with the right scope under /ai/v1 and /admin/v1, and nowhere else', () => {
    const bearer = { type: 'http', scheme: 'bearer' };
    expect(document.components?.securitySchemes).toMatchObject({ inferenceKey: bearer, adminKey: bearer });
    const scopeOf = (path: string) => /^\/(ai|admin)\/v1\//.exec(path)?.[1]?.replace('ai', 'inference');
    for (const { path, operation } of operations()) {
      const scope = scopeOf(path);
      expect([path, operation.security]).toEqual([path, scope === undefined ? [] : [{ [`${scope}Key`]: [] }]]);
      expect(operation['x-error-codes'].includes('insufficient_scope')).toBe(scope !== undefined);
    }
  });

  it('describes each reply in words', () => {
    for (const { operation } of operations()) {
      for (const reply of Object.values(operation.responses ?? {})) {
        expect(reply).toMatchObject({ description: expect.stringMatching(/^(?!Default Response)./) });
      }
    }
  });

  it('documents decisions as the object that a client writes', () => {
    const { DecisionRequest } = document.components?.schemas ?? {};
    expect(DecisionRequest).toMatchObject({
      type: 'object',
      required: ['model', 'state', 'questions'],
      properties: {
        questions: { type: 'object', minProperties: 1, maxProperties: 1024, propertyNames: { maxLength: 1024 } },
      },
    });
  });

  it('tells of costs, limits and retries on every route that runs a model, and only there', () => {
    for (const { operation } of operations()) {
      const runsModel =
        operation.tags?.includes('Inference') === true && operation['x-error-codes'].includes('overloaded');
      const headersOf = (status: string) =>
        Object.keys((operation.responses?.[status] as OpenAPIV3_1.ResponseObject | undefined)?.headers ?? {});
      expect(headersOf('200').includes('x-umpire-cost-usd')).toBe(runsModel);
      expect(headersOf('402').includes('x-umpire-budget-remaining-usd')).toBe(runsModel);
      const parameters = (operation.parameters ?? []) as OpenAPIV3_1.ParameterObject[];
      expect(parameters.some(({ name }) => name === 'Idempotency-Key')).toBe(runsModel);
      if (!runsModel) continue;
      expect(headersOf('429')).toEqual(expect.arrayContaining(['retry-after-ms', 'x-ratelimit-reset-requests']));
      expect(headersOf('409')).toContain('retry-after');
      expect(headersOf('503')).toContain('retry-after-ms');
    }
  });

  it('gives examples that the server takes', async () => {
    const examples = operations().flatMap(({ path, method, operation }) => {
      const body = operation.requestBody as OpenAPIV3_1.RequestBodyObject | undefined;
      const status = Object.keys(operation.responses ?? {}).find((name) => name.startsWith('2'));
      return Object.values(body?.content ?? {}).map(({ example }) => ({ path, method, example, status }));
    });
    for (const { path, method, example, status } of examples) {
      const url = path.replace('{id}', (await server.createCaller()).key.id);
      const reply = await server.server.send(method === 'patch' ? 'PATCH' : 'POST', url, example, caller.headers);
      expect([path, reply.status]).toEqual([path, Number(status)]);
    }
    expect(examples).toHaveLength(11);
  });

  it('says where a reply can be CSV', () => {
    const paths = operations()
      .filter(({ operation }) => JSON.stringify(operation.responses).includes('"text/csv"'))
      .map(({ path }) => path);
    expect(paths).toEqual(['/admin/v1/usage', '/admin/v1/requests']);
  });
});

describe('the schemas', () => {
  const schemas = () => document.components?.schemas as Record<string, OpenAPIV3_1.SchemaObject>;
  /** Every property of every object, with its path. */
  function propertiesOf(schema: unknown, path: string): { path: string; schema: OpenAPIV3_1.SchemaObject }[] {
    if (typeof schema !== 'object' || schema === null) return [];
    return Object.entries(schema).flatMap(([name, value]) => {
      const inner = propertiesOf(value, `${path}.${name}`);
      if (name !== 'properties' || path.endsWith('.properties')) return inner;
      return [
        ...Object.entries(value as object).map(([property, own]) => ({ path: `${path}.${property}`, schema: own })),
        ...inner,
      ];
    });
  }
  const properties = () => propertiesOf(schemas(), '');
  /** A reference is described where it leads to. */
  const isDescribed = (schema: OpenAPIV3_1.SchemaObject) =>
    [schema, ...(schema.anyOf ?? [])].some((one) => ('description' in one && one.description !== '') || '$ref' in one);

  it('give the types of questions and answers names that clients are generated with', () => {
    const names = ['ChoiceQuestion', 'ScoreQuestion', 'NoulQuestion', 'ChoiceAnswer', 'ScoreAnswer', 'NoulAnswer'];
    expect(Object.keys(schemas())).toEqual(expect.arrayContaining(names));
    for (const kind of ['Question', 'Answer']) {
      const mapping = { choice: `Choice${kind}`, score: `Score${kind}`, noul: `Noul${kind}` };
      const refs = Object.entries(mapping).map(([type, name]) => [type, `#/components/schemas/${name}`] as const);
      expect(schemas()[kind]).toMatchObject({
        oneOf: refs.map(([, $ref]) => ({ $ref })),
        discriminator: { propertyName: 'type', mapping: Object.fromEntries(refs) },
      });
    }
    expect(schemas()['DecisionRequest']?.properties?.['questions']).toMatchObject({
      additionalProperties: { $ref: '#/components/schemas/Question' },
    });
    expect(schemas()['Decision']?.properties?.['answers']).toMatchObject({
      additionalProperties: { $ref: '#/components/schemas/Answer' },
    });
  });

  it('are described, each with every property and parameter', () => {
    expect(Object.entries(schemas()).filter(([, schema]) => !isDescribed(schema))).toEqual([]);
    expect(properties().filter(({ schema }) => !isDescribed(schema))).toEqual([]);
    const parameters = operations().flatMap(({ operation }) => operation.parameters ?? []);
    expect(parameters.filter((parameter) => !isDescribed(parameter as OpenAPIV3_1.SchemaObject))).toEqual([]);
    expect(operations().filter(({ operation }) => !isDescribed(operation as OpenAPIV3_1.SchemaObject))).toEqual([]);
    expect(properties().length).toBeGreaterThan(100);
  });

  it('say which texts are moments and days', () => {
    const formatOf = (schema: OpenAPIV3_1.SchemaObject) =>
      [schema, ...((schema.anyOf ?? []) as OpenAPIV3_1.SchemaObject[])].find(({ format }) => format)?.format;
    const moments = properties().filter(({ path }) => /\.(from|to|start|at|\w+_at|effective_from)$/.test(path));
    expect(moments.map(({ path, schema }) => [path, formatOf(schema)])).toEqual(
      moments.map(({ path }) => [path, 'date-time']),
    );
    expect(moments.length).toBeGreaterThan(10);
    const days = properties().filter(({ path }) => path.endsWith('_date'));
    expect(days.map(({ schema }) => formatOf(schema))).toEqual(['date', 'date', 'date']);
    for (const { operation } of operations()) {
      for (const parameter of (operation.parameters ?? []) as OpenAPIV3_1.ParameterObject[]) {
        if (/^(from|to)$/.test(parameter.name)) expect(parameter.schema).toMatchObject({ format: 'date-time' });
      }
    }
  });

  it('say of every integer without an end that 32 bits may be too few', () => {
    const endless = properties().filter(({ schema }) => schema.type === 'integer' && schema.maximum === undefined);
    expect(endless.filter(({ schema }) => schema.format !== 'int64' && schema.const === undefined)).toEqual([]);
    expect(JSON.stringify(document)).not.toContain(String(Number.MAX_SAFE_INTEGER));
  });
});

describe('request bodies', () => {
  it('are needed on every route but the one that takes none', () => {
    const optional = operations()
      .filter(({ operation }) => 'requestBody' in operation)
      .filter(({ operation }) => (operation.requestBody as OpenAPIV3_1.RequestBodyObject).required !== true)
      .map(({ path }) => path);
    expect(optional).toEqual(['/admin/v1/keys/{id}/rotate']);
  });
});

describe('the catalogue of errors', () => {
  it('is what OpenAPI lists', () => {
    const { ErrorDetails } = document.components?.schemas ?? {};
    const { code } = (ErrorDetails as OpenAPIV3_1.SchemaObject).properties as { code: OpenAPIV3_1.SchemaObject };
    expect([...(code.enum ?? [])].sort()).toEqual(catalogue);
  });

  it('is what docs/errors.md lists, each with its status', () => {
    const rows = [...page('errors.md').matchAll(/^\| (\d+) \| `(\w+)` \| `(\w+)` \|/gm)];
    expect(rows.map(([, , code]) => code).sort()).toEqual(catalogue);
    for (const [, status, code, type] of rows) {
      expect([Number(status), type]).toEqual([
        errorCatalogue[code as ErrorCode].status,
        errorCatalogue[code as ErrorCode].type,
      ]);
    }
  });

  it('stands behind each error status of each operation, and no other', () => {
    for (const { operation } of operations()) {
      const statuses = operation['x-error-codes'].map((code) => String(errorCatalogue[code].status));
      const described = Object.entries(operation.responses ?? {})
        .filter(([, reply]) => JSON.stringify(reply).includes('#/components/schemas/Error"'))
        .map(([status]) => status);
      expect(described.sort()).toEqual([...new Set(statuses)].sort());
    }
  });
});

describe('the generated pages', () => {
  it('are up to date', async () => {
    expect(page('errors.md')).toBe(renderErrorsPage());
    expect(page('openapi.json')).toBe(await renderOpenapiDocument());
  });
});
