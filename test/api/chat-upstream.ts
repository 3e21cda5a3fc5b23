// The chat upstream of `npm run check:api`: answers in every format there is, streamed and not, with usage; and counts what
// it was asked, for the check wants to know that each form of a reply was seen.

import { CHAT_MODEL } from '../money/counting-upstream.ts';
import {
  completion,
  deltaChunk,
  namedEvent,
  replyJson,
  streamRaw,
  streamText,
  USAGE,
} from '../upstream/upstream-answers.ts';
import { type AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';

const CHOICE = { index: 0, text: 'Hello there!', logprobs: null, finish_reason: 'stop' };
const TEXT_COMPLETION = {
  id: 'cmpl-1',
  object: 'text_completion',
  created: 1_700_000_000,
  model: 'm',
  choices: [CHOICE],
};
const OUTPUT = [
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Hello there!', annotations: [] }],
  },
];
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_700_000_000,
  status: 'completed',
  error: null,
  model: 'm',
  output: OUTPUT,
  usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
};

/** By the end of the path. */
const FORMS: Readonly<Record<string, { readonly whole: object; readonly stream: string }>> = {
  '/chat/completions': {
    whole: completion(),
    stream: streamText([deltaChunk('Hello there!', 'stop'), { choices: [], usage: USAGE }]),
  },
  '/completions': {
    whole: { ...TEXT_COMPLETION, usage: USAGE },
    stream: streamText([TEXT_COMPLETION, { ...TEXT_COMPLETION, choices: [], usage: USAGE }]),
  },
  '/responses': {
    whole: RESPONSE,
    stream:
      namedEvent('response.output_text.delta', { delta: 'Hello there!' }) +
      namedEvent('response.completed', { response: RESPONSE }),
  },
};
const KINDS = Object.keys(FORMS).flatMap((path) => [`${path}, whole`, `${path}, streamed`]);

const answerInItsForm: AnswerScript = (response, request) => {
  const form = FORMS[request.path.replace(/^\/v1/, '')];
  if (form === undefined) throw new Error(`Nobody should ask for ${request.path}.`);
  return (request.json.stream === true ? streamRaw(form.stream) : replyJson(form.whole))(response, request);
};

export async function startChatUpstream(): Promise<UpstreamDouble> {
  return await UpstreamDouble.start(answerInItsForm);
}

/** The value of `UMPIRE_UPSTREAMS`. */
export function chatUpstreamSetting({ baseUrl }: UpstreamDouble): string {
  const formats = ['chat', 'completions', 'responses'];
  return JSON.stringify([{ name: 'double', baseUrl, formats, models: [{ id: CHAT_MODEL }] }]);
}

/** How often each form was asked for. */
export function countForms({ requests }: UpstreamDouble): ReadonlyMap<string, number> {
  const kinds = requests.map(
    ({ path, json }) => `${path.replace(/^\/v1/, '')}, ${json.stream === true ? 'streamed' : 'whole'}`,
  );
  return new Map(KINDS.map((kind) => [kind, kinds.filter((each) => each === kind).length]));
}
