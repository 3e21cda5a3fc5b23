// What makes two jobs the same: SHA-256 over everything that an answer depends on. Pure.

import { hash } from 'node:crypto';
import type { PromptChoice } from '../../domain/prompt-choice.ts';
import type { Question } from '../../domain/question.ts';
import type { DecideJob, EmbedJob, Job, RerankJob } from '../engine.ts';

/** 0.3 ms of hashing. A longer job is dear enough to run, and hardly comes twice. */
const MAX_CHARACTERS = 262_144;

/**
 * @param modelDigest names the weights
 * @returns undefined for a job that is too long to be looked up
 */
export function digestOfJob(job: Job, modelDigest: string): string | undefined {
  const texts = new Texts();
  const form = formOf(job, texts);
  if (texts.joined.length > MAX_CHARACTERS) return undefined;
  // The form is JSON, so it has no line break; it says how long each text is. Hence no two jobs give the same bytes.
  // Of UTF-16 every unit counts: UTF-8 has no lone surrogates.
  const bytes = Buffer.from(`${JSON.stringify([job.modelId, modelDigest, form])}\n${texts.joined}`, 'utf16le');
  return hash('sha256', bytes, 'base64url');
}

function formOf(job: Job, texts: Texts): unknown {
  if ('state' in job) return formOfDecision(job, texts);
  return 'inputs' in job ? formOfEmbedding(job, texts) : formOfReranking(job, texts);
}

class Texts {
  joined = '';

  /** @returns its length, by which the form says where it ends */
  add(text: string): number {
    this.joined += text;
    return text.length;
  }
}

function formOfDecision({ state, questions, wantsVectors = false }: DecideJob, texts: Texts): unknown {
  return ['decide', wantsVectors, texts.add(state), questions.map((question) => formOfQuestion(question, texts))];
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

function formOfEmbedding(job: EmbedJob, texts: Texts): unknown {
  const { inputs, dimensions, encoding, truncate = false, readsWindows = false, prompt } = job;
  // Ids are written as text: a list of one element says that they are.
  const forms = inputs.map((input) => (typeof input === 'string' ? texts.add(input) : [texts.add(input.join())]));
  return ['embed', encoding, dimensions ?? null, truncate, readsWindows, formOfPrompt(prompt, texts), forms];
}

function formOfPrompt(prompt: PromptChoice | undefined, texts: Texts): unknown {
  if (prompt === undefined) return null;
  return 'name' in prompt ? ['name', texts.add(prompt.name)] : ['type', prompt.inputType];
}

function formOfReranking({ query, documents, truncate }: RerankJob, texts: Texts): unknown {
  return ['rerank', truncate, texts.add(query), documents.map((document) => texts.add(document))];
}
