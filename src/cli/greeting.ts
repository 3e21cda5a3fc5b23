// What a start says on a terminal once the server is ready: few lines for people, the first key, a request to try, and
// where to go next. Elsewhere startup-notices.ts says it, as lines of the log. Pure.

import type { ModelCard } from '../domain/model-card.ts';
import { addressToCall, describeAddress, describeDevice, type StartedServer } from './startup-notices.ts';

export interface GreetedServer extends StartedServer {
  readonly host: string;
  readonly port: number;
  /** Which code reads texts, and why not the fast one. */
  readonly tokenizer: string;
  /** Whether it serves pages to people. */
  readonly hasPages: boolean;
}

export interface Greeting {
  /** What was made at this start; undefined: there are keys already. */
  readonly firstKey: string | undefined;
  /** How the program's commands are typed here. */
  readonly command: string;
  /** Where the guides lie. */
  readonly guides: string | undefined;
}

export function greet(server: GreetedServer, { firstKey, command, guides }: Greeting): string {
  const address = addressToCall(server.host, server.port);
  const paragraphs = [
    [
      `models  ${server.models.map((model) => describeModel(model, server.aliases)).join(', ')}`,
      `device  ${describeDevice(server)}; tokenizer: ${server.tokenizer}`,
      `data    ${server.dataDir}`,
      // Here too for those who wait for it.
      `ready   ${describeAddress(server.host, server.port)}`,
    ],
    ...(firstKey === undefined
      ? []
      : [[`Your API key, shown only now: ${firstKey}`, 'Try it:'], [firstRequest(address, firstKey, server.models)]]),
    [
      'Next:',
      ...(server.hasPages ? [`  try it in a browser     ${address}/`] : []),
      `  a key for each client   ${command} keys create --help`,
      `  use and costs           ${command} usage`,
      `  commands and settings   ${command} --help`,
      `  the API                 ${address}/${server.hasPages ? 'docs' : 'openapi.json'}`,
      ...(guides === undefined ? [] : [`  guides                  ${guides}`]),
      'Ctrl-C finishes what was accepted, then stops.',
    ],
  ];
  return `\n${paragraphs.map((lines) => `${lines.join('\n')}\n`).join('\n')}\n`;
}

/** `kev (decision, also jev-latest)` */
function describeModel({ id, type }: ModelCard, aliases: StartedServer['aliases']): string {
  const others = Object.keys(aliases).filter((alias) => aliases[alias] === id);
  return `${id} (${[type, ...others.map((alias) => `also ${alias}`)].join(', ')})`;
}

/** A request that works as pasted into a POSIX shell; of a decision if a model for it is there. */
function firstRequest(address: string, key: string, models: readonly ModelCard[]): string {
  const decision = models.find(({ type }) => type === 'decision');
  const embedding = models.find(({ type }) => type === 'embedding');
  const authorization = `-H "Authorization: Bearer ${key}"`;
  if (decision !== undefined) return post(`${address}/ai/v1/systemone`, authorization, decisionExample(decision.id));
  if (embedding === undefined) return `curl ${address}/ai/v1/models ${authorization}`;
  return post(`${address}/ai/v1/embeddings`, authorization, `{"model": "${embedding.id}", "input": "Hello, world"}`);
}

/** In lines that fit a terminal. */
function decisionExample(modelId: string): string {
  return `{"model": "${modelId}",
       "state": "I was charged twice for my subscription this month and would like my money back.",
       "questions": {"department": {"type": "choice", "instructions": "Which team should handle this?",
                                    "criteria": {"billing": "payments, refunds", "technical": "bugs, outages"}}}}`;
}

function post(url: string, authorization: string, body: string): string {
  return `curl ${url} \\\n  ${authorization} -H "Content-Type: application/json" \\\n  -d '${body}'`;
}
