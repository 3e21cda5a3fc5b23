// Settings of OpenTelemetry: where traces and metrics go, how many, and under which names.

import { z } from 'zod';
import { count, milliseconds, settingNotes as note, text } from './setting-kinds.ts';

/** RFC 9110: a name, and a value of visible characters with blanks between them. */
const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'must be the name of a header');
const headerValue = z.string().regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, 'must be visible ASCII characters');

export const telemetry = z.strictObject({
  endpoint: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .refine(
      (url) => !URL.canParse(url) || (new URL(url).username === '' && new URL(url).search === ''),
      'must hold neither a user nor a query; what lets us in goes into telemetry.headers',
    )
    .optional()
    .register(note, {
      help: 'Address of an OpenTelemetry collector that takes OTLP over HTTP, such as `http://127.0.0.1:4318`; `/v1/traces` and `/v1/metrics` are appended. Spans hold ids of models, counts and error codes, never texts or keys.',
      defaultText: 'nothing is traced',
      reloads: true,
    }),
  headers: z.record(headerName, headerValue).optional().register(note, {
    help: 'Headers for the collector, such as an `authorization`. In the environment as JSON.',
    secret: true,
    defaultText: 'none',
    reloads: true,
  }),
  sampleRatio: z.number().min(0).max(1).default(1).register(note, {
    help: 'Part of the requests that are traced, from 0 to 1, where no caller has decided it.',
    reloads: true,
  }),
  continueTraces: z.boolean().default(true).register(note, {
    help: "Whether a request with a `traceparent` belongs to its caller's trace, and is traced if that is. Otherwise each request has a trace of its own.",
    reloads: true,
  }),
  serviceName: text.max(256).default('umpire').register(note, {
    help: 'What the server is called in traces (`service.name`).',
    reloads: true,
  }),
  resource: z.record(text.max(256), text.max(256)).default({}).register(note, {
    help: 'More of what every trace says of the server: `{deployment.environment.name: production}`. In the environment and on the command line as JSON.',
    reloads: true,
  }),
  metrics: z.boolean().default(false).register(note, {
    help: 'Whether the collector is sent the metrics of `/metrics` too.',
    reloads: true,
  }),
  metricsIntervalMs: milliseconds(1000)
    .default(60_000)
    .register(note, { help: 'How often.', unit: 'ms', reloads: true }),
  maxQueuedSpans: count(16).default(8192).register(note, {
    help: 'Spans that may wait for the collector. While it is full, requests are served untraced and counted in the metrics.',
    reloads: true,
  }),
  exportTimeoutMs: milliseconds(100).default(10_000).register(note, {
    help: 'How long one delivery to the collector may take, with what it takes to try again.',
    unit: 'ms',
    reloads: true,
  }),
});
