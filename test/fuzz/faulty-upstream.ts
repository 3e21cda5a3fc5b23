// A chat upstream that answers well most of the time, and otherwise in every wrong way that one has been seen to.

import type { RandomSource } from '../models/random-source.ts';
import { answerCounted, upstreamSetting } from '../money/counting-upstream.ts';
import {
  answerNothing,
  chunk,
  completion,
  cutAfter,
  deltaChunk,
  event,
  HELLO_CHUNKS,
  refuse,
  replyJson,
  stallAfter,
  startStream,
  streamRaw,
  streamText,
} from '../upstream/upstream-answers.ts';
import type { AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';

const ODD_USAGES = [
  ...[null, 'many', [], { prompt_tokens: -5, completion_tokens: 1 }, { prompt_tokens: '12' }, { prompt_tokens: 1e300 }],
  ...[
    { prompt_tokens: 1.5, completion_tokens: 2.5 },
    { prompt_tokens: 3, completion_tokens: null, total_tokens: 1 },
  ],
];

function wholeFaults(random: RandomSource): AnswerScript[] {
  return [
    refuse(random.pick([400, 401, 404, 409, 422, 429, 500, 502, 503, 529]), { message: 'no', type: 'x', code: null }),
    replyJson('<html>Bad gateway</html>', random.pick([200, 502]), { 'content-type': 'text/html' }),
    replyJson('{"id": "chatcmpl-1", "choi'),
    replyJson(''),
    replyJson(random.pick(['null', '[]', '5', '"text"', '{}'])),
    replyJson(completion({ usage: random.pick(ODD_USAGES) })),
    replyJson(completion({ choices: random.pick([null, 5, [], [null], [{ message: 7 }]]) })),
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"id":', () => response.destroy());
    },
    (response) => response.socket?.destroy(),
    (response) => response.writeHead(random.pick([204, 301, 304]), { location: 'http://127.0.0.1:1/' }).end(),
    answerNothing,
  ];
}

function streamFaults(random: RandomSource): AnswerScript[] {
  const some = HELLO_CHUNKS.slice(0, random.whole(0, HELLO_CHUNKS.length));
  return [
    ...wholeFaults(random),
    cutAfter(some),
    stallAfter(some),
    streamRaw(streamText([...some, chunk({ choices: [], usage: random.pick(ODD_USAGES) })])),
    streamRaw(some.map(event).join('')),
    streamRaw(`data: {"choi\n\n: comment\nevent: x\ndata\n\n${streamText(some)}`),
    streamRaw(event({ error: { message: 'half-way', type: 'x', code: 'y' } })),
    streamRaw(`data: ${'x'.repeat(random.scaled(1, 300_000))}\n\n`),
    async (response) => {
      startStream(response);
      for (let i = 0; i < 20; i++) {
        response.write(event(deltaChunk('w ')));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      response.end(event('[DONE]'));
    },
  ];
}

/** @param isFaulty asked at each request */
export function faultyAnswers(random: RandomSource, isFaulty: () => boolean): AnswerScript {
  return (response, request) => {
    const isWell = !isFaulty() || random.chance(0.6);
    if (isWell) return answerCounted(response, request);
    return random.pick(request.json.stream === true ? streamFaults(random) : wholeFaults(random))(response, request);
  };
}

/** As `upstreamSetting`, with little patience. */
export function impatientSetting(double: UpstreamDouble): string {
  const [upstream] = JSON.parse(upstreamSetting(double)) as [object];
  const limits = { connectTimeoutMs: 1000, firstByteTimeoutMs: 1000, idleTimeoutMs: 1000, totalTimeoutMs: 1500 };
  return JSON.stringify([{ ...upstream, ...limits, streamTotalTimeoutMs: 4000 }]);
}
