// The use case of a decision: find the model, ask the engine under the accounting, give each answer its question's name
// again. Names stop here: what goes to the engine holds none.

import type { Answer } from '../../domain/answer.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { NamedQuestion } from '../../domain/question.ts';
import type { JobTimings, Usage } from '../../domain/usage.ts';
import type { Caller, DecideJob, Engine, ResultSource } from '../../engine/engine.ts';
import type { Accounting } from '../accounting/accounting.ts';
import type { Catalog } from '../catalog.ts';
import type { Requester } from '../requester.ts';
import { countRoughly, type LocalReply, type ReplyWriter, runMetered } from './metered-run.ts';

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
  readonly source: ResultSource;
}

export class DecideService {
  readonly #engine: Engine;
  readonly #catalog: Catalog;
  readonly #accounting: Accounting;

  constructor(engine: Engine, catalog: Catalog, accounting: Accounting) {
    this.#engine = engine;
    this.#catalog = catalog;
    this.#accounting = accounting;
  }

  /**
   * @throws AppError of the catalog, the accounting and the engine; the signal's reason when the client left before
   * dispatch
   */
  async decide(
    request: DecisionRequest,
    requester: Requester,
    writer: ReplyWriter<Decision>,
  ): Promise<LocalReply<Decision>> {
    const model = this.#catalog.getModelOfType(requester.key, request.modelId, 'decision');
    const questions = request.questions.map((named) => named.question);
    const job: DecideJob = { modelId: model.id, state: request.state, questions };
    const { key, signal, deadlineMs } = requester;
    const caller: Caller = { keyId: key.id, signal, deadlineMs };
    return runMetered({
      accounting: this.#accounting,
      requester,
      model,
      roughTokens: countRoughly([request.state, ...questions.map(({ instructions }) => instructions)]),
      findRefusal: () => this.#engine.findRefusal(job, caller),
      countTokens: () => this.#engine.countDecisionTokens(job, caller),
      run: async () => {
        const { answers, inputTokens, timings, source } = await this.#engine.decide(job, caller);
        const usage = { inputTokens, outputTokens: 0 };
        return { model, answers: nameAnswers(request.questions, answers), usage, timings, source };
      },
      writer,
    });
  }
}

function nameAnswers(questions: readonly NamedQuestion[], answers: readonly Answer[]): NamedAnswer[] {
  return questions.map(({ name }, index) => {
    const answer = answers[index];
    if (answer === undefined) throw new Error(`The engine gave ${answers.length} of ${questions.length} answers.`);
    return { name, answer };
  });
}
