// Learns in a process of its own, at the lowest priority: it may crash, hang or be killed, and whoever is served meanwhile
// does not notice. Its rows go there by messages and never touch a disk.

import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Config } from '../../config/schema.ts';
import type { LabelledRow } from '../../quality/labelled-row.ts';
import type {
  Learner,
  LearningEnd,
  LearningOrder,
  LearningUnderWay,
  LearningWatch,
} from '../../services/learning/learner.ts';
import type { ChildNews, ChildOrder } from './child-messages.ts';

/** Rows of a message: what is serialised in one turn of the event loop. */
const ROWS_AT_A_TIME = 100;

export interface ChildFault {
  readonly name: string;
  /** Of the code. */
  readonly places: readonly string[];
}

export class ChildLearner implements Learner {
  readonly #config: Config;
  readonly #onFault: (fault: ChildFault) => void;

  /** @param onFault told of what the process did not expect, without any text of a row */
  constructor(config: Config, onFault: (fault: ChildFault) => void) {
    this.#config = configOfChild(config);
    this.#onFault = onFault;
  }

  start(order: LearningOrder, watch: LearningWatch): LearningUnderWay {
    // No output: what a library prints there may quote what it read. Nothing of our environment: secrets are in it.
    const child = fork(childFile(), {
      env: { ORT_DISABLE_TELEMETRY: '1' },
      execArgv: [],
      stdio: 'ignore',
      serialization: 'advanced',
    });
    const run = new ChildRun(child, watch, this.#onFault);
    void run.send(order, this.#config);
    return { ended: run.ended, stop: () => run.stop() };
  }
}

class ChildRun {
  readonly #child: ChildProcess;
  readonly #watch: LearningWatch;
  readonly #onFault: (fault: ChildFault) => void;
  readonly #ending = Promise.withResolvers<LearningEnd>();
  #told: LearningEnd | undefined;

  constructor(child: ChildProcess, watch: LearningWatch, onFault: (fault: ChildFault) => void) {
    this.#child = child;
    this.#watch = watch;
    this.#onFault = onFault;
    child.on('message', (news: ChildNews) => this.#hear(news));
    child.on('error', (error) => this.#ending.resolve({ type: 'lost', reason: error.message }));
    child.on('close', (code, killedBy) => this.#ending.resolve(this.#told ?? describeEnd(code, killedBy)));
  }

  get ended(): Promise<LearningEnd> {
    return this.#ending.promise;
  }

  stop(): void {
    this.#child.kill('SIGKILL');
  }

  /** A process that is gone hears nothing; its end says so. */
  async send({ rows, ...order }: LearningOrder, config: Config): Promise<void> {
    await this.#post({ kind: 'begin', order, config });
    for (let from = 0; from < rows.length; from += ROWS_AT_A_TIME) {
      await this.#post({ kind: 'rows', rows: rows.slice(from, from + ROWS_AT_A_TIME) as LabelledRow[] });
    }
    await this.#post({ kind: 'learn' });
  }

  #hear(news: ChildNews): void {
    switch (news.kind) {
      case 'progress':
        this.#watch.progressed(news.progress);
        return;
      case 'report':
        this.#watch.reported(news.report).then(
          () => void this.#post({ kind: 'write' }),
          (error: unknown) => this.#refuse(error),
        );
        return;
      case 'written':
        this.#told = { type: 'written', digest: news.digest };
        return;
      case 'failed':
        this.#told = { type: 'failed', error: news.error };
        return;
      case 'fault':
        this.#onFault({ name: news.name, places: news.places });
        this.#told = { type: 'failed', error: { code: 'internal_error', message: 'It failed unexpectedly.' } };
    }
  }

  /** Its end is that nobody let it write. */
  #refuse(error: unknown): void {
    const isStore = error instanceof Error && error.name === 'StoreUnavailableError';
    const message = 'The audit trail could not be written, so nothing was changed.';
    if (isStore) this.#told = { type: 'failed', error: { code: 'store_unavailable', message } };
    this.stop();
  }

  #post(order: ChildOrder): Promise<void> {
    return new Promise((resolve) => {
      if (this.#child.connected) this.#child.send(order, undefined, undefined, () => resolve());
      else resolve();
    });
  }
}

/** One worker of one thread, which keeps no documents; nothing that is secret, and no upstreams. */
function configOfChild({ apiKey: _key, databaseUrl: _url, ...config }: Config): Config {
  const { memoryBytes: _budget, ...engine } = config.engine;
  const small = { workers: 1, threadsPerWorker: 1, stateCacheBytes: 0, probeIntervalMs: 0 };
  return { ...config, upstreams: [], answers: { ...config.answers, cacheBytes: 0 }, engine: { ...engine, ...small } };
}

function describeEnd(code: number | null, killedBy: NodeJS.Signals | null): LearningEnd {
  if (killedBy === 'SIGKILL') return { type: 'lost', reason: 'it was killed, or the system had no memory left for it' };
  return { type: 'lost', reason: killedBy === null ? `it ended with exit code ${code}` : `it crashed (${killedBy})` };
}

/** Beside this file: TypeScript in the checkout, JavaScript once compiled. */
function childFile(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`./learn-worker.${extension}`, import.meta.url));
}
