// Door of learned models: an engine around another, with models that are heads over those of the engine inside. What one
// of them answers its tickets find out (learned-ticket.ts). A model is replaced at once and as a whole: a ticket holds the
// one that it began with, so no request sees half of a change.

import { AppError } from '../../domain/errors.ts';
import type { ModelCard } from '../../domain/model-card.ts';
import type { LearnedModel } from '../../learning/learned-model.ts';
import type {
  Caller,
  DecideJob,
  DecideResult,
  EmbedJob,
  EmbedResult,
  Engine,
  EngineStatus,
  Job,
  JobResult,
  RerankJob,
  RerankResult,
  Ticket,
} from '../engine.ts';
import { refusedTicket } from '../refused-ticket.ts';
import { LearnedTicket } from './learned-ticket.ts';

interface PutModel {
  readonly model: LearnedModel;
  readonly card: ModelCard;
}

export class LearnedEngine implements Engine {
  readonly #engine: Engine;
  /** By id. */
  readonly #learned = new Map<string, PutModel>();
  #models: readonly ModelCard[];

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#models = engine.models;
  }

  /** Cards of the models at this moment: those of the engine inside first. */
  get models(): readonly ModelCard[] {
    return this.#models;
  }

  /**
   * From the next ticket on, this is the model of its id.
   * @param card of the same id
   * @throws Error where the engine inside has no such base or embedder, or one of other weights, or has a model of this id
   */
  put(model: LearnedModel, card: ModelCard): void {
    const { id, base, embedder } = model;
    if (card.id !== id) throw new Error(`the card of ${card.id} was put beside the learned model ${id}`);
    if (this.#engine.models.some((own) => own.id === id)) throw new Error(`${id} is the id of a model already`);
    for (const { id: neededId, digest } of embedder === undefined ? [base] : [base, embedder]) {
      const needed = this.#engine.models.find((own) => own.id === neededId);
      if (needed?.digest !== digest) throw new Error(`${id} was learned on another ${neededId} than is served`);
    }
    this.#learned.set(id, { model, card });
    this.#listModels();
  }

  /** No ticket is for it any more; those that there are end as they began. @returns whether there was one */
  remove(id: string): boolean {
    const wasThere = this.#learned.delete(id);
    this.#listModels();
    return wasThere;
  }

  ticketFor(job: DecideJob, caller: Caller): Ticket<DecideResult>;
  ticketFor(job: EmbedJob, caller: Caller): Ticket<EmbedResult>;
  ticketFor(job: RerankJob, caller: Caller): Ticket<RerankResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult>;
  ticketFor(job: Job, caller: Caller): Ticket<JobResult> {
    const model = this.#learned.get(job.modelId)?.model;
    if (model === undefined) return this.#engine.ticketFor(job, caller);
    if ('state' in job) return new LearnedTicket({ engine: this.#engine, model, job, caller });
    return refusedTicket(
      new AppError('model_type_mismatch', `${model.id} works on another endpoint.`, { param: 'model' }),
    );
  }

  /** A learned model is as ready as its base. */
  status(): EngineStatus {
    const status = this.#engine.status();
    const stateOf = new Map(status.models.map(({ id, state }) => [id, state]));
    const learned = [...this.#learned.values()].map(({ model: { id, base } }) => {
      return { id, state: stateOf.get(base.id) ?? 'not_loaded' };
    });
    return { ...status, models: [...status.models, ...learned] };
  }

  drain(): Promise<void> {
    return this.#engine.drain();
  }

  #listModels(): void {
    this.#models = [...this.#engine.models, ...[...this.#learned.values()].map(({ card }) => card)];
  }
}
