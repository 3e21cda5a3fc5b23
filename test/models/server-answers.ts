// What the engine answers to the requests of a file (of prompt-fixtures.ts), for comparison with the training code.
// `node test/models/server-answers.ts MODEL_FOLDER REQUESTS.jsonl ANSWERS.jsonl`: one line a request.

import { readFileSync, writeFileSync } from 'node:fs';
import { probabilitiesInOrder } from '../../src/domain/answer.ts';
import { createLocalEngine } from '../../src/engine/local-engine.ts';
import { toQuestion } from '../../src/runtime/model-folder/golden.ts';
import type { GoldenQuestion } from './random-requests.ts';

interface Line {
  readonly state: string;
  readonly questions: readonly GoldenQuestion[];
}

async function answerAll(modelFolder: string, lines: readonly Line[]): Promise<string[]> {
  const engine = await createLocalEngine({
    modelFolders: [modelFolder],
    device: 'cpu',
    allowDeviceFallback: false,
    workers: 2,
    threadsPerWorker: 1,
    cacheFolder: undefined,
    stateCacheBytes: 0,
    queue: { maxJobs: 100, maxCostMs: 3_600_000, deadlineMs: 3_600_000 },
    probe: { intervalMs: 0, timeoutMs: 600_000 },
    onEvent: () => undefined,
  });
  await engine.ready;
  const caller = { keyId: 'key', signal: new AbortController().signal };
  const replies: string[] = [];
  for (const { state, questions } of lines) {
    const job = { modelId: 'kev', state, questions: questions.map(toQuestion) };
    const { answers, inputTokens } = await engine.ticketFor(job, caller).run();
    replies.push(JSON.stringify({ input_tokens: inputTokens, probabilities: answers.map(probabilitiesInOrder) }));
  }
  await engine.drain();
  return replies;
}

const [modelFolder, requestsFile, answersFile] = process.argv.slice(2);
if (modelFolder === undefined || requestsFile === undefined || answersFile === undefined) {
  throw new Error('usage: server-answers.ts MODEL_FOLDER REQUESTS.jsonl ANSWERS.jsonl');
}
const text = readFileSync(requestsFile, 'utf8').trimEnd();
const lines = text.split('\n').map((line) => JSON.parse(line) as Line);
writeFileSync(answersFile, `${(await answerAll(modelFolder, lines)).join('\n')}\n`);
