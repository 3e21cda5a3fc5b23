// Door of cost: tokens of a job before it runs. Short texts are counted at once on this thread, long ones by a worker ahead of its
// other work, those too long for almost any model when it is their turn. All give the number that the job's reply bills.

import { sum } from '../../domain/sum.ts';
import type { CountTask } from '../../runtime/messages.ts';
import type { ModelFolder } from '../../runtime/model-folder/manifest.ts';
import type { TokenCount, TokenCounter } from '../../runtime/token-counter.ts';
import type { Caller, DecideJob } from '../engine.ts';
import { Part, type QueueClass, QueuedTicket } from '../scheduling/queued-ticket.ts';
import type { Scheduler } from '../scheduling/scheduler.ts';
import { countCharacters } from './work-size.ts';

/**
 * UTF-16 code units of one job that this thread counts itself in JavaScript: half a millisecond of English, four of the
 * worst text that was found (random letters in long words, on a busy machine).
 */
const LONGEST_HERE_CHARACTERS = 4096;
/** The same with the native tokenizer: half a millisecond of the worst text. */
const LONGEST_NATIVE_CHARACTERS = 65_536;
/**
 * Worker time that goes ahead of other work: a document of 8,000 tokens. Were there no end to it, one key's megabytes would
 * keep all others waiting.
 */
const LONGEST_AHEAD_MS = 10;
export const MS_PER_CHARACTER = 0.0002;

export type OpenTokenCounter = (folder: ModelFolder) => Promise<TokenCounter | undefined>;

export class TokenCounting {
  readonly #scheduler: Scheduler;
  readonly #counters = new Map<string, TokenCounter>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  /** Reading a vocabulary takes tens of milliseconds of this thread: it is done before there is work. */
  async open(folders: readonly ModelFolder[], openCounter: OpenTokenCounter): Promise<void> {
    for (const folder of folders) {
      const counter = await openCounter(folder);
      if (counter !== undefined) this.#counters.set(folder.manifest.id, counter);
    }
  }

  /** Only where counting is next to nothing. What is too long for the model is refused by whoever runs it. */
  measure(job: DecideJob): TokenCount | undefined {
    const counter = this.#findCounter(job.modelId, countCharacters(job));
    if (counter?.isNative !== true) return undefined;
    try {
      return counter.count({ kind: 'count-decision', ...job });
    } catch {
      return undefined;
    }
  }

  /** @param itsTurn class of the job itself */
  async count(parts: readonly CountPart[], caller: Caller, itsTurn: QueueClass): Promise<number> {
    const [first, ...more] = parts;
    if (first !== undefined && more.length === 0) {
      const task = first.begin();
      const counter = this.#findCounter(task.modelId, first.characters);
      if (counter !== undefined) return counter.count(task).inputTokens;
    }
    return await new CountTicket(this.#scheduler, { parts, itsTurn }, caller).run();
  }

  /** What counts a job of this many characters at once; undefined: a worker must. */
  #findCounter(modelId: string, characters: number): TokenCounter | undefined {
    const counter = this.#counters.get(modelId);
    const longest = counter?.isNative ? LONGEST_NATIVE_CHARACTERS : LONGEST_HERE_CHARACTERS;
    return characters <= longest ? counter : undefined;
  }
}

/** Counts and runs nothing: the ticket of the job itself is another. */
class CountTicket extends QueuedTicket<number> {
  readonly queueClass: QueueClass;
  readonly #scheduler: Scheduler;
  readonly #counts: readonly CountPart[];

  constructor(
    scheduler: Scheduler,
    { parts, itsTurn }: { readonly parts: readonly CountPart[]; readonly itsTurn: QueueClass },
    caller: Caller,
  ) {
    super(caller);
    this.#scheduler = scheduler;
    this.#counts = parts;
    const costMs = sum(parts.map((part) => part.costMs));
    this.queueClass = costMs <= LONGEST_AHEAD_MS ? 'counting' : itsTurn;
  }

  enter(): void {
    if (this.isIn) return;
    this.plan({ parts: this.#counts });
    this.#scheduler.submit(this);
  }

  protected collect(): number {
    return sum(this.#counts.map(({ reply }) => reply.inputTokens));
  }
}

export class CountPart extends Part<CountTask> {
  readonly characters: number;
  readonly #task: CountTask;

  constructor(task: CountTask, characters: number) {
    super(characters * MS_PER_CHARACTER);
    this.#task = task;
    this.characters = characters;
  }

  begin(): CountTask {
    return this.#task;
  }
}
