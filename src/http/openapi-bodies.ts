// What `/openapi.json` says of request bodies beside their schemas: how large they may be, and how they may be encoded.

import type { OpenAPIV3_1 } from 'openapi-types';
import { ENDPOINT_OF_FORMAT } from '../domain/chat.ts';
import { ENDPOINT_OF_TYPE } from '../domain/model-card.ts';
import { type BodyLimits, type BodyLimitsByRoute, describeBytes } from './body-limits.ts';
import { BODY_ENCODINGS } from './content-encoding.ts';

const LEARNING_PATH = '/admin/v1/models';

export function describeBodies(paths: OpenAPIV3_1.PathsObject, limits: BodyLimitsByRoute): void {
  for (const [path, item] of Object.entries(paths)) {
    for (const operation of Object.values(item ?? {})) {
      if (typeof operation !== 'object' || !('requestBody' in operation)) continue;
      const body = operation.requestBody;
      if (body !== undefined && !('$ref' in body)) Object.assign(body, describe(limitsOf(path, limits)));
    }
  }
}

function limitsOf(path: string, limits: BodyLimitsByRoute): BodyLimits {
  if (path === ENDPOINT_OF_TYPE.decision) return limits.decisions;
  if (path === ENDPOINT_OF_TYPE.embedding) return limits.embeddings;
  if (path === ENDPOINT_OF_TYPE.reranker) return limits.reranking;
  if (path === LEARNING_PATH) return limits.learning;
  return Object.values(ENDPOINT_OF_FORMAT).includes(path) ? limits.chat : limits.administration;
}

function describe({ bytes, values }: BodyLimits) {
  return {
    description: [
      `JSON in UTF-8, at most ${describeBytes(bytes)} and ${values.toLocaleString('en-US')} values. It may come with`,
      `one \`Content-Encoding\` of ${BODY_ENCODINGS}; the limits are of the decoded body.`,
    ].join(' '),
    'x-max-bytes': bytes,
    'x-max-values': values,
  };
}
