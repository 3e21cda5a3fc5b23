// What makes two jobs the same: SHA-256 over everything that an answer depends on. Pure.

import { createHash } from 'node:crypto';
import type { Question } from '../../domain/question.ts';
import type { DecideJob, EmbedJob } from '../engine.ts';

/** 0.3 ms of hashing. A longer job is dear enough to run, and hardly comes twice. */
const MAX_CHARACTERS = 262_144;

const LONG_CHARACTERS = 4096;

/**
 * @param modelDigest names the weights
 * @returns undefined for a job that is too long to be looked up
 */
export function digestOfJob(job: DecideJob | EmbedJob, modelDigest: string): string | undefined {
  const texts = new Texts();
  const form = 'state' in job ? formOfDecision(job, texts) : formOfEmbedding(job, texts);
  if (texts.characters > MAX_CHARACTERS) return undefined;
  // The form is JSON, so it has no line break; it says how long each text is. Hence no two jobs give the same bytes.
  // Of UTF-16 every unit counts: UTF-8 has no lone surrogates.
  const hash = createHash('sha256').update(`${JSON.stringify([job.modelId, modelDigest, form])}\n`, 'utf16le');
  for (const text of texts.inPieces()) hash.update(text, 'utf16le');
  return hash.digest('base64url');
}

class Texts {
  readonly #texts: string[] = [];
  characters = 0;

  /** @returns its place in the form */
  add(text: string): number {
    this.#texts.push(text);
    this.characters += text.length;
    return text.length;
  }

  /** Joined where they are short: many small updates cost more than the copy. */
  *inPieces(): Generator<string> {
    let joined = '';
    for (const text of this.#texts) {
      if (text.length < LONG_CHARACTERS) {
        joined += text;
        continue;
      }
      yield joined;
      yield text;
      joined = '';
    }
    yield joined;
  }
}

function formOfDecision({ state, questions }: DecideJob, texts: Texts): unknown {
  return ['decide', texts.add(state), questions.map((question) => formOfQuestion(question, texts))];
}

function formOfQuestion(question: Question, texts: Texts): unknown {
  const { type } = question;
  const instructions = texts.add(question.instructions);
  const optional = (text: string | null): number | null => (text === null ? null : texts.add(text));
  switch (type) {
    case 'choice': {
      const options = question.options.map(({ name, description }) => [texts.add(name), optional(description)]);
      return [type, instructions, options];
    }
    case 'score':
      return [type, instructions, question.levels.map((level) => texts.add(level))];
    case 'noul':
      return [type, instructions, optional(question.whenFalse), optional(question.whenTrue)];
  }
}

function formOfEmbedding({ inputs, dimensions, encoding, truncate = false }: EmbedJob, texts: Texts): unknown {
  // Ids are written as text: a list of one element says that they are.
  const forms = inputs.map((input) => (typeof input === 'string' ? texts.add(input) : [texts.add(input.join())]));
  return ['embed', encoding, dimensions ?? null, truncate, forms];
}
