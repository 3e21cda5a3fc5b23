// Every setting there is: type, default, bounds, unit, help. Names of environment variables and flags follow from the
// path (settings.ts), the page docs/config.md from all of it (document.ts). Those of the store are in store-schema.ts;
// nothing else declares a setting.

import { join } from 'node:path';
import { z } from 'zod';
import { bytes, count, memory, milliseconds, network, settingNotes, text } from './setting-kinds.ts';
import { database, idempotency, ledger } from './store-schema.ts';

const note = settingNotes;
const MODELS_BESIDE_THE_CODE = join(import.meta.dirname, '..', '..', 'models');

const engine = z.strictObject({
  device: text
    .regex(/^[a-z0-9]+$/, 'must be a name such as auto, cpu or cuda')
    .default('auto')
    .register(note, {
      help: 'Execution provider: `auto` takes CUDA on Linux where its provider lies beside the runtime library and works, else the CPU; any other name (`cpu`, `cuda`, …) that one. A device runs fp16 and fp32 graphs; with `auto`, a model without them runs on the CPU. What was chosen, and why, is said at the start.',
    }),
  allowDeviceFallback: z.boolean().default(false).register(note, {
    help: 'Whether a named device that cannot be used is replaced by `cpu`; otherwise the start fails.',
  }),
  workers: z.int().min(1).max(256).optional().register(note, {
    help: 'Threads that run models.',
    defaultText: 'cores of the cgroup ÷ threadsPerWorker',
  }),
  threadsPerWorker: z.int().min(1).max(256).default(1).register(note, {
    help: 'Cores one run uses; all of them for a caller who is alone, where threads can be bound to cores. 1 is best for models of up to 30 M parameters.',
  }),
  queueMaxJobs: count()
    .default(1024)
    .register(note, { help: 'Calls that may wait; further ones are refused as `overloaded`.' }),
  queueMaxCostMs: milliseconds().default(60_000).register(note, {
    help: 'Estimated work, over all workers, that may wait. A key may fill half of what others leave of it, a call counts for a quarter at most; beyond that further calls of the key are refused as `overloaded`. The first call of a key always has room.',
    unit: 'ms',
  }),
  queueDeadlineMs: milliseconds().default(8000).register(note, {
    help: 'Longest wait before work on a call begins. A call that cannot meet it is refused at once. The decision SDK gives up after 10 s.',
    unit: 'ms',
  }),
  stateCacheBytes: bytes(0)
    .default(128 * 1024 * 1024)
    .register(note, {
      help: 'What each worker keeps of documents it has read (keys and values, 18.4 kB a token of `kev`), so that the next question about one of them costs the question alone. The least recently used goes first; short ones are kept from their second time on; 0 switches it off.',
      unit: 'bytes',
    }),
  tokenizer: z.enum(['auto', 'javascript']).default('auto').register(note, {
    help: 'What cuts texts into tokens. `auto` takes the native tokenizer where the install could build it; the ids are the same. What was chosen is said at the start.',
  }),
  memoryBytes: memory(64 * 1024 * 1024)
    .optional()
    .register(note, {
      help: 'What models, their runs and the caches may take, by estimate. A start is refused when what it loads does not fit, or a model of `load: first-use` never would; one for which there is no room when it is asked for is a 503 `model_unavailable`, and nothing is unloaded.',
      unit: 'bytes',
      defaultText:
        'what the machine or the cgroup has left at the start, less 64 MiB, for the models alone; where it is too little for the caches, a start warns',
    }),
  probeIntervalMs: milliseconds(0).default(10_000).register(note, {
    help: 'Time between probe inferences on an idle engine; 0 switches them off.',
    unit: 'ms',
  }),
  probeTimeoutMs: milliseconds().default(30_000).register(note, {
    help: 'A run that is this much later than its estimate makes `/readyz` answer 503 until it ends.',
    unit: 'ms',
  }),
  cacheDir: text.optional().register(note, {
    help: 'Where optimised graphs are kept between starts.',
    path: true,
    defaultText: '`cache` in dataDir',
  }),
});

const answers = z.strictObject({
  merge: z.boolean().default(true).register(note, {
    help: 'Whether identical decisions, embeddings or rankings under way run once. Each is billed as usual.',
  }),
  cacheBytes: bytes(0)
    .default(16 * 1024 * 1024)
    .register(note, {
      help: 'What is kept of answers, so that an identical request is answered without a run. It is billed as usual. 0 switches it off.',
      unit: 'bytes',
    }),
  cacheTtlMs: milliseconds().default(300_000).register(note, {
    help: 'How long an answer is kept.',
    unit: 'ms',
  }),
  scope: z.enum(['key', 'all']).default('key').register(note, {
    help: 'Who may share an answer: requests of one API key, or of all. With `all` a caller can tell from the time of a reply that somebody asked the same before.',
  }),
});

