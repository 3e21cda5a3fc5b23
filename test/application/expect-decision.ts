// The rules of the protocol for a decision's reply, checked against the text of the request: names and their order, the
// right type for each, sums, the most probable option, the mean level.

import { expect } from 'vitest';
import { type JsonObject, type JsonValue, parseOrderedJson } from '../../src/domain/json.ts';
import { decisionReplySchema } from '../../src/http/schemas/decision-reply.ts';

const TOLERANCE = 1e-6;

export function expectDecision(requestText: string, replyText: string): void {
  expect(decisionReplySchema.safeParse(JSON.parse(replyText)).error).toBeUndefined();
  const questions = mapAt(parseOrderedJson(requestText), 'questions');
  const answers = mapAt(parseOrderedJson(replyText), 'answers');
  expect([...answers.keys()]).toEqual([...questions.keys()]);
  for (const [name, question] of questions) expectAnswer(question, mapAt(answers, name));
}

function expectAnswer(question: JsonValue, answer: JsonObject): void {
  const type = (question as JsonObject).get('type');
  expect(answer.get('type')).toBe(type);
  if (type === 'choice') expectChoice(mapAt(question, 'criteria'), answer);
  if (type === 'score') expectScore((question as JsonObject).get('criteria') as readonly string[], answer);
  if (type === 'noul') expect([...answer.keys()]).toEqual(['type', 'noul']);
}

function expectChoice(criteria: JsonObject, answer: JsonObject): void {
  const probabilities = mapAt(answer, 'probabilities') as ReadonlyMap<string, number>;
  expect([...probabilities.keys()]).toEqual([...criteria.keys()]);
  expectDistribution([...probabilities.values()]);
  const chosen = probabilities.get(answer.get('choice') as string);
  expect(chosen).toBe(Math.max(...probabilities.values()));
}

function expectScore(levels: readonly string[], answer: JsonObject): void {
  const probabilities = mapAt(answer, 'probabilities') as ReadonlyMap<string, number>;
  expect([...mapAt(answer, 'legend')]).toEqual(levels.map((level, index) => [String(index), level]));
  expect([...probabilities.keys()]).toEqual(levels.map((_, index) => String(index)));
  expectDistribution([...probabilities.values()]);
  const mean = [...probabilities.values()].reduce((sum, value, level) => sum + level * value, 0);
  expect(Math.abs((answer.get('score') as number) - mean)).toBeLessThan(TOLERANCE);
}

function expectDistribution(probabilities: readonly number[]): void {
  expect(Math.abs(probabilities.reduce((sum, value) => sum + value, 0) - 1)).toBeLessThan(TOLERANCE);
}

function mapAt(value: JsonValue, name: string): JsonObject {
  const found = value instanceof Map ? value.get(name) : undefined;
  if (!(found instanceof Map)) throw new Error(`No object under "${name}".`);
  return found;
}
