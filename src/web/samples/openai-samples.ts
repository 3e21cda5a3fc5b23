// Embeddings and chats as code: with curl, and with the `openai` package.

import { type CodeSample, postByCurl } from './code-sample.ts';

export function embeddingSamples(origin: string, modelId: string, texts: readonly string[]): CodeSample[] {
  const model = JSON.stringify(modelId);
  const list = texts.length === 0 ? '[]' : `[\n${texts.map((text) => `    ${JSON.stringify(text)}`).join(',\n')}\n  ]`;
  return [
    {
      language: 'curl',
      text: postByCurl(`${origin}/ai/v1/embeddings`, `{\n  "model": ${model},\n  "input": ${list}\n}`),
    },
    {
      language: 'TypeScript',
      text: `${scriptHead(origin)}
const { data } = await client.embeddings.create({
  model: ${model},
  input: ${list},
});
console.log(data.map(({ embedding }) => embedding.length));`,
    },
    {
      language: 'Python',
      text: `${pythonHead(origin)}
reply = client.embeddings.create(
  model=${model},
  input=${list},
)
print([len(item.embedding) for item in reply.data])`,
    },
  ];
}

/** @param messages JSON of the list */
export function chatSamples(origin: string, modelId: string, messages: string): CodeSample[] {
  const model = JSON.stringify(modelId);
  return [
    {
      language: 'curl',
      text: postByCurl(
        `${origin}/ai/v1/chat/completions`,
        `{\n  "model": ${model},\n  "stream": true,\n  "messages": ${messages}\n}`,
      ),
    },
    {
      language: 'TypeScript',
      text: `${scriptHead(origin)}
const stream = await client.chat.completions.create({
  model: ${model},
  stream: true,
  messages: ${messages},
});
for await (const chunk of stream) process.stdout.write(chunk.choices[0]?.delta?.content ?? '');`,
    },
    {
      language: 'Python',
      text: `${pythonHead(origin)}
stream = client.chat.completions.create(
  model=${model},
  stream=True,
  messages=${messages},
)
for chunk in stream:
    if chunk.choices:
        print(chunk.choices[0].delta.content or "", end="", flush=True)`,
    },
  ];
}

function scriptHead(origin: string): string {
  return `// npm install openai
import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${origin}/ai/v1', apiKey: process.env.UMPIRE_API_KEY });`;
}

function pythonHead(origin: string): string {
  return `# pip install openai
import os

from openai import OpenAI

client = OpenAI(base_url="${origin}/ai/v1", api_key=os.environ["UMPIRE_API_KEY"])`;
}
