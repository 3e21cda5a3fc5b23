// Every setting there is: type, default, bounds, unit, help. Names of environment variables and flags follow from the
// path (settings.ts), the page docs/config.md from all of it (document.ts). Those of a theme are in a file of its name
// (`engine-schema.ts`, `store-schema.ts`, …); nothing else declares a setting.

import { join } from 'node:path';
import { z } from 'zod';
import { engine } from './engine-schema.ts';
import { bytes, milliseconds, network, settingNotes, text } from './setting-kinds.ts';
import { database, idempotency, ledger } from './store-schema.ts';
import { telemetry } from './telemetry-schema.ts';
import { upstream } from './upstream-schema.ts';

const note = settingNotes;
const MODELS_BESIDE_THE_CODE = join(import.meta.dirname, '..', '..', 'models');

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
    reloads: true,
  }),
  bodyLimitBytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(32 * 1024 * 1024)
    .register(note, {
      help: 'Largest body of such a request, counted after decoding.',
      unit: 'bytes',
      reloads: true,
    }),
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
      reloads: true,
    }),
  decisionBodyLimitBytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(2 * 1024 * 1024)
    .register(note, {
      help: 'The same for a decision, whose document and questions have 40,960 tokens at most.',
      unit: 'bytes',
      reloads: true,
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
    reloads: true,
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
    reloads: true,
  }),
  format: z.enum(['auto', 'json', 'text']).default('auto').register(note, {
    help: '`auto` is `text` on a terminal and `json` elsewhere.',
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
    reloads: true,
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
  telemetry: telemetry.prefault({}),
  upstreams: z.array(upstream).default([]).register(note, {
    help: 'Chat servers whose models are offered here. In the environment and on the command line as JSON.',
    reloads: true,
  }),
});

export type Config = z.output<typeof configSchema>;
