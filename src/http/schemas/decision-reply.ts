// The reply of POST /ai/v1/systemone: its schema, and the writer that keeps the order of names. The text is written
// name by name because an object would move "10" to the front and lose "__proto__".

import { z } from 'zod';
import type { Answer, ChoiceAnswer, ScoreAnswer } from '../../domain/answer.ts';
import type { Decision } from '../../services/inference/inference.ts';
import { discriminator } from './named-schema.ts';

const probability = z.number().min(0).max(1);
const confidence = probability.describe('0: as good as a guess, 1: certain.');
const probabilities = z.record(z.string(), probability);

const typeOf = <Type extends string>(type: Type) => z.literal(type).describe('The kind of the question.');

const choiceAnswer = z
  .object({
    type: typeOf('choice'),
    choice: z.string().describe('Name of the most probable option.'),
    probabilities: probabilities.describe('By option name, in the order of the request; they sum to 1.'),
    confidence,
  })
  .meta({ id: 'ChoiceAnswer', description: 'Which option fits, and how probable each is.' });

const scoreAnswer = z
  .object({
    type: typeOf('score'),
    score: z.number().min(0).describe('Mean level: the sum of level × probability.'),
    legend: z.record(z.string(), z.string()).describe('The levels of the request, keyed "0", "1", ….'),
    probabilities: probabilities.describe('Keyed like `legend`; they sum to 1.'),
    confidence,
  })
  .meta({ id: 'ScoreAnswer', description: 'How high the state scores, and how probable each level is.' });

const noulAnswer = z
  .object({ type: typeOf('noul'), noul: probability.describe('Probability of yes.') })
  .meta({ id: 'NoulAnswer', description: 'How probable a yes is.' });

const answer = z.discriminatedUnion('type', [choiceAnswer, scoreAnswer, noulAnswer]).meta({
  id: 'Answer',
  description: 'The answer to one question; `type` is that of the question.',
  discriminator: discriminator({ choice: 'ChoiceAnswer', score: 'ScoreAnswer', noul: 'NoulAnswer' }),
});

const decisionUsage = z
  .object({
    input_tokens: z
      .int()
      .min(0)
      .describe('Tokens of the state, of the instructions and of the rendered options, each counted once.'),
    output_tokens: z.literal(0).describe('A decision writes no text.').meta({ type: 'integer' }),
  })
  .meta({ id: 'DecisionUsage', description: 'What is billed.' });

export const decisionReplySchema = z
  .object({
    model: z.string().describe('Id of the model that answered.'),
    answers: z.record(z.string(), answer).describe('By question name: exactly the names of the request.'),
    usage: decisionUsage,
  })
  .meta({ id: 'Decision', description: 'One answer for each question.' });

export function writeDecision({ model, answers, usage }: Decision): string {
  return writeObject([
    ['model', JSON.stringify(model.id)],
    ['answers', writeObject(answers.map(({ name, answer }) => [name, writeAnswer(answer)]))],
    ['usage', `{"input_tokens":${usage.inputTokens},"output_tokens":${usage.outputTokens}}`],
  ]);
}

function writeAnswer(answer: Answer): string {
  switch (answer.type) {
    case 'choice':
      return writeChoice(answer);
    case 'score':
      return writeScore(answer);
    case 'noul':
      return writeObject([
        ['type', '"noul"'],
        ['noul', writeNumber(answer.noul)],
      ]);
  }
}

function writeChoice({ choice, probabilities: options, confidence: certainty }: ChoiceAnswer): string {
  return writeObject([
    ['type', '"choice"'],
    ['choice', writeText(choice)],
    ['probabilities', writeObject(options.map((option) => [option.name, writeNumber(option.probability)]))],
    ['confidence', writeNumber(certainty)],
  ]);
}

function writeScore({ score, levels, probabilities: byLevel, confidence: certainty }: ScoreAnswer): string {
  return writeObject([
    ['type', '"score"'],
    ['score', writeNumber(score)],
    ['legend', writeObject(levels.map((level, index) => [String(index), writeText(level)]))],
    ['probabilities', writeObject(byLevel.map((value, index) => [String(index), writeNumber(value)]))],
    ['confidence', writeNumber(certainty)],
  ]);
}

/** @param entries names as they are, values as JSON text */
function writeObject(entries: readonly (readonly [name: string, json: string])[]): string {
  let text = '';
  for (const [name, json] of entries) text += `${text === '' ? '{' : ','}${writeText(name)}:${json}`;
  return text === '' ? '{}' : `${text}}`;
}

/** Most names have nothing to escape: to see that is faster than to look for it. Lone surrogates are escaped. */
const PLAIN_TEXT = /^[ !#-[\]-~]*$/;

function writeText(text: string): string {
  return PLAIN_TEXT.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Full precision, as JSON has it. @throws Error on NaN and infinities, which JSON would turn into null */
function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw new Error(`An answer holds ${value}.`);
  return String(value);
}
