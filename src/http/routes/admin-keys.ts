// /admin/v1/keys: keys made, listed, changed, rotated, revoked. A secret is in the reply that makes it and nowhere else.

import type { ZodTypeProvider } from '@fastify/type-provider-zod';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { ApiKey } from '../../domain/api-key.ts';
import { toInstant } from '../../domain/instant.ts';
import { pageOf } from '../../domain/page.ts';
import type { ApiKeyService } from '../../services/keys/keys.ts';
import type { UsageService } from '../../services/reports/reports.ts';
import { keyOf } from '../authenticate.ts';
import { operation } from '../operation.ts';
import {
  createdKeySchema,
  keyListSchema,
  keyPatchExample,
  keyPatchSchema,
  keySchema,
  newKeyExample,
  newKeySchema,
  rotatedKeySchema,
  rotationExample,
  rotationSchema,
  toKeyPatch,
  toNewKey,
  toWireKey,
} from '../schemas/admin-key.ts';
import { keyStandingSchema, toWireStanding } from '../schemas/own-usage.ts';
import { keyCursor, limitParameter, nextCursorOf } from '../schemas/paging.ts';
import { strictFields } from '../schemas/strict-fields.ts';

const tag = 'Administration';
const params = z.object({ id: z.string().describe('Id of a key.') });
const LOCK_OUT = 'A key cannot take the scope `admin` from itself, nor from the last one that has it.';

const listSchema = operation(
  {
    operationId: 'listKeys',
    summary: 'List the keys, oldest first',
    description: 'All of them, revoked ones too, without their secrets.',
    tag,
    errors: ['invalid_request'],
  },
  {
    querystring: strictFields('query', { limit: limitParameter, cursor: keyCursor }),
    response: { 200: keyListSchema },
  },
);

const createSchema = operation(
  {
    operationId: 'createKey',
    summary: 'Create a key',
    description: 'The reply holds its secret, which is shown only now.',
    tag,
    example: newKeyExample,
    errors: [],
  },
  { body: newKeySchema, response: { 201: createdKeySchema } },
);

const getSchema = operation(
  {
    operationId: 'getKey',
    summary: 'Describe one key',
    description: 'Everything but its secret.',
    tag,
    errors: ['not_found'],
  },
  { params, response: { 200: keySchema } },
);

const standingSchema = operation(
  {
    operationId: 'getKeyStanding',
    summary: 'Where the budget and the limits of a key stand',
    description: 'As `/ai/v1/usage` tells it to the key itself.',
    tag,
    errors: ['not_found'],
  },
  { params, response: { 200: keyStandingSchema } },
);

const changeSchema = operation(
  {
    operationId: 'changeKey',
    summary: 'Change, disable or enable a key',
    description: `What is left out stays as it is. ${LOCK_OUT}`,
    tag,
    example: keyPatchExample,
    errors: ['not_found', 'conflict'],
  },
  { params, body: keyPatchSchema, response: { 200: keySchema } },
);

const rotateSchema = operation(
  {
    operationId: 'rotateKey',
    summary: 'Give a key a new secret',
    description: 'The secrets before work until the overlap ends.',
    tag,
    isBodyOptional: true,
    example: rotationExample,
    errors: ['not_found', 'conflict'],
  },
  { params, body: rotationSchema, response: { 200: rotatedKeySchema } },
);

const revokeSchema = operation(
  {
    operationId: 'revokeKey',
    summary: 'Revoke a key for good',
    description: `Twice is the same as once. ${LOCK_OUT}`,
    tag,
    errors: ['not_found', 'conflict'],
  },
  { params, response: { 200: keySchema } },
);

export interface AdminKeysDeps {
  readonly keys: ApiKeyService;
  readonly usage: UsageService;
}

export async function adminKeyRoutes(api: FastifyInstance, { keys, usage }: AdminKeysDeps): Promise<void> {
  const typed = api.withTypeProvider<ZodTypeProvider>();
  const toWire = (key: ApiKey) => toWireKey(key, keys.stateOf(key));

  typed.get('/keys', { schema: listSchema }, async ({ query }) => {
    const { limit, cursor: after } = query;
    const page = pageOf(await keys.list({ after, limit: limit + 1 }), limit);
    return {
      object: 'list' as const,
      data: page.items.map(toWire),
      next_cursor: nextCursorOf(page, ({ id }) => id),
    };
  });

  typed.post('/keys', { schema: createSchema }, async (request, reply) => {
    const { key, secret } = await keys.create(toNewKey(request.body), keyOf(request).id);
    return reply.code(201).send({ ...toWire(key), key: secret });
  });

  typed.get('/keys/:id', { schema: getSchema }, async ({ params: { id } }) => toWire(await keys.get(id)));

  typed.get('/keys/:id/standing', { schema: standingSchema }, async ({ params: { id } }) => {
    const key = await keys.get(id);
    return { object: 'key_standing' as const, key: id, ...toWireStanding(key, await usage.standing(key)) };
  });

  typed.patch('/keys/:id', { schema: changeSchema }, async (request) =>
    toWire(await keys.update(request.params.id, toKeyPatch(request.body), keyOf(request).id)),
  );

  typed.post('/keys/:id/rotate', { schema: rotateSchema }, async (request) => {
    const overlapMs = request.body.overlap_seconds * 1000;
    const { key, secret, overlapEndsAtMs } = await keys.rotate(request.params.id, keyOf(request).id, overlapMs);
    return { ...toWire(key), key: secret, previous_secrets_expire_at: toInstant(overlapEndsAtMs) };
  });

  typed.post('/keys/:id/revoke', { schema: revokeSchema }, async (request) =>
    toWire(await keys.revoke(request.params.id, keyOf(request).id)),
  );
}