const decisions = z.strictObject({
  structuredState: z.boolean().default(false).register(note, {
    help: 'Whether the `state` of a decision may also be an object or array, which is then read as labelled lines (`customer name: Jane`). Otherwise it is a 400, as the protocol says. A list of text parts is read as its text either way.',
  }),
});

const embeddings = z.strictObject({
  tokenArrays: z.enum(['refuse', 'model']).default('refuse').register(note, {
    help: "What an `input` of token ids is. `refuse`: a 400, because clients that send ids (LangChain's by default) mean those of another vocabulary. `model`: ids of the model's own tokenizer.",
  }),
  longInputs: z.enum(['refuse', 'windows']).default('refuse').register(note, {
    help: 'What becomes of a text with more tokens than the model reads at once. `refuse`: a 400. `windows`: all of it is read, up to 8,192 tokens, and its vector is the mean of those of its windows, weighted by tokens and normalised; every token is billed once. A caller who sends `"truncate": true` has the first tokens read in either case.',
  }),
});

const learning = z.strictObject({
  maxRows: z.int().min(1).max(1_000_000).default(10_000).register(note, {
    help: 'Labelled rows that a model may be learned from in one request (`POST /admin/v1/models`). The command line has no limit.',
  }),
  bodyLimitBytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024)
    .register(note, { help: 'Largest body of such a request, counted after decoding.', unit: 'bytes' }),
});

const http = z.strictObject({
  bodyLimitBytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(8 * 1024 * 1024)
    .register(note, {
      help: 'Largest request body, counted after decoding.',
      unit: 'bytes',
    }),
  decisionBodyLimitBytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(2 * 1024 * 1024)
    .register(note, {
      help: 'The same for a decision, whose document and questions have 40,960 tokens at most.',
      unit: 'bytes',
    }),
  bodiesBytes: bytes(1024 * 1024)
    .optional()
    .register(note, {
      help: 'Memory for request bodies that are being read or wait to be let go; one key may take half of it. Who finds no room waits with an unread socket, then gets a 503.',
      unit: 'bytes',
      defaultText: 'an eighth of the largest heap',
    }),
  headersTimeoutMs: milliseconds().default(10_000).register(note, {
    help: 'A client that takes longer to send its headers gets a 408.',
    unit: 'ms',
  }),
  requestTimeoutMs: milliseconds().default(60_000).register(note, {
    help: 'A client that takes longer to send its whole request gets a 408.',
    unit: 'ms',
  }),
  keepAliveTimeoutMs: milliseconds().default(65_000).register(note, {
    help: 'How long an idle connection is kept. Longer than that of a proxy in front, or it will see resets.',
    unit: 'ms',
  }),
  writeTimeoutMs: milliseconds().default(30_000).register(note, {
    help: 'A client that takes in nothing of its reply for that long is disconnected.',
    unit: 'ms',
  }),
  gracePeriodMs: milliseconds().default(20_000).register(note, {
    help: 'Time that accepted requests have to finish after SIGTERM; then their connections are closed.',
    unit: 'ms',
  }),
  cors: z.array(text).default([]).register(note, {
    help: 'Origins that browsers may call from, such as `https://app.example.com`; `*` is any. None: no CORS headers.',
  }),
  trustedProxies: z.array(network).default([]).register(note, {
    help: 'Proxies in front, as addresses or networks such as `10.0.0.0/8`: what they say in `X-Forwarded-For` is who calls. Guesses of keys are counted by that address. None: the address of the connection.',
  }),
  shortBase: z.boolean().default(true).register(note, {
    help: 'Whether `/v1/…` is the same as `/ai/v1/…`: a second base address, where clients look for a server of the chat format.',
  }),
  metricsRequireKey: z.boolean().default(false).register(note, { help: 'Whether `/metrics` needs an API key.' }),
});

const log = z.strictObject({
  level: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent']).default('info').register(note, {
    help: 'Least serious messages that are written. Each request is one line at `info`.',
  }),
  format: z.enum(['auto', 'json', 'text']).default('auto').register(note, {
    help: '`auto` is `text` on a terminal and `json` elsewhere.',
  }),
});

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
  id: text.max(256).register(note, { help: 'What clients of this server call the model.' }),
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
  reserveOutputTokens: z.int().min(0).max(10_000_000).default(4096).register(note, {
    help: 'Output that is reserved against a budget where the caller sets no `max_tokens`.',
    unit: 'tokens',
  }),
  reasoning: reasoning.optional().register(note, { help: 'Present for a reasoning model, absent for any other.' }),
});

