// Requests that the server takes, as text: what the fuzzer breaks.

import type { RandomSource } from '../models/random-source.ts';
import { CHAT_MODEL } from '../money/counting-upstream.ts';
import { DECISION_MODEL, EMBEDDING_MODEL, PROMPTED_MODEL, RERANKER_MODEL } from '../money/priced-models.ts';

export interface HttpRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | undefined;
}

/** Secrets of keys that the fuzzer may spoil, and one id. */
export interface Keys {
  readonly inference: string;
  /** Its budget is 0. */
  readonly poor: string;
  readonly admin: string;
  /** Of a key that nobody calls with. */
  readonly victimId: string;
}

export const TEXTS = ['', 'a', 'The customer was charged twice.', 'ж', '\u0000', '[SEP]', '😀', '\ud800', '__proto__'];

/** In bodies only: nothing that a log could hold for another reason. */
export const PRIVATE_TEXT = 'A wombat asks where its parcel is.';

function text(random: RandomSource): string {
  if (random.chance(0.1)) return PRIVATE_TEXT;
  if (random.chance(0.7)) return random.pick(TEXTS);
  const length = random.scaled(1, random.chance(0.05) ? 100_000 : 400);
  return random.pick(['word ', 'x', 'é', '"', '\\', ' ', '漢']).repeat(length).slice(0, length);
}

const QUESTIONS = [
  (random: RandomSource) => ({
    type: 'choice',
    instructions: 'Which?',
    criteria: Object.fromEntries(Array.from({ length: random.whole(1, 6) }, (_, i) => [`o${i}`, text(random)])),
  }),
  (random: RandomSource) => ({
    type: 'score',
    instructions: 'How?',
    criteria: Array.from({ length: random.whole(2, 10) }, () => text(random)),
  }),
  () => ({ type: 'noul', instructions: 'Is it?' }),
];

function decision(random: RandomSource): Record<string, unknown> {
  const names = Array.from({ length: random.whole(1, 4) }, (_, i) => `q${i}`);
  const questions = Object.fromEntries(names.map((name) => [name, random.pick(QUESTIONS)(random)]));
  return { model: DECISION_MODEL, state: text(random), questions };
}

function embedding(random: RandomSource): Record<string, unknown> {
  const input = random.chance(0.5) ? text(random) : Array.from({ length: random.scaled(1, 64) }, () => text(random));
  const format = random.chance(0.5) ? {} : { encoding_format: random.pick(['float', 'base64']) };
  if (random.chance(0.6)) return { model: EMBEDDING_MODEL, input, ...format };
  const prompt = random.pick([
    { prompt_name: random.pick(['query', 'document', ...TEXTS]) },
    { input_type: random.pick(['query', 'search_document', 'clustering', ...TEXTS]) },
  ]);
  return { model: PROMPTED_MODEL, input, ...format, ...prompt, truncate: random.chance(0.5) };
}

function ranking(random: RandomSource): Record<string, unknown> {
  const documents = Array.from({ length: random.scaled(1, 64) }, () => {
    const document = random.chance(0.02) ? '' : text(random) || 'a';
    return random.chance(0.8) ? document : { text: document };
  });
  const more = random.chance(0.5) ? {} : { top_n: random.scaled(1, 100), return_documents: random.chance(0.5) };
  const common = { query: text(random), truncate: random.chance(0.7), ...more };
  if (random.chance(0.7)) return { model: RERANKER_MODEL, documents, ...common };
  return { texts: documents, return_text: random.chance(0.5), raw_scores: random.chance(0.5), ...common };
}

function chat(random: RandomSource): Record<string, unknown> {
  const messages = Array.from({ length: random.whole(0, 4) }, () => ({ role: 'user', content: text(random) }));
  const stream = random.chance(0.4) ? { stream: true, stream_options: { include_usage: random.chance(0.5) } } : {};
  const tools = random.chance(0.2) ? { tools: [{ type: 'function', function: { name: text(random) } }] } : {};
  return { model: CHAT_MODEL, messages, max_tokens: random.whole(1, 50), ...stream, ...tools };
}

