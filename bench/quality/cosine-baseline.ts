// The baseline that needs no training for decisions: sentence vectors of the state and of each option, compared. Frozen
// before anything was trained; the texts and the scale are those of models/training/umpire_training/evaluate.py.

import type { Question } from '../../src/domain/question.ts';
import type { LabelledAnswer } from '../../src/quality/labelled-answer.ts';
import type { LabelledRow } from '../../src/quality/labelled-row.ts';

export const COSINE_TEMPLATE =
  'an option is "{name}: {description}", the name alone without a description, with _ read as a space; ' +
  'a noul is compared by the description of a side or else its instructions, "not " before those of false';
export const COSINE_SCALE = 20;

export type Embed = (texts: readonly string[]) => Promise<readonly Float32Array[]>;

/** The text of every option, in the order of the question; noul: false, true. */
export function cosineTexts(question: Question): string[] {
  switch (question.type) {
    case 'choice':
      return question.options.map(({ name, description }) =>
        description && name ? `${readable(name)}: ${description}` : description || readable(name),
      );
    case 'score':
      return [...question.levels];
    case 'noul':
      return [`not ${question.whenFalse || question.instructions}`, question.whenTrue || question.instructions];
  }
}

function readable(name: string): string {
  return name.replaceAll('_', ' ');
}

/** Logits are 20 × cosine. @param countTokens of the judged model, so that documents are as long as they are there */
export async function answerByCosine(
  rows: readonly LabelledRow[],
  embed: Embed,
  countTokens: (text: string) => number,
): Promise<LabelledAnswer[]> {
  const vectors = new Map<string, Float32Array>();
  const answers: LabelledAnswer[] = [];
  for (const { line, state, questions } of rows) {
    const optionTexts = questions.map(({ question }) => cosineTexts(question));
    await embedNew(new Set([state, ...optionTexts.flat()]), vectors, embed);
    const stateTokens = countTokens(state);
    for (const [place, { task, question, names, target }] of questions.entries()) {
      const logits = (optionTexts[place] ?? []).map(
        (text) => COSINE_SCALE * dot(vectors.get(state), vectors.get(text)),
      );
      answers.push({ task, row: line, type: question.type, logits, target, names, stateTokens });
    }
  }
  return answers;
}

async function embedNew(texts: ReadonlySet<string>, known: Map<string, Float32Array>, embed: Embed): Promise<void> {
  const missing = [...texts].filter((text) => !known.has(text));
  if (missing.length === 0) return;
  const found = await embed(missing);
  for (const [place, text] of missing.entries()) {
    const vector = found[place];
    if (vector === undefined) throw new Error('The baseline gave fewer vectors than texts.');
    known.set(text, vector);
  }
}

function dot(a: Float32Array = new Float32Array(), b: Float32Array = new Float32Array()): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}
