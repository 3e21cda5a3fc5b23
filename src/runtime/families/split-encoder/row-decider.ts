// Whole decisions of several callers in shared runs, on devices. Nothing is kept of a document: on a device it costs less to
// encode it again than to bring its keys and values there.

import { AppError } from '../../../domain/errors.ts';
import { softmax, temperatureOf } from '../../../domain/temperature.ts';
import type { DecideReply, DecideTask, TaskReply } from '../../messages.ts';
import type { SplitEncoderManifest } from '../../model-folder/manifest.ts';
import type { GraphSession } from '../../session.ts';
import { requireFinite } from '../finite-logits.ts';
import { restoreOrder } from '../option-order.ts';
import { packByLength, runSoundly, runTogether, toReply, valueOrError } from '../row-runs.ts';
import { type DecisionRow, packDecisionRows, type RunLimits } from './decision-rows.ts';
import type { PreparedQuestion } from './prompt.ts';
import type { PromptReader } from './prompt-reader.ts';
import { OptionPool } from './readout.ts';
import { type FoundRow, runHeads, runRows } from './row-graphs.ts';
import { countTokens, type Window } from './windows.ts';

export interface RowSessions {
  readonly batch: GraphSession;
  readonly headRows: GraphSession;
  /** `batch` in full precision, for rows that overflow; undefined: there is none. */
  readonly precise: () => Promise<GraphSession | undefined>;
}

interface RowDeciderParts {
  readonly manifest: SplitEncoderManifest;
  readonly prompts: PromptReader;
  readonly sessions: RowSessions;
  readonly limits: RunLimits;
}

interface ReadDecision {
  readonly inputTokens: number;
  readonly windows: readonly Window[];
  readonly questions: readonly QuestionRows[];
  readonly tokenizeMs: number;
}

interface QuestionRows {
  readonly question: PreparedQuestion;
  /** One for each chunk. */
  readonly rows: readonly DecisionRow[];
}

type Result<T> = T | AppError;

export class RowDecider {
  readonly #parts: RowDeciderParts;

  constructor(parts: RowDeciderParts) {
    this.#parts = parts;
  }

  /** A decision by itself. @throws AppError */
  async decide(task: Omit<DecideTask, 'kind' | 'modelId'>): Promise<DecideReply> {
    const read = this.#read(task);
    const startedMs = performance.now();
    const found = await this.#runAll([read]);
    return this.#toReply({ task, read, logits: await this.#answer(read, found) }, found, startedMs);
  }

  /** Each as if by itself, within the tolerance of padding. @returns `[tasks]` */
  async decideTogether(tasks: readonly Omit<DecideTask, 'kind' | 'modelId'>[]): Promise<TaskReply[]> {
    const reads = tasks.map((task) => valueOrError(() => this.#read(task)));
    const startedMs = performance.now();
    const done = reads.flatMap((read) => (read instanceof Error ? [] : [read]));
    const found = await this.#runAll(done);
    const logits = await this.#answerAll(done, found);
    return tasks.map((task, place) =>
      toReply(reads[place] ?? new Error('a task was left out'), (read) =>
        this.#toReply({ task, read, logits: logits.get(read) ?? [] }, found, startedMs),
      ),
    );
  }

  #read({
    state,
    questions,
    countedQuestions,
  }: Pick<DecideTask, 'state' | 'questions' | 'countedQuestions'>): ReadDecision {
    const startedMs = performance.now();
    const { prompts } = this.#parts;
    const { windows, inputTokens } = prompts.readState(state);
    const tokenized = prompts.readQuestions(questions);
    const { questionTokens } = countedQuestions === undefined ? tokenized : prompts.readQuestions(countedQuestions);
    const stateTokens = countTokens(windows);
    const asked = tokenized.questions.map((each): QuestionRows => {
      const question = prompts.prepare(each, stateTokens);
      const all = [...windows, ...prompts.instructionWindows(question)];
      const rows = question.chunks.map((chunk) => ({ chunk, windows: all, stateWindows: windows.length }));
      return { question, rows };
    });
    const tokenizeMs = performance.now() - startedMs;
    return { inputTokens: inputTokens + questionTokens, windows, questions: asked, tokenizeMs };
  }

