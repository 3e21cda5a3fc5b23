// The use case of a decision: find the model, ask the engine, give each answer its question's name again. Names stop
// here: what goes to the engine holds none.

import type { Answer } from '../domain/answer.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { NamedQuestion } from '../domain/question.ts';
import type { JobTimings, Usage } from '../domain/usage.ts';
import type { Engine } from '../engine/engine.ts';
import type { Catalog } from './catalog.ts';
import type { Requester } from './requester.ts';

export interface DecisionRequest {
  readonly modelId: string;
  readonly state: string;
  /** At least one, names all different, in the order of the request. */
  readonly questions: readonly NamedQuestion[];
}

export interface NamedAnswer {
  readonly name: string;
  readonly answer: Answer;
}

export interface Decision {
  readonly model: ModelCard;
  /** In the order of the questions. */
  readonly answers: readonly NamedAnswer[];
  readonly usage: Usage;
  readonly timings: JobTimings;
}

export class DecideService {
  readonly #engine: Engine;
  readonly #catalog: Catalog;

  constructor(engine: Engine, catalog: Catalog) {
    this.#engine = engine;
    this.#catalog = catalog;
  }

  /** @throws AppError of the catalog and of the engine; the signal's reason when the client left before dispatch */
  async decide(request: DecisionRequest, requester: Requester): Promise<Decision> {
    const model = this.#catalog.getModelOfType(requester.key, request.modelId, 'decision');
    const questions = request.questions.map((named) => named.question);
    const result = await this.#engine.decide(
      { modelId: model.id, state: request.state, questions },
      { keyId: requester.key.id, signal: requester.signal },
    );
    return {
      model,
      answers: nameAnswers(request.questions, result.answers),
      usage: { inputTokens: result.inputTokens, outputTokens: 0 },
      timings: result.timings,
    };
  }
}

function nameAnswers(questions: readonly NamedQuestion[], answers: readonly Answer[]): NamedAnswer[] {
  return questions.map(({ name }, index) => {
    const answer = answers[index];
    if (answer === undefined) throw new Error(`The engine gave ${answers.length} of ${questions.length} answers.`);
    return { name, answer };
  });
}