export const INFERENCE_BODIES = {
  '/ai/v1/systemone': decision,
  '/ai/v1/embeddings': embedding,
  '/ai/v1/rerank': ranking,
  '/ai/v1/chat/completions': chat,
} as const;

export type InferencePath = keyof typeof INFERENCE_BODIES;
export const INFERENCE_PATHS = Object.keys(INFERENCE_BODIES) as InferencePath[];

/** Of the admin routes. */
export function adminRequest(random: RandomSource, { admin, victimId }: Keys): HttpRequest {
  const [method, path, body] = random.pick<[string, string, object?]>([
    ['GET', '/admin/v1/keys?limit=3'],
    ['GET', `/admin/v1/keys/${victimId}`],
    ['GET', '/admin/v1/usage?group_by=model,day'],
    ['GET', '/admin/v1/requests?limit=5'],
    ['GET', '/admin/v1/audit?limit=5'],
    ['GET', '/admin/v1/prices/history'],
    [
      'POST',
      '/admin/v1/keys',
      { name: 'fuzz', budget: { amount_usd: '1.50', reset: 'day' }, expires_at: '2030-01-01' },
    ],
    ['PATCH', `/admin/v1/keys/${victimId}`, { limits: { requests_per_minute: 5 }, disabled: random.chance(0.5) }],
    ['POST', `/admin/v1/keys/${victimId}/rotate`, { overlap_seconds: 10 }],
    ['POST', '/admin/v1/prices', { model: 'not-served', input_usd: '0.1', output_usd: '0' }],
  ]);
  return withBody({ method, path, headers: [authorization(admin)] }, body);
}

const PLAIN_PATHS = ['/healthz', '/readyz', '/metrics', '/openapi.json', '/ai/v1/models', '/ai/v1/usage'];

/** Any route, as it wants to be called. */
export function validRequest(random: RandomSource, keys: Keys): HttpRequest {
  const share = random.next();
  if (share < 0.6) return inferenceRequest(random, keys);
  if (share < 0.8) return adminRequest(random, keys);
  return { method: 'GET', path: random.pick(PLAIN_PATHS), headers: [authorization(keys.inference)], body: undefined };
}

function inferenceRequest(random: RandomSource, keys: Keys): HttpRequest {
  const path = random.pick(INFERENCE_PATHS);
  const secret = random.chance(0.1) ? keys.poor : keys.inference;
  const retry = random.chance(0.1) ? ([['idempotency-key', `k${random.whole(0, 20)}`]] as const) : [];
  const deadline = random.chance(0.1) ? ([['x-umpire-deadline-ms', String(random.scaled(1, 5000))]] as const) : [];
  const packed = random.chance(0.2)
    ? ([['accept-encoding', random.pick(['gzip', 'br', 'zstd', 'deflate'])]] as const)
    : [];
  const head = { method: 'POST', path, headers: [authorization(secret), ...retry, ...deadline, ...packed] };
  return withBody(head, INFERENCE_BODIES[path](random));
}

export function authorization(secret: string): readonly [string, string] {
  return ['authorization', `Bearer ${secret}`];
}

function withBody(head: Omit<HttpRequest, 'body'>, body: unknown): HttpRequest {
  if (body === undefined) return { ...head, body: undefined };
  return {
    ...head,
    headers: [...head.headers, ['content-type', 'application/json']],
    body: Buffer.from(JSON.stringify(body)),
  };
}

/** As it goes over the wire, with the length of its body. */
export function toBytes({ method, path, headers, body }: HttpRequest): Buffer {
  const length = body === undefined ? [] : [['content-length', String(body.length)] as const];
  const lines = [['host', 'fuzz'] as const, ...headers, ...length].map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  return body === undefined ? head : Buffer.concat([head, body]);
}
