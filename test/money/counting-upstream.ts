// A chat upstream whose usage follows from what it is asked, so that each reply has a cost of its own; and the settings
// that offer it.

import { chunk, completion, deltaChunk, event, replyJson, startStream } from '../upstream/upstream-answers.ts';
import type { AnswerScript, UpstreamDouble } from '../upstream/upstream-double.ts';

export const CHAT_MODEL = 'chat-counted';
/** Micro-dollars per million tokens, which are pico-dollars per token. */
export const CHAT_PRICE = { input: 150_001, output: 600_011 };

const MAX_OUTPUT_TOKENS = 40;

/** The reply comes in pieces, with turns of the event loop between them: there is time to be killed in. */
export const answerCounted: AnswerScript = async (response, { text, json }) => {
  const completionTokens = 1 + (text.length % MAX_OUTPUT_TOKENS);
  const usage = { prompt_tokens: text.length, completion_tokens: completionTokens };
  const counted = { ...usage, total_tokens: text.length + completionTokens };
  if (json.stream !== true) {
    replyJson(completion({ usage: counted }))(response, { path: '', headers: {}, text, json });
    return;
  }
  startStream(response);
  for (let token = 0; token < completionTokens; token++) {
    response.write(event(deltaChunk(`word${token} `)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  response.write(event(deltaChunk('', 'stop')));
  response.end(event(chunk({ choices: [], usage: counted })) + event('[DONE]'));
};

/** The value of `UMPIRE_UPSTREAMS`. */
export function upstreamSetting(double: UpstreamDouble): string {
  const model = {
    id: CHAT_MODEL,
    inputMicroUsdPerMillionTokens: CHAT_PRICE.input,
    outputMicroUsdPerMillionTokens: CHAT_PRICE.output,
  };
  return JSON.stringify([{ name: 'double', baseUrl: double.baseUrl, models: [model] }]);
}