const upstream = z.strictObject({
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
  checkAtStart: z.boolean().default(true).register(note, {
    help: 'Whether a start asks the upstream for its list of models (`GET /models`, which costs nothing), and warns where it cannot be reached, refuses the key or does not list a model.',
  }),
  connectTimeoutMs: milliseconds().default(5000).register(note, { help: 'Until the connection stands.', unit: 'ms' }),
  firstByteTimeoutMs: milliseconds().default(60_000).register(note, {
    help: 'Streaming: until the first byte of the reply.',
    unit: 'ms',
  }),
  idleTimeoutMs: milliseconds().default(60_000).register(note, { help: 'Streaming: longest silence.', unit: 'ms' }),
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
  maxConcurrentRequests: count().default(256).register(note, {
    help: 'Requests to one model at a time; further ones are refused as `overloaded`.',
  }),
});

const configuredModel = z.strictObject({
  folder: text.register(note, { help: 'Folder name in modelsDir, id of a pulled model, or path.' }),
  load: z.enum(['start', 'first-use']).default('start').register(note, {
    help: 'When it is loaded. `first-use`: by the first request for it, which waits if that is in time (`engine.queueDeadlineMs`), else is a 503 with `Retry-After`; other models are served meanwhile where there are two workers. It stays loaded.',
  }),
});

const MODEL_FORM = 'must be the name or path of a model folder, or an object of `folder` and `load`';

/** All settings of the server. */
export const configSchema = z.strictObject({
  host: text.default('127.0.0.1').register(note, { help: 'Address to listen on; `0.0.0.0` is every interface.' }),
  port: z
    .int()
    .min(0)
    .max(65_535)
    .default(8080)
    .register(note, { help: 'Port to listen on; 0 lets the system choose.' }),
  dataDir: text.default('./data').register(note, {
    help: 'Where keys and caches are kept. Created for its owner alone if missing.',
    path: true,
  }),
  databaseUrl: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgres:// address' })
    .optional()
    .register(note, {
      help: 'PostgreSQL for keys, prices and the ledger, shared by any number of servers: `postgres://user:password@host:5432/name`.',
      secret: true,
      defaultText: 'SQLite in dataDir',
    }),
  apiKey: z
    .string()
    .regex(/^[\x21-\x7e]{16,200}$/, 'must be 16 to 200 visible ASCII characters')
    .optional()
    .register(note, {
      help: 'A fixed API key with all models and scopes, beside those of the store. 16 to 200 visible ASCII characters.',
      secret: true,
      defaultText: 'none',
    }),
  modelsDir: text.default(MODELS_BESIDE_THE_CODE).register(note, {
    help: 'Folder of model folders.',
    path: true,
    defaultText: '`models` beside the code',
  }),
  models: z
    .array(z.union([text, configuredModel], { error: MODEL_FORM }))
    .min(1)
    .optional()
    .register(note, {
      help: 'Models to load: folder names in modelsDir, ids of pulled models, or paths; or objects as below. In the environment and on the command line names with commas, or JSON.',
      defaultText: 'every model folder in modelsDir, and every pulled model',
    }),
  aliases: z.record(text.max(256), text.max(256)).default({}).register(note, {
    help: 'Other names of models: `{jev-latest: kev}`. An alias is listed, does what its model does, and is billed as that; a key may use it that may use the model, or names the alias. In the environment and on the command line as JSON.',
  }),
  web: z.boolean().default(true).register(note, {
    help: "Whether there are pages for people: the playground at `/`, the operator's page at `/admin`, the reference at `/docs`. They hold nothing: who looks brings a key.",
  }),
  database: database.prefault({}),
  ledger: ledger.prefault({}),
  idempotency: idempotency.prefault({}),
  engine: engine.prefault({}),
  answers: answers.prefault({}),
  decisions: decisions.prefault({}),
  embeddings: embeddings.prefault({}),
  learning: learning.prefault({}),
  http: http.prefault({}),
  log: log.prefault({}),
  upstreams: z.array(upstream).default([]).register(note, {
    help: 'Chat servers whose models are offered here. In the environment and on the command line as JSON.',
  }),
});

export type Config = z.output<typeof configSchema>;
