// The upstreams of a configuration, as the chat service and as a check want them. Calls none.

import type { LoadedConfig } from '../config/load.ts';
import type { Config } from '../config/schema.ts';
import type { UpstreamModel } from '../config/upstream-schema.ts';
import type { Price } from '../domain/money.ts';
import type { CheckedUpstream } from '../upstream/check-upstream.ts';
import type { ChatUpstreamOptions } from '../upstream/upstream-options.ts';

export function priceOfUpstreamModel(model: UpstreamModel): Price {
  const inputMicroUsd = model.inputMicroUsdPerMillionTokens;
  return {
    inputMicroUsd,
    cachedInputMicroUsd: model.cachedInputMicroUsdPerMillionTokens ?? inputMicroUsd,
    outputMicroUsd: model.outputMicroUsdPerMillionTokens,
  };
}

/** The models of all upstreams, each once, with the names of the upstreams that have it; what is said of it the first says. */
export function listUpstreamModels({ upstreams }: Config): { model: UpstreamModel; names: readonly string[] }[] {
  const entries = upstreams.flatMap(({ name, models }) => models.map((model) => ({ name, model })));
  return [...Map.groupBy(entries, ({ model }) => model.id).values()].flatMap((own) => {
    const [first] = own;
    return first === undefined ? [] : [{ model: first.model, names: own.map(({ name }) => name) }];
  });
}

/** What a check asks of each configured upstream. */
export function listCheckedUpstreams({
  config,
  upstreamApiKeys,
}: LoadedConfig): (CheckedUpstream & UpstreamOfConfig)[] {
  return config.upstreams.map(({ name, baseUrl, checkAtStart, models }) => ({
    name,
    baseUrl,
    checkAtStart,
    apiKey: upstreamApiKeys.get(name),
    upstreamModels: models.map(({ id, upstreamModel }) => upstreamModel ?? id),
  }));
}

interface UpstreamOfConfig {
  readonly name: string;
  readonly checkAtStart: boolean;
}

/** One for each model of each configured upstream. */
export function listUpstreams({ config, upstreamApiKeys }: LoadedConfig): ChatUpstreamOptions[] {
  return config.upstreams.flatMap((upstream) =>
    upstream.models.map((model) => ({
      name: upstream.name,
      modelId: model.id,
      description: model.description,
      ownedBy: model.ownedBy ?? upstream.name,
      releaseDate: model.releaseDate,
      price: priceOfUpstreamModel(model),
      baseUrl: upstream.baseUrl,
      upstreamModel: model.upstreamModel ?? model.id,
      apiKey: upstreamApiKeys.get(upstream.name),
      timeouts: {
        connectMs: upstream.connectTimeoutMs,
        firstByteMs: upstream.firstByteTimeoutMs,
        idleMs: upstream.idleTimeoutMs,
        wholeFirstByteMs: upstream.wholeFirstByteTimeoutMs,
        totalMs: upstream.totalTimeoutMs,
        streamTotalMs: upstream.streamTotalTimeoutMs,
      },
      formats: upstream.formats,
      weight: model.weight,
      breaker: { failures: upstream.breakerFailures, pauseMs: upstream.breakerPauseMs },
      takesStreamOptions: upstream.takesStreamOptions,
      maxConcurrentRequests: upstream.maxConcurrentRequests,
      reasoning: model.reasoning,
      reserveOutputTokens: model.reserveOutputTokens,
      whenClientLeaves: upstream.whenClientLeaves,
    })),
  );
}
