// Options of an upstream for tests: our `llama` is the double's `vendor/llama-7b`; no clock runs out by itself.

import type { ChatUpstreamOptions } from '../../src/upstream/upstream-options.ts';
import { UPSTREAM_MODEL } from './upstream-answers.ts';

const LONG_MS = 30_000;

export function chatUpstreamOptions(
  baseUrl: string,
  overrides: Partial<ChatUpstreamOptions> = {},
): ChatUpstreamOptions {
  return {
    modelId: 'llama',
    description: 'An upstream model.',
    ownedBy: 'vendor',
    releaseDate: '2026-01-01',
    price: { inputMicroUsd: 1_000_000, outputMicroUsd: 2_000_000 },
    baseUrl,
    upstreamModel: UPSTREAM_MODEL,
    apiKey: 'upstream-secret',
    timeouts: { connectMs: LONG_MS, firstByteMs: LONG_MS, idleMs: LONG_MS, totalMs: LONG_MS, streamTotalMs: LONG_MS },
    takesStreamOptions: true,
    maxConcurrentRequests: 64,
    reasoning: undefined,
    ...overrides,
  };
}
