// One run of a batch: rows in, answers out in their order, as many under way as the server bears. What is under way when it
// is stopped, or when something fails, is finished and written.

import { hash } from 'node:crypto';
import { findPicoUsd } from '../../domain/money.ts';
import { Pace, type PaceClock, type PacePass } from '../pace.ts';
import { AskingStopped, PatientAsker, type PatientRequest } from '../patient-asker.ts';
import type { ServerConnection, WireReply } from '../server-connection.ts';
import { type BatchTask, costOf, type RowAnswer } from './batch-task.ts';
import { InputFault } from './input-lines.ts';
import { type InputRow, idText } from './input-rows.ts';
import { OrderedWriter } from './ordered-writer.ts';
import type { OutputRows } from './output-rows.ts';

/** What was written since the last news. */
export interface BatchNews {
  readonly rows: number;
  readonly errors: number;
  readonly costPicoUsd: bigint;
}

export interface BatchOptions {
  readonly rows: AsyncIterable<InputRow | InputFault>;
  readonly isDone: (row: InputRow) => boolean;
  readonly task: BatchTask;
  readonly format: OutputRows;
  readonly server: ServerConnection;
  readonly clock: PaceClock;
  /** Requests under way at most. */
  readonly concurrency: number;
  /** The same for every run of the batch. */
  readonly batchId: string;
  readonly write: (text: string) => Promise<void>;
  readonly onNews: (news: BatchNews) => void;
  /** Asks it to come to its end. */
  readonly signal: AbortSignal;
}

/** Groups that are answered and wait for one before them. */
const MOST_HELD = 512;

interface GroupAnswer {
  readonly text: string;
  readonly news: BatchNews;
}

const NOTHING: GroupAnswer = { text: '', news: { rows: 0, errors: 0, costPicoUsd: 0n } };

/** Resolves at the end of the rows, or when it was stopped. @throws AskingStopped, InputFault, what writing throws */
export async function runBatch(options: BatchOptions): Promise<void> {
  const run = new BatchRun(options);
  await run.toEnd();
}

class BatchRun {
  readonly #options: BatchOptions;
  readonly #pace: Pace;
  readonly #asker: PatientAsker;
  readonly #writer: OrderedWriter;
  readonly #failure = new AbortController();
  /** Stopped from outside, or by a failure. */
  readonly #signal: AbortSignal;
  readonly #underWay = new Set<Promise<void>>();

  constructor(options: BatchOptions) {
    const { server, clock, concurrency, signal } = options;
    this.#options = options;
    this.#signal = AbortSignal.any([signal, this.#failure.signal]);
    this.#pace = new Pace(concurrency, clock);
    this.#asker = new PatientAsker({ server, pace: this.#pace, clock, signal: this.#signal });
    this.#writer = new OrderedWriter(options.write);
  }

  async toEnd(): Promise<void> {
    try {
      await this.#send();
    } catch (error) {
      this.#fail(error);
    }
    await Promise.all(this.#underWay);
    if (this.#failure.signal.aborted) throw this.#failure.signal.reason;
  }

  async #send(): Promise<void> {
    const { rows, task, isDone } = this.#options;
    let place = 0;
    for await (const group of inGroups(untilAborted(rows, this.#signal), task.atOnce)) {
      // A group with a row to ask is asked as a whole: the same request as before, so it is billed once.
      if (group.every(isDone)) continue;
      while (this.#writer.held >= MOST_HELD) await Promise.race(this.#underWay);
      const pass = await this.#pace.enter(this.#signal);
      const work = this.#answer(group, pass, place++);
      this.#underWay.add(work);
      void work.then(() => this.#underWay.delete(work));
    }
  }

  /** Never rejects. */
  async #answer(group: readonly InputRow[], pass: PacePass, place: number): Promise<void> {
    let answer = NOTHING;
    try {
      answer = await this.#ask(group, pass);
    } catch (error) {
      this.#fail(error);
    }
    try {
      await this.#writer.put(place, answer.text);
      this.#options.onNews(answer.news);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Of several rows that are refused together, each half is asked alone. */
  async #ask(rows: readonly InputRow[], pass: PacePass): Promise<GroupAnswer> {
    const { format, isDone } = this.#options;
    const ending = await this.#asker.ask(this.#request(rows), pass);
    if (ending.type === 'answered') return this.#answered(rows, ending.reply);
    const [row] = rows;
    if (rows.length === 1 && row !== undefined) {
      const isNew = !isDone(row);
      const text = isNew ? format.refused(row, ending.refusal) : '';
      return { text, news: { rows: Number(isNew), errors: Number(isNew), costPicoUsd: 0n } };
    }
    const middle = Math.ceil(rows.length / 2);
    const first = await this.#ask(rows.slice(0, middle), await this.#pace.enter(this.#signal));
    const second = await this.#ask(rows.slice(middle), await this.#pace.enter(this.#signal));
    return {
      text: first.text + second.text,
      news: {
        rows: first.news.rows + second.news.rows,
        errors: first.news.errors + second.news.errors,
        costPicoUsd: first.news.costPicoUsd + second.news.costPicoUsd,
      },
    };
  }

  #request(rows: readonly InputRow[]): PatientRequest {
    const { task, batchId } = this.#options;
    const body = task.writeRequest(rows);
    // Two rows with the same text are two requests.
    const digest = hash('sha256', JSON.stringify([rows.map(idText), body]), 'base64url');
    return { path: task.path, body, idempotencyKey: `umpire-${batchId}-${digest}` };
  }

  #answered(rows: readonly InputRow[], reply: WireReply): GroupAnswer {
    const { task, format, isDone } = this.#options;
    const answers = readOrStop(task, reply, rows);
    const texts = rows.flatMap((row, place) => {
      const answer = answers[place];
      return answer === undefined || isDone(row) ? [] : [format.answered(row, answer)];
    });
    const costPicoUsd = findPicoUsd(costOf(reply)) ?? 0n;
    return { text: texts.join(''), news: { rows: texts.length, errors: 0, costPicoUsd } };
  }

  /** The first failure counts; being stopped is none. */
  #fail(error: unknown): void {
    if (!this.#signal.aborted) this.#failure.abort(error);
  }
}

/** @throws AskingStopped */
function readOrStop(task: BatchTask, reply: WireReply, rows: readonly InputRow[]): readonly RowAnswer[] {
  try {
    return task.readReply(reply, rows);
  } catch {
    throw new AskingStopped('The server answered with something else than what was asked for.');
  }
}

/** @throws InputFault */
async function* inGroups(
  rows: AsyncIterable<InputRow | InputFault>,
  size: number,
): AsyncGenerator<readonly InputRow[]> {
  let group: InputRow[] = [];
  for await (const row of rows) {
    if (row instanceof InputFault) throw row;
    group.push(row);
    if (group.length < size) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}

/** Ends when the signal comes, also in the middle of waiting for a row. */
async function* untilAborted<Row>(rows: AsyncIterable<Row>, signal: AbortSignal): AsyncGenerator<Row> {
  let leave = (): void => undefined;
  signal.addEventListener('abort', () => leave(), { once: true });
  const iterator = rows[Symbol.asyncIterator]();
  while (!signal.aborted) {
    const next = await new Promise<IteratorResult<Row> | undefined>((resolve, reject) => {
      leave = () => resolve(undefined);
      iterator.next().then(resolve, reject);
    });
    if (next === undefined || next.done) return;
    yield next.value;
  }
}
