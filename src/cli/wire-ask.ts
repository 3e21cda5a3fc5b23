// Questions to a model over the wire, as any caller asks them, and its probabilities out of the reply.

import { availableParallelism } from 'node:os';
import type { ServerConnection } from '../client/server-connection.ts';
import { errorMessage } from '../client/wire-error.ts';
import { parsePlainJson } from '../domain/json.ts';
import type { Question } from '../domain/question.ts';
import { type AskedModel, UnansweredRow } from '../quality/asking.ts';
import { writeQuestion } from '../quality/wire-question.ts';
import type { DecisionModel } from './program.ts';

/** As many rows at once as there may be workers. */
const MOST_AT_ONCE = 16;

export function askOverWire(model: DecisionModel, server: ServerConnection): AskedModel {
  return {
    temperatures: model.temperatures,
    countTokens: (text) => model.countTokens(text),
    atOnce: Math.min(MOST_AT_ONCE, availableParallelism()),
    ask: async (state, questions) => {
      const reply = await server.post('/ai/v1/systemone', writeRequest(model.id, state, questions));
      if (reply.status !== 200) throw new UnansweredRow(errorMessage(reply.body));
      const { answers } = parsePlainJson(reply.body) as { answers: Readonly<Record<string, WireProbabilities>> };
      return questions.map((question, place) => readAnswer(question, answers[place]));
    },
  };
}

/** Names never reach the model, so numbers do. */
function writeRequest(modelId: string, state: string, questions: readonly Question[]): string {
  const members = questions.map((question, place) => `"${place}":${writeQuestion(question)}`);
  return `{"model":${JSON.stringify(modelId)},"state":${JSON.stringify(state)},"questions":{${members.join(',')}}}`;
}

interface WireProbabilities {
  readonly noul?: number;
  readonly probabilities?: Readonly<Record<string, number>>;
}

/** @returns `[options]`, in the order of the question; noul: false, true */
function readAnswer(question: Question, answer: WireProbabilities | undefined): number[] {
  const { noul = Number.NaN, probabilities = {} } = answer ?? {};
  if (question.type === 'noul') return [1 - noul, noul];
  const names =
    question.type === 'choice' ? question.options.map(({ name }) => name) : question.levels.map((_, i) => String(i));
  return names.map((name) => probabilities[name] ?? Number.NaN);
}
