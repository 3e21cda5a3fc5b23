// Tokens of a job before it runs: short texts are counted at once on this thread, long ones by a worker ahead of its
// other work, those too long for almost any model when it is their turn. All give the number that the job's reply bills.

import type { CountTask, LongInputs } from '../runtime/messages.ts';
import type { ModelFolder } from '../runtime/model-folder/manifest.ts';
import type { TokenCounter } from '../runtime/token-counter.ts';
import { countCharacters } from './cost/work-size.ts';
import { type SizedInput, splitEmbedInputs } from './embedding/embed-parts.ts';
import type { Caller, DecideJob, EmbedInput, EmbedJob } from './engine.ts';
import type { Dispatcher } from './scheduling/dispatcher.ts';
import type { QueueClass } from './scheduling/queue.ts';

/**
 * UTF-16 code units of one job that this thread counts itself in JavaScript: half a millisecond of English, four of the
 * worst text that was found (random letters in long words, on a busy machine).
 */
const LONGEST_HERE_CHARACTERS = 4096;
/** The same with the native tokenizer: half a millisecond of the worst text. */
const LONGEST_NATIVE_CHARACTERS = 65_536;
/**
 * What goes ahead of other work: a document that fills the context of `kev`, less than 10 ms of a worker. Were there no
 * end to it, one key's megabytes would keep all others waiting.
 */
const LONGEST_AHEAD_CHARACTERS = 49_152;
/** One part of a long embedding call: about 20 ms of a worker. */
const PART_CHARACTERS = 131_072;
const MS_PER_CHARACTER = 0.0002;
/** A token array counts as the text it stands for, roughly. */
const CHARACTERS_PER_TOKEN = 4;

export type OpenTokenCounter = (folder: ModelFolder) => Promise<TokenCounter | undefined>;

interface CountPart {
  readonly task: CountTask;
  readonly characters: number;
}

export class TokenCounting {
  private readonly dispatcher: Dispatcher;
  private readonly longInputs: LongInputs;
  private readonly counters = new Map<string, TokenCounter>();

  /** @param longInputs what becomes of inputs that no caller has said it of */
  constructor(dispatcher: Dispatcher, longInputs: LongInputs = 'refuse') {
    this.dispatcher = dispatcher;
    this.longInputs = longInputs;
  }

  /** Reading a vocabulary takes tens of milliseconds of this thread: it is done before there is work. */
  async open(folders: readonly ModelFolder[], openCounter: OpenTokenCounter): Promise<void> {
    for (const folder of folders) {
      const counter = await openCounter(folder);
      if (counter !== undefined) this.counters.set(folder.manifest.id, counter);
    }
  }

  /** What counts a job of this many characters at once; undefined: a worker must. */
  findCounter(modelId: string, characters: number): TokenCounter | undefined {
    const counter = this.counters.get(modelId);
    const longest = counter?.isNative ? LONGEST_NATIVE_CHARACTERS : LONGEST_HERE_CHARACTERS;
    return characters <= longest ? counter : undefined;
  }

  async countDecision(job: DecideJob, caller: Caller): Promise<number> {
    const task: CountTask = { kind: 'count-decision', ...job };
    return this.count([{ task, characters: countCharacters(job) }], caller, 'decision');
  }

  async countEmbedding({ modelId, inputs, truncate = false }: EmbedJob, caller: Caller): Promise<number> {
    const longInputs = truncate ? 'truncate' : this.longInputs;
    const limits = { costMs: PART_CHARACTERS * MS_PER_CHARACTER, paddedTokens: Infinity };
    const parts = splitEmbedInputs(inputs.map(toSized), limits).map(({ inputs: part, costMs }): CountPart => {
      const listed = part.map(({ place, input }) => ({ place, input }));
      const task: CountTask = { kind: 'count-embedding', modelId, inputs: listed, longInputs };
      return { task, characters: costMs / MS_PER_CHARACTER };
    });
    return this.count(parts, caller, 'embedding');
  }

  /** @param itsTurn class of the job itself */
  private async count(parts: readonly CountPart[], caller: Caller, itsTurn: QueueClass): Promise<number> {
    const [first, ...more] = parts;
    if (first !== undefined && more.length === 0) {
      const counter = this.findCounter(first.task.modelId, first.characters);
      if (counter !== undefined) return counter.count(first.task);
    }
    const callParts = parts.map(({ task, characters }) => ({
      task: () => task,
      costMs: characters * MS_PER_CHARACTER,
    }));
    const characters = parts.reduce((sum, part) => sum + part.characters, 0);
    const queueClass = characters <= LONGEST_AHEAD_CHARACTERS ? 'counting' : itsTurn;
    const result = await this.dispatcher.submit(callParts, { ...caller, queueClass });
    return result.first.reduce((sum, { reply }) => sum + reply.inputTokens, 0);
  }
}

/** For counting, a text is as long and as dear as its characters. */
function toSized(input: EmbedInput, place: number): SizedInput {
  const characters = typeof input === 'string' ? input.length : input.length * CHARACTERS_PER_TOKEN;
  return { place, input, tokens: characters, costMs: characters * MS_PER_CHARACTER };
}
