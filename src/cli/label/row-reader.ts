// What a model makes of documents before anybody has answered: asked for by a command, answered by app/label/row-reading.ts.

import type { Question } from '../../domain/question.ts';

export interface DocumentReading {
  /** `[questions][options]`, in the order of the questions; noul: false, true. */
  readonly probabilities: readonly (readonly number[])[];
  /** `[dimensions]`, what the document is like; undefined: the model gives none. */
  readonly vector: Float32Array | undefined;
}

export interface RowReader {
  /** Documents it can read at the same time. */
  readonly atOnce: number;
  /** @throws UnansweredRow when the model refuses it: it is too long, for example */
  read(state: string, questions: readonly Question[]): Promise<DocumentReading>;
  close(): Promise<void>;
}
