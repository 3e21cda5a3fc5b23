// Decisions over rows: each row is the document of one request, the questions are the same for all. Pure.

import type { CsvCell } from '../../domain/csv.ts';
import { isJsonObject, parseOrderedJson, parsePlainJson } from '../../domain/json.ts';
import { type BatchTask, costOf } from './batch-task.ts';

export interface DecisionTaskOptions {
  readonly model: string;
  /** The `questions` of a request, as JSON text. */
  readonly questions: string;
}

interface DecidedAnswer {
  readonly choice?: string;
  readonly score?: number;
  readonly noul?: number;
  readonly probabilities?: Readonly<Record<string, number>>;
  readonly confidence?: number;
}

export function decisionTask({ model, questions }: DecisionTaskOptions): BatchTask {
  const parsed = parseOrderedJson(questions);
  const names = isJsonObject(parsed) ? [...parsed.keys()] : [];
  const columns = names.flatMap((name) => [name, `${name}_probability`, `${name}_confidence`]);
  return {
    path: '/ai/v1/systemone',
    atOnce: 1,
    headings: [...columns, 'input_tokens', 'cost_usd'],
    writeRequest: ([row]) =>
      `{"model":${JSON.stringify(model)},"state":${JSON.stringify(row?.text ?? '')},"questions":${questions}}`,
    readReply(reply) {
      const { answers, usage } = parsePlainJson(reply.body) as {
        answers: Readonly<Record<string, DecidedAnswer>>;
        usage: { input_tokens: number };
      };
      const cost = costOf(reply);
      const cells = names.flatMap((name) => answerCells(answers[name]));
      // Names such as "10" keep their place in the text of the server. It may have line breaks between members only.
      const members = reply.body
        .trim()
        .slice(1, -1)
        .replace(/[\r\n]+/g, ' ');
      const told = cost === '' ? members : `${members},"cost_usd":${JSON.stringify(cost)}`;
      return [{ members: told, cells: [...cells, usage.input_tokens, cost] }];
    },
  };
}

/**
 * Answer, its probability, its confidence. Of a yes or no: whether true is the more probable, the probability of true, and
 * how far that is from even. Of a score: the score, the probability of the likeliest level, the confidence.
 */
function answerCells(answer: DecidedAnswer | undefined): readonly [CsvCell, CsvCell, CsvCell] {
  const { choice, score, noul, probabilities = {}, confidence } = answer ?? {};
  if (noul !== undefined) return [noul >= 0.5, noul, Math.abs(2 * noul - 1)];
  if (choice !== undefined) return [choice, probabilities[choice] ?? null, confidence ?? null];
  if (score !== undefined) return [score, Math.max(...Object.values(probabilities)), confidence ?? null];
  throw new Error('The reply lacks an answer.');
}
