// Bodies of the admin routes: small, every name at most once. What the last of two equal names would say is not guessed
// where keys and money are changed.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { JsonRules } from '../domain/json.ts';
import type { BodyIntake } from './body-intake.ts';
import type { BodyLimits } from './body-limits.ts';

const RULES: JsonRules = { objects: 'plain', duplicates: 'refuse' };

export function parseAdminBodies(api: FastifyInstance, intake: BodyIntake, limits: BodyLimits): void {
  api.removeAllContentTypeParsers();
  api.addContentTypeParser('application/json', async (request: FastifyRequest, body: NodeJS.ReadableStream) => {
    // Some clients name a type even where there is nothing to send: no body, no value.
    return (await intake.receive(request, body, { limits, rules: RULES }))?.value;
  });
}
