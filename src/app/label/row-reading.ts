// One model reads documents for whoever labels them: the probabilities of its answers, and what a document is like. Where the
// model's family gives no vector, an embedding model that lies beside it stands in.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DocumentReading, RowReader } from '../../cli/label/row-reader.ts';
import type { Config } from '../../config/schema.ts';
import { probabilitiesInOrder } from '../../domain/answer.ts';
import { AppError } from '../../domain/errors.ts';
import type { Question } from '../../domain/question.ts';
import type { Caller } from '../../engine/engine.ts';
import type { LocalEngine } from '../../engine/local-engine.ts';
import { answerLearned, findLearned } from '../../learning/answer-learned.ts';
import { joinVectors } from '../../learning/document-vector.ts';
import type { LearnedModel } from '../../learning/learned-model.ts';
import { UnansweredRow } from '../../quality/asking.ts';
import type { DecisionFolder } from '../../runtime/model-folder/calibrated-folder.ts';
import type { ModelFolder } from '../../runtime/model-folder/manifest.ts';
import { readModelFolder } from '../../runtime/model-folder/model-folder.ts';

/** Stands in where a family gives no vector; shipped. */
const EMBEDDER = 'text-embed-mini';

/** @returns the folder of the model that gives vectors in this one's place; undefined: it gives them itself, or nobody does */
export async function findStandIn(config: Config, { manifest }: DecisionFolder): Promise<ModelFolder | undefined> {
  const path = join(config.modelsDir, EMBEDDER);
  if (manifest.family === 'split-encoder' || !existsSync(join(path, 'model.json'))) return undefined;
  return await readModelFolder(path);
}

export interface ReadingModel {
  readonly baseId: string;
  /** Of the model that gives vectors beside the base, or in its place. */
  readonly embedderId: string | undefined;
  /** Whose heads answer the questions that they know. */
  readonly learned: LearnedModel | undefined;
}

export interface RowReaderParts {
  /** Ready. */
  readonly engine: LocalEngine;
  readonly model: ReadingModel;
  readonly keyId: string;
  readonly close: () => Promise<void>;
}

export function createRowReader({ engine, model, keyId, close }: RowReaderParts): RowReader {
  const caller: Caller = { keyId, signal: new AbortController().signal };
  const { baseId, embedderId, learned } = model;
  const embed = async (state: string): Promise<Float32Array | undefined> => {
    if (embedderId === undefined) return undefined;
    const form = { dimensions: undefined, encoding: 'float', readsWindows: true } as const;
    const { embeddings } = await engine.ticketFor({ modelId: embedderId, inputs: [state], ...form }, caller).run();
    return embeddings[0] instanceof Float32Array ? embeddings[0] : undefined;
  };
  const read = async (state: string, questions: readonly Question[]): Promise<DocumentReading> => {
    const job = { modelId: baseId, state, questions, wantsVectors: true };
    const { answers, vector: own, views } = await engine.ticketFor(job, caller).run();
    const embedding = await embed(state);
    const vector = own === undefined && embedding === undefined ? undefined : joinVectors([own, embedding]);
    const probabilities = questions.map((question, place) => {
      const zeroShot = answers[place] === undefined ? [] : probabilitiesInOrder(answers[place]);
      const match = learned === undefined ? undefined : findLearned(learned.questions, question);
      if (match === undefined || vector === undefined) return zeroShot;
      return answerLearned(match, zeroShot, joinVectors([own, views?.[place], embedding]));
    });
    return { probabilities, vector };
  };
  return {
    // One more than can run, so that no worker waits for the next.
    atOnce: engine.status().workers + 1,
    read: async (state, questions) => {
      try {
        return await read(state, questions);
      } catch (error) {
        throw error instanceof AppError ? new UnansweredRow(`${error.message} (${error.code})`) : error;
      }
    },
    close,
  };
}
