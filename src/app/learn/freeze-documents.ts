// Reads every document of the rows once: its vector, and the base's probabilities for each question asked about it.

import { probabilitiesInOrder } from '../../domain/answer.ts';
import { AppError, type ErrorCode } from '../../domain/errors.ts';
import type { Question } from '../../domain/question.ts';
import type { Caller, Engine } from '../../engine/engine.ts';
import { joinVectors } from '../../learning/document-vector.ts';
import { type FrozenQuestion, type FrozenRow, hashOfState } from '../../learning/frozen-rows.ts';
import type { AskedQuestion, RowDocument } from '../../learning/row-documents.ts';
import { forEachAtOnce, type RowRefusal } from '../../quality/asking.ts';

/** What is wrong with a document, and not with us. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['invalid_request', 'context_length_exceeded']);

export interface ReadingModels {
  readonly baseId: string;
  /** Whether the base's family gives a document's vector. */
  readonly hasVector: boolean;
  readonly embedderId: string | undefined;
}

export interface ReadingParts {
  readonly engine: Pick<Engine, 'ticketFor'>;
  readonly models: ReadingModels;
  readonly caller: Caller;
  /** Documents under way. */
  readonly atOnce: number;
  onProgress(done: number): void;
}

export interface FrozenDocuments {
  /** By exact set of options, in the order of the rows. */
  readonly questions: readonly FrozenQuestion[];
  /** Dimensions of the base's vector, of a question's view and of the embedder's vector, of those that there are. */
  readonly vectorParts: readonly number[];
  /** Rows that a model refuses, and why; ascending. */
  readonly leftOut: readonly RowRefusal[];
}

interface ReadDocument {
  /** By question. */
  readonly answers: ReadonlyMap<AskedQuestion, ReadAnswer>;
}

interface ReadAnswer {
  readonly parts: readonly Float32Array[];
  readonly probabilities: readonly number[];
}

/** @throws the signal's reason; what is wrong with the engine */
export async function freezeDocuments(
  documents: readonly RowDocument[],
  reading: ReadingParts,
): Promise<FrozenDocuments> {
  const read: (ReadDocument | undefined)[] = [];
  const leftOut = new Map<number, string>();
  let done = 0;
  await forEachAtOnce(documents, reading.atOnce, async (document, place) => {
    try {
      read[place] = await readDocument(document, reading);
    } catch (error) {
      if (!(error instanceof AppError && REFUSALS.has(error.code))) throw error;
      for (const { line } of document.answers) leftOut.set(line, error.message);
    }
    done++;
    reading.onProgress(done);
  });
  const [first] = read.flatMap((one) => [...(one?.answers.values() ?? [])]);
  return {
    questions: collectRows(documents, read),
    vectorParts: first?.parts.map(({ length }) => length) ?? [],
    leftOut: [...leftOut].map(([line, message]) => ({ line, message })).sort((a, b) => a.line - b.line),
  };
}

async function readDocument({ state, answers }: RowDocument, reading: ReadingParts): Promise<ReadDocument> {
  const { engine, models, caller } = reading;
  const asked = [...new Set(answers.map((answer) => answer.asked))];
  const questions: readonly Question[] = asked.map(({ question }) => question);
  const { baseId: modelId, hasVector: wantsVectors } = models;
  const decided = await engine.ticketFor({ modelId, state, questions, wantsVectors }, caller).run();
  if (wantsVectors && decided.vector === undefined) throw new Error(`${modelId} gave no vector of a document`);
  const embedded = models.embedderId === undefined ? undefined : await embed(state, models.embedderId, reading);
  const found = asked.map((one, place) => {
    const answer = decided.answers[place];
    const given = answer === undefined ? [] : probabilitiesInOrder(answer);
    const probabilities = one.identity.order.map((at) => given[at] ?? Number.NaN);
    const parts = [decided.vector, decided.views?.[place], embedded].filter((part) => part !== undefined);
    return [one, { parts, probabilities }] as const;
  });
  return { answers: new Map(found) };
}

async function embed(state: string, modelId: string, { engine, caller }: ReadingParts): Promise<Float32Array> {
  const job = { modelId, inputs: [state], dimensions: undefined, readsWindows: true, encoding: 'float' } as const;
  const [vector] = (await engine.ticketFor(job, caller).run()).embeddings;
  if (!(vector instanceof Float32Array)) throw new Error(`${modelId} gave no vector of a text`);
  return vector;
}

function collectRows(
  documents: readonly RowDocument[],
  read: readonly (ReadDocument | undefined)[],
): readonly FrozenQuestion[] {
  const rows = new Map<AskedQuestion, FrozenRow[]>();
  for (const [place, { state, answers }] of documents.entries()) {
    const document = read[place];
    if (document === undefined) continue;
    const hash = hashOfState(state);
    for (const { asked, line, target } of answers) {
      const { parts = [], probabilities: zeroShot = [] } = document.answers.get(asked) ?? {};
      const vector = joinVectors(parts);
      const own = rows.get(asked) ?? [];
      rows.set(asked, own);
      own.push({ line, state: hash, vector, zeroShot, target });
    }
  }
  return [...rows].map(
    ([
      {
        identity: { type, asked, options },
      },
      own,
    ]) => ({ type, asked, options, rows: own }),
  );
}
