// The upstreams of a configuration as they are served: what is left out, and for which model.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServedUpstreams } from '../../src/app/served-upstreams.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { ChatRequest } from '../../src/domain/chat.ts';
import { createLogger } from '../../src/observability/logger.ts';
import { createMetrics, type Metrics } from '../../src/observability/metrics.ts';
import { HttpChatUpstream } from '../../src/upstream/http-chat-upstream.ts';
import { idleGauges } from '../observability/idle-gauges.ts';
import { answerHello, refuse } from '../upstream/upstream-answers.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';
import { ask, askStream, collect, STAYS } from '../upstream/upstream-fixture.ts';

const FAILURES = 3;

let first: UpstreamDouble;
let second: UpstreamDouble;
let served: ServedUpstreams;
let metrics: Metrics;

beforeEach(async () => {
  first = await UpstreamDouble.start(answerHello);
  second = await UpstreamDouble.start(answerHello);
  const entry = (name: string, { baseUrl }: UpstreamDouble) => ({
    ...{ name, baseUrl, breakerFailures: FAILURES, breakerPauseMs: 600_000 },
    models: [{ id: 'large' }, { id: 'small' }],
  });
  const settings = JSON.stringify([entry('first', first), entry('second', second)]);
  metrics = createMetrics({ engineStatus: idleGauges });
  served = new ServedUpstreams(loadConfig({ flags: {}, env: { UMPIRE_UPSTREAMS: settings } }), {
    open: (options) => new HttpChatUpstream(options),
    metrics,
    logger: createLogger({ level: 'silent', format: 'json' }),
  });
});

afterEach(async () => {
  await served.close();
  await Promise.all([first.close(), second.close()]);
});

/** @returns who was asked, by how many requests each has had since */
async function call(modelId: string, stream: boolean): Promise<[first: number, second: number]> {
  const before = [first.requests.length, second.requests.length] as const;
  const request: ChatRequest = { ...(stream ? askStream() : ask()), modelId };
  const upstream = served.find(modelId);
  if (stream) await collect((await upstream?.stream(request, STAYS)) ?? fail());
  else await upstream?.complete(request, STAYS);
  return [first.requests.length - before[0], second.requests.length - before[1]];
}

function fail(): never {
  throw new Error('No upstream has the model.');
}

const failsFor =
  (upstreamModel: string, answer: AnswerScript): AnswerScript =>
  (response, request) =>
    (request.json.model === upstreamModel ? answer : answerHello)(response, request);

describe.each([false, true])('an upstream that fails with one of its models (streamed: %s)', (stream) => {
  it.each([
    ['does not have it', refuse(404, { code: 'model_not_found' })],
    ['has not loaded it', refuse(503, { message: 'loading' })],
  ])('because it %s is left out for that one alone', async (_what, answer) => {
    first.answer = failsFor('large', answer);
    for (let time = 0; time < FAILURES; time++) expect(await call('large', stream)).toEqual([1, 1]);
    expect(await call('large', stream)).toEqual([0, 1]);
    expect(await call('small', stream)).toEqual([1, 0]);
    const open = (await metrics.read()).find(({ name }) => name === 'umpire_upstream_breaker_open');
    expect(open?.values.map(({ value, labels }) => [labels['upstream'], labels['model'], value])).toEqual([
      ['first', 'large', 1],
    ]);
  });
});
