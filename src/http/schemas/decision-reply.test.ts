import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toAnswer } from '../../domain/answer.ts';
import { type JsonObject, parseOrderedJson } from '../../domain/json.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { Decision } from '../../services/inference/inference.ts';
import { writeDecision } from './decision-reply.ts';

const model: ModelCard = {
  id: 'kev',
  type: 'decision',
  description: '',
  ownedBy: '',
  releaseDate: '2026-01-01',
  price: { inputMicroUsd: 0, cachedInputMicroUsd: 0, outputMicroUsd: 0 },
};

function decisionWith(name: string, options: readonly string[], probabilities: readonly number[]): Decision {
  const named = options.map((option) => ({ name: option, description: null }));
  const answer = toAnswer({ type: 'choice', instructions: 'Which?', options: named }, probabilities);
  return {
    model,
    answers: [{ name, answer }],
    usage: { inputTokens: 1, outputTokens: 0 },
    timings: { queueMs: 0, tokenizeMs: 0, inferMs: 0 },
    source: { answer: 'run', keptTokens: 0 },
  };
}

describe('the text of a decision', () => {
  it('escapes any name and writes any number as JSON does', () => {
    const name = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }),
      fc.constantFrom('', '"', '\\', '\u2028', '\ud800'),
    );
    const option = fc.tuple(name, fc.double({ min: 0, max: 1, noNaN: true }));
    const options = fc.uniqueArray(option, { selector: ([text]) => text, minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(name, options, (question, given) => {
        const names = given.map(([text]) => text);
        const text = writeDecision(
          decisionWith(
            question,
            names,
            given.map(([, probability]) => probability),
          ),
        );
        for (const [option, probability] of given)
          expect(text).toContain(`${JSON.stringify(option)}:${JSON.stringify(probability)}`);
        const answers = (parseOrderedJson(text) as JsonObject).get('answers') as JsonObject;
        expect([...answers.keys()]).toEqual([question]);
        const answer = answers.get(question) as JsonObject;
        expect([...(answer.get('probabilities') as JsonObject)]).toEqual(
          given.map(([text, value]) => [text, value + 0]),
        );
      }),
    );
  });

  it('is not written of what is no number', () => {
    expect(() => writeDecision(decisionWith('q', ['a', 'b'], [Number.NaN, 1]))).toThrow(/holds NaN/);
  });
});
