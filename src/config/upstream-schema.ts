// Settings of the chat upstreams and of the models that are offered from them.

import { z } from 'zod';
import { count, milliseconds, settingNotes as note, text } from './setting-kinds.ts';

/** The same bound as in the domain: a cost must fit 64 bits. */
const microUsd = z.int().min(0).max(1_000_000_000);

const reasoning = z.strictObject({
  usage: z.enum(['auto', 'included', 'apart']).default('auto').register(note, {
    help: "Whether the upstream's `completion_tokens` already has the reasoning tokens in it; ours always has.",
  }),
  allowanceTokens: z.int().min(0).max(10_000_000).default(16_384).register(note, {
    help: "Added to the caller's `max_tokens`, so that it never limits the reasoning; 0 where the upstream's cap leaves reasoning out.",
    unit: 'tokens',
  }),
  capField: z.enum(['max_tokens', 'max_completion_tokens']).default('max_tokens').register(note, {
    help: "The field in which the upstream takes the caller's `max_tokens`.",
  }),
});

const upstreamModel = z.strictObject({
  id: text.max(256).register(note, {
    help: 'What clients of this server call the model. Under several upstreams it is one model: a call that fails at one goes to the next, in the order of the file or by `weight`; price and description are those of the first.',
  }),
  upstreamModel: text
    .optional()
    .register(note, { help: "The upstream's own name of the model.", defaultText: 'the id' }),
  description: z.string().default('').register(note, { help: 'Shown in the list of models.' }),
  ownedBy: text.optional().register(note, { help: 'Shown in the list of models.', defaultText: "the upstream's name" }),
  releaseDate: z.iso.date().default('2026-01-01').register(note, { help: 'Shown in the list of models.' }),
  inputMicroUsdPerMillionTokens: microUsd.default(0).register(note, {
    help: 'Price of input.',
    unit: 'micro-USD per 1,000,000 tokens',
  }),
  cachedInputMicroUsdPerMillionTokens: microUsd.optional().register(note, {
    help: 'Price of input that the upstream had cached.',
    unit: 'micro-USD per 1,000,000 tokens',
    defaultText: 'the price of input',
  }),
  outputMicroUsdPerMillionTokens: microUsd.default(0).register(note, {
    help: 'Price of output, reasoning included.',
    unit: 'micro-USD per 1,000,000 tokens',
  }),
  weight: z.int().min(1).max(1_000_000).optional().register(note, {
    help: 'Of a model under several upstreams: its share of the calls that this one is asked first for. All of them have one, or none.',
    defaultText: 'they are asked in the order of the file',
  }),
  reserveOutputTokens: z.int().min(0).max(10_000_000).default(4096).register(note, {
    help: 'Output that is reserved against a budget where the caller sets no `max_tokens`.',
    unit: 'tokens',
  }),
  reasoning: reasoning.optional().register(note, { help: 'Present for a reasoning model, absent for any other.' }),
});

export type UpstreamModel = z.output<typeof upstreamModel>;

export const upstream = z.strictObject({
  name: text
    .regex(/^[a-z0-9-]+$/, 'must be lower-case letters, digits and hyphens')
    .register(note, { help: 'For logs.' }),
  baseUrl: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .refine(
      (url) => !URL.canParse(url) || new URL(url).username === '',
      'must not hold a user; name a variable in apiKeyEnv',
    )
    .register(note, { help: 'Address of the API, usually ending in `/v1`.' }),
  apiKeyEnv: z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
    .optional()
    .register(note, {
      help: "Environment variable with the upstream's API key.",
      defaultText: 'no key is sent',
    }),
  models: z.array(upstreamModel).min(1).register(note, { help: 'Models to offer from this upstream.' }),
  formats: z
    .array(z.enum(['chat', 'completions', 'responses']))
    .min(1)
    .default(['chat'])
    .register(note, {
      help: 'What the upstream serves: `chat` (`/chat/completions`), `completions` (`/completions`), `responses` (`/responses`).',
      defaultText: '`[chat]`',
    }),
  checkAtStart: z.boolean().default(true).register(note, {
    help: 'Whether a start asks the upstream for its list of models (`GET /models`, which costs nothing), and warns where it cannot be reached, refuses the key or does not list a model.',
  }),
  connectTimeoutMs: milliseconds().default(5000).register(note, { help: 'Until the connection stands.', unit: 'ms' }),
  firstByteTimeoutMs: milliseconds().default(60_000).register(note, {
    help: 'Streaming: until the first byte of the reply.',
    unit: 'ms',
  }),
  idleTimeoutMs: milliseconds().default(60_000).register(note, { help: 'Streaming: longest silence.', unit: 'ms' }),
  wholeFirstByteTimeoutMs: milliseconds().optional().register(note, {
    help: 'Not streaming: until the first byte of the reply, as long as another upstream of the model can be asked after this one. Most servers send nothing before the answer is complete: leave it as long as the longest answer takes.',
    unit: 'ms',
    defaultText: 'half of what is left of the time for all upstreams of the model',
  }),
  totalTimeoutMs: milliseconds()
    .default(300_000)
    .register(note, { help: 'Not streaming: the whole request.', unit: 'ms' }),
  streamTotalTimeoutMs: milliseconds()
    .default(1_800_000)
    .register(note, { help: 'Streaming: the whole reply.', unit: 'ms' }),
  takesStreamOptions: z.boolean().default(true).register(note, {
    help: 'Whether the upstream may be sent `stream_options`. Off for one that refuses the field; it must then tell usage by itself.',
  }),
  whenClientLeaves: z.enum(['estimate', 'drain', 'free']).default('estimate').register(note, {
    help: 'What a client that leaves is billed. `estimate`: the upstream is stopped, and what was sent is billed by estimated tokens, unless the upstream told its usage. `drain`: the upstream is read to its end and its usage is billed. `free`: the upstream is stopped and nothing is billed.',
  }),
  breakerFailures: count().default(5).register(note, {
    help: 'Failures one after the other of a model here, after which it is left out for a while, where another upstream has it too.',
  }),
  breakerPauseMs: milliseconds().default(10_000).register(note, {
    help: 'How long it is left out then, unless the upstream asks for longer (`Retry-After`, up to 5 minutes). Afterwards one call tries it.',
    unit: 'ms',
  }),
  maxConcurrentRequests: count().default(256).register(note, {
    help: 'Requests to one model at a time; further ones are refused as `overloaded`.',
  }),
});
