// Some requests asked again and again while others, of other lengths and other keys, keep the server busy. Every reply must be the
// first one, to the bit.

import { BenchClient } from '../../bench/load/client.ts';
import { makeDecision, makeRandom } from '../../bench/load/workload.ts';
import { ADMIN_KEY } from '../money/fleet.ts';
import { issueKey } from '../money/issue-key.ts';
import { type Environment, ServerProcess } from '../process/server-process.ts';
import { decisionOf, embeddingOf, type MixedRequest, mixRequests, type Recipe } from './mixed-requests.ts';

const ASKERS = 3;
const OTHERS = 3;

interface Asked {
  readonly name: string;
  readonly path: MixedRequest['path'];
  readonly body: string;
  /** It is asked in every so many rounds. */
  readonly every: number;
}

const random = makeRandom(5);
const decide = (stateTokens: number, questions: number): string =>
  JSON.stringify(makeDecision({ stateTokens, questions }, random));

/** The second one is dear enough to be cut into parts for all workers. */
const ASKED: readonly Asked[] = [
  { name: 'decision, 60 tokens, 2 questions', path: '/ai/v1/systemone', body: decide(60, 2), every: 1 },
  { name: 'decision, 900 tokens, 4 questions', path: '/ai/v1/systemone', body: decide(900, 4), every: 40 },
  { name: 'embeddings', path: '/ai/v1/embeddings', body: embeddingOf(5, 200)(random).body, every: 4 },
];

const OTHER_REQUESTS: Recipe = [
  [0.55, decisionOf(1, 300)],
  [0.6, decisionOf(1000, 3000)],
  [1, embeddingOf(12, 250)],
];

export interface SameAnswerRun {
  /** By name of what was asked: how often, and the different replies there were. */
  readonly replies: ReadonlyMap<string, { readonly count: number; readonly different: number }>;
  /** Of the others. */
  readonly others: number;
  /** Statuses that were not 200, of anybody. */
  readonly failures: readonly string[];
  /** `x-umpire-cache` of what was asked again, counted. */
  readonly sources: Readonly<Record<string, number>>;
  /** Replies to decisions that were asked again: whether a part of their document was kept from an earlier run. */
  readonly kept: { readonly yes: number; readonly no: number };
}

/** @param rounds how often the first request is asked */
export async function askAgainAndAgain(rounds: number, settings: Environment): Promise<SameAnswerRun> {
  const server = new ServerProcess({ UMPIRE_API_KEY: ADMIN_KEY, UMPIRE_ENGINE_PROBE_INTERVAL_MS: '0', ...settings });
  try {
    const address = await server.ready();
    const keys = await Promise.all(Array.from({ length: 3 }, () => issueKey(address)));
    const clients = keys.map(({ secret }) => new BenchClient(address, secret, ASKERS + OTHERS));
    const run = await new Crowd(clients, rounds).run();
    await Promise.all(clients.map((client) => client.close()));
    await server.stop();
    return run;
  } finally {
    await server.dispose();
  }
}

class Crowd {
  readonly #clients: readonly BenchClient[];
  readonly #rounds: number;
  readonly #replies = new Map<string, { count: number; texts: Set<string> }>();
  readonly #failures: string[] = [];
  readonly #sources: Record<string, number> = {};
  readonly #kept = { yes: 0, no: 0 };
  #started = 0;
  #others = 0;
  #isOver = false;

  constructor(clients: readonly BenchClient[], rounds: number) {
    this.#clients = clients;
    this.#rounds = rounds;
  }

  async run(): Promise<SameAnswerRun> {
    const others = Array.from({ length: OTHERS }, (_, seed) => this.#runOther(this.#client(seed), seed));
    await Promise.all(Array.from({ length: ASKERS }, (_, index) => this.#runAsker(this.#client(index % 2))));
    this.#isOver = true;
    await Promise.all(others);
    const replies = [...this.#replies].map(
      ([name, { count, texts }]) => [name, { count, different: texts.size }] as const,
    );
    return {
      replies: new Map(replies),
      others: this.#others,
      failures: this.#failures,
      sources: this.#sources,
      kept: this.#kept,
    };
  }

  #client(index: number): BenchClient {
    const client = this.#clients[index % this.#clients.length];
    if (client === undefined) throw new Error('no client');
    return client;
  }

  /** Each round is begun by one asker alone. */
  async #runAsker(client: BenchClient): Promise<void> {
    while (this.#started < this.#rounds) {
      const round = this.#started++;
      for (const asked of ASKED) if (round % asked.every === 0) await this.#ask(client, asked);
    }
  }

  async #ask(client: BenchClient, { name, path, body }: Asked): Promise<void> {
    const reply = await client.post(path, body);
    if (reply.status !== 200) this.#failures.push(`${name}: ${reply.status} ${reply.text}`);
    const known = this.#replies.get(name) ?? { count: 0, texts: new Set<string>() };
    known.count++;
    known.texts.add(reply.text);
    this.#replies.set(name, known);
    const source = String(reply.headers['x-umpire-cache'] ?? 'none');
    this.#sources[source] = (this.#sources[source] ?? 0) + 1;
    if (path === '/ai/v1/systemone')
      this.#kept[Number(reply.headers['x-umpire-kept-tokens'] ?? 0) > 0 ? 'yes' : 'no']++;
  }

  async #runOther(client: BenchClient, seed: number): Promise<void> {
    const next = mixRequests(OTHER_REQUESTS, seed);
    while (!this.#isOver) {
      const { path, body, expected } = next();
      const reply = await client.post(path, body);
      if (!expected.includes(reply.status)) this.#failures.push(`other: ${reply.status} ${reply.text}`);
      this.#others++;
    }
  }
}
