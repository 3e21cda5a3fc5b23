// The headers of requests and replies, as `/openapi.json` describes them. What they hold is written where they are sent.

import type { OpenAPIV3_1 } from 'openapi-types';
import { DEADLINE_HEADER, MAX_DEADLINE_MS } from './deadline.ts';

export type HeaderDocs = Record<string, OpenAPIV3_1.HeaderObject>;

const text = (description: string): OpenAPIV3_1.HeaderObject => ({ description, schema: { type: 'string' } });
const integer = (description: string): OpenAPIV3_1.HeaderObject => ({ description, schema: { type: 'integer' } });

export const EVERY_REPLY: HeaderDocs = {
  'x-request-id': text("The request's id; a sane one of the client is kept."),
};

/** Present for what the key has a limit of. */
export const STANDING: HeaderDocs = {
  'x-umpire-budget-remaining-usd': text("What is left of the key's budget, in US dollars, exact."),
  'x-ratelimit-limit-requests': integer('Requests a minute.'),
  'x-ratelimit-remaining-requests': integer('Requests that are left at the moment.'),
  'x-ratelimit-reset-requests': text('Until all of them are free again: `120ms`, `1s`, `6m0s`.'),
  'x-ratelimit-limit-tokens': integer('Tokens a minute.'),
  'x-ratelimit-remaining-tokens': integer('Tokens that are left at the moment.'),
  'x-ratelimit-reset-tokens': text('Until all of them are free again: `120ms`, `1s`, `6m0s`.'),
  'x-ratelimit-limit-concurrent': integer('Requests at a time.'),
  'x-ratelimit-remaining-concurrent': integer('Requests that may be added at the moment.'),
};

export const INFERENCE_REPLY: HeaderDocs = {
  'server-timing': text('Milliseconds in queue, tokenizer and model; absent where the model is not local.'),
  'x-umpire-cache': text(
    '`miss`: run for this request. `merged`: the run of an identical request under way. `hit`: an answer that was kept. Billed the same. Absent where answers are not shared.',
  ),
  'x-umpire-kept-tokens': integer('Tokens of the state that need not be read again; absent where there were none.'),
  'x-umpire-model-digest': text('Digest of the weights that answered; absent where the model is not local.'),
  'x-umpire-answered-by': text(
    'What answered each question of a decision, in the order of the request: `head`, learned from labelled rows, or `base`, the model that it was learned on. `base*3`: three in a row. Absent where the model is not a learned one.',
  ),
  'x-umpire-upstream': text('Name of the upstream that answered; absent where the model is local.'),
  'x-umpire-tolerance': text(
    'The answer shared runs of a GPU with others: a probability, or a number of a vector, may differ by so much from what it is alone. Absent: the same to the bit.',
  ),
  'x-umpire-cost-usd': text('What the request cost, in US dollars, exact; absent on a stream, which has not ended.'),
  'idempotent-replayed': text('`true`: the reply of an earlier request with the same `Idempotency-Key`, billed once.'),
  ...STANDING,
};

export const TRY_AGAIN: HeaderDocs = {
  'retry-after': integer('When to come back, in seconds.'),
  'retry-after-ms': integer('When to come back, in milliseconds.'),
};

export const IDEMPOTENCY_KEY: OpenAPIV3_1.ParameterObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: [
    'Makes a retry safe: a request with the same key and the same body runs and is billed once, and every retry gets the',
    'first reply. 1 to 255 visible ASCII characters.',
  ].join(' '),
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
};

export const DEADLINE: OpenAPIV3_1.ParameterObject = {
  name: DEADLINE_HEADER,
  in: 'header',
  required: false,
  description: [
    'Milliseconds from now within which the whole answer is wanted. Where that cannot be kept the request is refused at',
    'once, as `overloaded`; one that was let in is answered, late if need be. With a model of an upstream it is the time',
    'within which the answer must be whole, or its stream begin; otherwise it is a 504 `upstream_timeout`.',
  ].join(' '),
  schema: { type: 'integer', minimum: 1, maximum: MAX_DEADLINE_MS },
};