  async #runAll(reads: readonly ReadDecision[]): Promise<Map<DecisionRow, Result<FoundRow>>> {
    const rows = reads.flatMap(({ questions }) => questions.flatMap((asked) => asked.rows));
    const found = new Map<DecisionRow, Result<FoundRow>>();
    for (const run of packDecisionRows(rows, this.#parts.limits)) {
      const results = await runTogether(run, (some) => this.#run(some));
      for (const [place, row] of run.entries())
        found.set(row, results[place] ?? new AppError('internal_error', 'no row'));
    }
    return found;
  }

  async #run(rows: readonly DecisionRow[]): Promise<FoundRow[]> {
    const { batch, precise } = this.#parts.sessions;
    const isSound = ({ pieces, vector }: FoundRow) => pieces.every(Number.isFinite) && vector.every(Number.isFinite);
    return await runSoundly(rows, { session: batch, precise, run: runRows, isSound });
  }

  async #answer(
    read: ReadDecision,
    found: ReadonlyMap<DecisionRow, Result<FoundRow>>,
  ): Promise<Result<Float32Array>[]> {
    return (await this.#answerAll([read], found)).get(read) ?? [];
  }

  /** Questions of as many options together. @returns of each decision `[questions][options]`, in the model's order */
  async #answerAll(
    reads: readonly ReadDecision[],
    found: ReadonlyMap<DecisionRow, Result<FoundRow>>,
  ): Promise<Map<ReadDecision, Result<Float32Array>[]>> {
    const { sessions, limits } = this.#parts;
    const logits = new Map<ReadDecision, Result<Float32Array>[]>(reads.map((read) => [read, []]));
    const byOptions = new Map<number, HeadRow[]>();
    for (const read of reads) {
      for (const [place, asked] of read.questions.entries()) {
        const vectors = poolOptions(asked, found);
        if (vectors instanceof AppError) {
          (logits.get(read) ?? [])[place] = vectors;
          continue;
        }
        const options = asked.question.order.length;
        const group = byOptions.get(options) ?? [];
        group.push({ read, place, vectors, type: asked.question.type, levels: asked.question.levels });
        byOptions.set(options, group);
      }
    }
    for (const [options, rows] of byOptions) {
      const runs = limits.isExact ? rows.map((row) => [row]) : packByLength(rows, () => options, limits.tokens);
      for (const run of runs) {
        const results = await runTogether(run, (some) => runHeads(sessions.headRows, some));
        for (const [at, { read, place }] of run.entries()) {
          const result = results[at];
          if (result !== undefined) (logits.get(read) ?? [])[place] = result;
        }
      }
    }
    return logits;
  }

  /** @throws AppError where a row of its found no room; Error where an answer is no number */
  #toReply(
    {
      task,
      read,
      logits,
    }: { task: Pick<DecideTask, 'wantsVectors'>; read: ReadDecision; logits: readonly Result<Float32Array>[] },
    found: ReadonlyMap<DecisionRow, Result<FoundRow>>,
    startedMs: number,
  ): DecideReply {
    const { inputTokens, windows, questions, tokenizeMs } = read;
    const probabilities = questions.map(({ question }, place) => this.#readOut(question, logits[place]));
    // Of each question its first row: whatever else it is cut into saw the document as well.
    const firsts = questions.flatMap(({ rows: [first] }) => (first && found.get(first)) ?? []);
    const rows = firsts.flatMap((row) => (row instanceof AppError ? [] : [row]));
    const vector = task.wantsVectors === true ? rows[0]?.vector : undefined;
    const views = task.wantsVectors === true ? rows.flatMap(({ view }) => view ?? []) : [];
    return {
      probabilities,
      inputTokens,
      stateTokens: countTokens(windows),
      keptTokens: 0,
      isKept: false,
      tokenizeMs,
      inferMs: performance.now() - startedMs,
      ...(vector && { vector }),
      ...(views.length > 0 && { views }),
    };
  }

  #readOut({ type, order }: PreparedQuestion, logits: Result<Float32Array> | undefined): number[] {
    if (logits === undefined) throw new Error('a question was left out of a run');
    if (logits instanceof AppError) throw logits;
    const temperature = temperatureOf(this.#parts.manifest.temperatures, type, order.length);
    return restoreOrder(softmax(requireFinite(logits, order.length), temperature), order);
  }
}

interface HeadRow {
  readonly read: ReadDecision;
  readonly place: number;
  /** `[options × hidden]` */
  readonly vectors: Float32Array;
  readonly type: PreparedQuestion['type'];
  readonly levels: readonly number[];
}

function poolOptions({ question, rows }: QuestionRows, found: ReadonlyMap<DecisionRow, Result<FoundRow>>) {
  const pool = new OptionPool(question.order.length);
  for (const row of rows) {
    const result = found.get(row);
    if (result instanceof AppError) return result;
    if (result !== undefined) pool.add(row.chunk, result.pieces);
  }
  return pool.vectors();
}
