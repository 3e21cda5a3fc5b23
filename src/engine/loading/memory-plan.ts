// Door of loading, for memory: which models are loaded at the start and which when they are first asked for, what each
// takes, and what there is room for. A start that cannot fit is refused in words: otherwise the kernel would end the
// process later, in the midst of somebody's request. Pure.

import { sum } from '../../domain/sum.ts';
import { StartError } from '../../runtime/start-error.ts';

export interface PlannedModel {
  readonly id: string;
  readonly load: 'start' | 'first-use';
  /** Of its graphs: how long a load takes depends on them. */
  readonly weightBytes: number;
  /** What a load takes besides, for a moment: a graph that is optimised is there once more. */
  readonly loadingBytes: number;
  /** Estimated memory of it in all workers. */
  readonly needBytes: number;
}

export interface MemoryPlanOptions {
  readonly models: readonly PlannedModel[];
  /** What caches of the configuration may grow to. */
  readonly cacheBytes: number;
  /** Whether nothing may load that leaves the caches too little. Default: yes */
  readonly keepsRoomForCaches?: boolean;
  /** What models and caches may take together. */
  readonly budgetBytes: number;
  readonly workers: number;
}

const MIB = 2 ** 20;

export class MemoryPlan {
  readonly models: readonly PlannedModel[];
  readonly budgetBytes: number;
  /** What caches may grow to beyond the budget when all is loaded that is loaded at the start. */
  readonly shortBytes: number;
  /** Whatever is loaded. */
  readonly #fixedBytes: number;
  readonly #taken: Set<string>;

  /** @throws StartError with a table, when what is loaded at the start does not fit, or another model never would */
  constructor(options: MemoryPlanOptions) {
    this.models = options.models;
    this.budgetBytes = options.budgetBytes;
    const { keepsRoomForCaches = true, cacheBytes } = options;
    this.#fixedBytes = (keepsRoomForCaches ? cacheBytes : 0) + loadingBytes(options.models);
    const first = options.models.filter(({ load }) => load === 'start');
    this.#taken = new Set(first.map(({ id }) => id));
    const misfit = options.models.find(({ needBytes, id }) => !this.#fits(this.#taken.has(id) ? 0 : needBytes));
    if (misfit !== undefined) throw new StartError(describeMisfit(options, misfit, this.takenBytes));
    this.shortBytes = Math.max(0, this.takenBytes + (keepsRoomForCaches ? 0 : cacheBytes) - this.budgetBytes);
  }

  /** Of what is loaded or about to be, of the caches, and of what a load takes besides. */
  get takenBytes(): number {
    const loaded = this.models.filter(({ id }) => this.#taken.has(id));
    return this.#fixedBytes + sum(loaded.map(({ needBytes }) => needBytes));
  }

  /** @returns whether there is room; then the model has it until it is given back */
  take({ id, needBytes }: PlannedModel): boolean {
    if (!this.#taken.has(id) && !this.#fits(needBytes)) return false;
    this.#taken.add(id);
    return true;
  }

  giveBack({ id }: PlannedModel): void {
    this.#taken.delete(id);
  }

  #fits(moreBytes: number): boolean {
    return this.takenBytes + moreBytes <= this.budgetBytes;
  }
}

/** One graph is optimised at a time. */
function loadingBytes(models: readonly PlannedModel[]): number {
  return Math.max(0, ...models.map(({ loadingBytes: ofOne }) => ofOne));
}

function describeMisfit(options: MemoryPlanOptions, misfit: PlannedModel, takenBytes: number): string {
  const { models, keepsRoomForCaches = true, budgetBytes, workers } = options;
  const isStart = takenBytes > budgetBytes;
  const wantedBytes = isStart ? takenBytes : takenBytes + misfit.needBytes;
  const first = `The models to load at the start${keepsRoomForCaches ? ', with the caches,' : ''}`;
  const subject = isStart ? first : `With ${misfit.id}, the server`;
  const rows = [
    ...models.map(({ id, needBytes, load }) => [id, toMib(needBytes), load === 'start' ? 'at the start' : 'first use']),
    ...(keepsRoomForCaches ? [['caches', toMib(options.cacheBytes), '']] : []),
    ['loading', toMib(loadingBytes(models)), 'for a moment'],
  ];
  const widths = [0, 1].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const table = rows.map(([id = '', size = '', load = '']) =>
    `  ${id.padEnd(widths[0] ?? 0)}  ${size.padStart(widths[1] ?? 0)}  ${load}`.trimEnd(),
  );
  return [
    `${subject} may need ${toMib(wantedBytes)}, and there are ${toMib(budgetBytes)} for them (engine.memoryBytes):`,
    ...table,
    `What helps: fewer workers than ${workers} (engine.workers), smaller caches (engine.stateCacheBytes, answers.cacheBytes),`,
    'a model that is loaded when it is first asked for (`load: first-use` in models), int8 instead of fp32 graphs, a model less,',
    'or more memory. Where these estimates are too careful, set engine.memoryBytes.',
  ].join('\n');
}

function toMib(bytes: number): string {
  return `${Math.ceil(bytes / MIB).toLocaleString('en')} MiB`;
}
