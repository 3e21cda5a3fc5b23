// What learns, and what serves what was learned, as a test tells it: each step of a learning is made by hand.

import { AppError } from '../../src/domain/errors.ts';
import type { ModelCard } from '../../src/domain/model-card.ts';
import type { LearnedModelStatus, LearnedModels } from '../../src/services/learned-models.ts';
import type {
  Learner,
  LearningEnd,
  LearningJournal,
  LearningOrder,
  LearningUnderWay,
  LearningWatch,
} from '../../src/services/learning/learner.ts';
import type { LearningEvent } from '../../src/services/learning/learning.ts';
import type { LearningJob, LearningReport } from '../../src/services/learning/learning-job.ts';

/** One learning, from its order on. */
export class FakeLearning implements LearningUnderWay {
  readonly order: LearningOrder;
  readonly watch: LearningWatch;
  readonly #ending = Promise.withResolvers<LearningEnd>();
  isStopped = false;

  constructor(order: LearningOrder, watch: LearningWatch) {
    this.order = order;
    this.watch = watch;
  }

  get ended(): Promise<LearningEnd> {
    return this.#ending.promise;
  }

  end(end: LearningEnd): void {
    this.#ending.resolve(end);
  }

  stop(): void {
    this.isStopped = true;
    this.end({ type: 'lost', reason: 'it was killed' });
  }
}

export class FakeLearner implements Learner {
  readonly learnings: FakeLearning[] = [];
  readonly events: LearningEvent[] = [];
  readonly models = new FakeLearnedModels();
  readonly journal = new MemoryJournal();

  /** Of the newest. */
  get learning(): FakeLearning {
    const newest = this.learnings.at(-1);
    if (newest === undefined) throw new Error('Nothing was ordered.');
    return newest;
  }

  start(order: LearningOrder, watch: LearningWatch): FakeLearning {
    const learning = new FakeLearning(order, watch);
    this.learnings.push(learning);
    return learning;
  }

  /** As the process does: reports, is let, puts the folder in its place, says so. */
  async write(digest: string, report: LearningReport = REPORT): Promise<void> {
    const { learning } = this;
    await learning.watch.reported(report);
    this.models.onDisk.set(learning.order.modelId, digest);
    learning.end({ type: 'written', digest });
  }
}

/** Folders on a disk, and those of them that are served. */
class FakeLearnedModels implements LearnedModels {
  /** Digests by id. */
  readonly onDisk = new Map<string, string>();
  readonly served = new Map<string, string>();
  /** Why no folder can be taken in; undefined: each can. */
  loadFault: Error | undefined;

  list(): readonly LearnedModelStatus[] {
    return [...this.served].map(([id, digest]) => ({ id, card: cardOf(id, digest), reason: undefined }));
  }

  async load(id: string): Promise<ModelCard> {
    const digest = this.onDisk.get(id);
    if (this.loadFault !== undefined) throw this.loadFault;
    if (digest === undefined) throw new AppError('conflict', 'There is no folder.');
    this.served.set(id, digest);
    return cardOf(id, digest);
  }

  async remove(id: string): Promise<void> {
    this.onDisk.delete(id);
    this.served.delete(id);
  }

  findIdFault(id: string): string | undefined {
    return id === 'kev' ? 'Another model has this id.' : undefined;
  }
}

/** A file that outlives the server. */
class MemoryJournal implements LearningJournal {
  text = '[]';

  async read(): Promise<readonly LearningJob[]> {
    return JSON.parse(this.text);
  }

  async write(jobs: readonly LearningJob[]): Promise<void> {
    this.text = JSON.stringify(jobs);
  }
}

function cardOf(id: string, digest: string): ModelCard {
  return {
    ...{ id, type: 'decision', description: 'Learned.', ownedBy: 'you', releaseDate: '2026-11-22', digest },
    price: { inputMicroUsd: 37_800, cachedInputMicroUsd: 37_800, outputMicroUsd: 0 },
  };
}

const figure = (mean: number) => ({ mean, spread: 0.02 });
const figures = (accuracy: number) => ({
  accuracy: figure(accuracy),
  macroF1: figure(accuracy),
  ece: figure(0.03),
  answeredAt5: { mean: Number.NaN, spread: Number.NaN },
});

export const REPORT: LearningReport = {
  skipped: [{ row: 3, reason: 'it has more tokens than the model takes' }],
  questions: [
    {
      type: 'choice',
      asked: 'a'.repeat(64),
      firstRow: 0,
      verdict: 'learned',
      rows: 40,
      documents: 39,
      options: [
        { hash: 'b'.repeat(64), rows: 38, isScarce: false },
        { hash: 'c'.repeat(64), rows: 2, isScarce: true },
      ],
      figures: { zeroShot: figures(0.64), learned: figures(0.78) },
      curve: [{ rowsPerOption: 8, rows: 16, accuracy: figure(0.7) }],
      wouldMoreHelp: true,
      contradictions: [[1, 2]],
      suspects: [{ row: 5, labelled: 0, likelier: 1, probability: 0.97 }],
    },
  ],
};
