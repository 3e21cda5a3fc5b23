// The upstreams that are served: one for each model of the configuration, or several that stand in for each other. What is
// offered can be replaced while calls are under way: those keep what they began with.

import type { LoadedConfig } from '../config/load.ts';
import type { ErrorCode, FailureReason } from '../domain/errors.ts';
import type { ModelCard } from '../domain/model-card.ts';
import type { Logger } from '../observability/logger.ts';
import type { Metrics } from '../observability/metrics.ts';
import type { ModelSource } from '../services/catalog.ts';
import type { UpstreamDirectory } from '../services/chat/chat.ts';
import type { ChatUpstream } from '../upstream/chat-upstream.ts';
import { CircuitBreaker } from '../upstream/circuit-breaker.ts';
import { type FailoverMember, FailoverUpstream } from '../upstream/failover-upstream.ts';
import { type ChatUpstreamOptions, cardOfUpstream } from '../upstream/upstream-options.ts';
import { listUpstreams } from './configured-upstreams.ts';

export interface ServedUpstreamParts {
  readonly open: (options: ChatUpstreamOptions) => ChatUpstream;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** One model at one upstream. */
interface OpenedUpstream extends FailoverMember {
  /** What it was opened with, as text: as long as that stays, so do its connections and what is known of it. */
  readonly written: string;
}

export class ServedUpstreams implements ModelSource, UpstreamDirectory {
  readonly #parts: ServedUpstreamParts;
  #opened: readonly OpenedUpstream[] = [];
  #byModel: ReadonlyMap<string, ChatUpstream> = new Map();
  readonly #closing = new Set<Promise<unknown>>();

  constructor(loaded: LoadedConfig, parts: ServedUpstreamParts) {
    this.#parts = parts;
    this.#serve(loaded);
  }

  get models(): readonly ModelCard[] {
    return [...this.#byModel.values()].flatMap(({ models }) => models);
  }

  find(modelId: string): ChatUpstream | undefined {
    return this.#byModel.get(modelId);
  }

  /** @param callsEnded resolves when the calls of this moment are at their end: what they use is closed only then */
  replace(loaded: LoadedConfig, callsEnded: Promise<unknown>): void {
    const before = this.#opened;
    this.#serve(loaded);
    const left = before.filter((one) => !this.#opened.includes(one));
    const closing = callsEnded
      .then(() => Promise.all(left.map(({ upstream }) => upstream.close())))
      .finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#closing, ...this.#opened.map(({ upstream }) => upstream.close())]);
  }

  #serve(loaded: LoadedConfig): void {
    const members = listUpstreams(loaded).map((options) => ({ options, member: this.#reuseOrOpen(options) }));
    this.#opened = members.map(({ member }) => member);
    const byModel = Map.groupBy(members, ({ options }) => options.modelId);
    this.#byModel = new Map([...byModel].map(([id, own]) => [id, toOne(own.map(({ member }) => member))]));
  }

  #reuseOrOpen(options: ChatUpstreamOptions): OpenedUpstream {
    const written = JSON.stringify(options);
    return this.#opened.find((one) => one.written === written) ?? this.#open(options, written);
  }

  #open(options: ChatUpstreamOptions, written: string): OpenedUpstream {
    const { name, modelId, weight, breaker, timeouts } = options;
    const { open, metrics, logger } = this.#parts;
    const watcher = {
      called: () => metrics.upstreamCalled(name, modelId),
      answered: () => metrics.upstreamAnswered(name, modelId),
      failed: (code: ErrorCode, reason: FailureReason) =>
        metrics.upstreamFailed({ upstream: name, model: modelId, code, reason }),
    };
    const onChange = (isOpen: boolean): void => {
      metrics.upstreamLeftOut(name, modelId, isOpen);
      const fields = { upstream: name, model: modelId };
      if (isOpen) logger.warn(fields, 'the upstream failed again and again: the model is asked elsewhere for a while');
      else logger.info(fields, 'the upstream answers again');
    };
    return {
      written,
      upstream: open({ ...options, watcher }),
      weight,
      breaker: new CircuitBreaker({ ...breaker, onChange }),
      totalMs: timeouts.totalMs,
      streamTotalMs: timeouts.streamTotalMs,
      firstByteMs: timeouts.firstByteMs,
      wholeFirstByteMs: timeouts.wholeFirstByteMs,
      onPassedOn: (reason) => metrics.upstreamPassedOn(name, modelId, reason),
    };
  }
}

/** As they would be offered. */
export function listUpstreamCards(loaded: LoadedConfig): ModelCard[] {
  const byModel = Map.groupBy(listUpstreams(loaded), ({ modelId }) => modelId);
  return [...byModel.values()].flatMap(([first]) => (first === undefined ? [] : [cardOfUpstream(first)]));
}

/** A model at one upstream needs nobody in between. */
function toOne(members: readonly OpenedUpstream[]): ChatUpstream {
  const [first] = members;
  return first !== undefined && members.length === 1 ? first.upstream : new FailoverUpstream({ members });
}
