// The figures of a load test for people and for programs. Pure.

import type { LatencyFigures, LoadFigures } from '../client/load-test/load-figures.ts';
import { formatUsd } from '../domain/money.ts';
import { describeCount, shortUsd } from './batch-progress.ts';
import { horizontalBar, logarithmicBins, sparkline } from './plot.ts';

const BINS = 12;
const BAR_CELLS = 40;
/** A load test that sends later than this has had no time: its figures are partly its own. */
const LATE_MS = 20;

/** @param title what was done, in a line */
export function renderLoadReport(title: string, figures: LoadFigures): string {
  const { requests, answered, cached, answersPerSecond, latency, refusals, costPicoUsd } = figures;
  const share = answered === 0 ? 0 : Math.round((cached / answered) * 100);
  const notAnswered = refusals.map(({ code, requests: times }) => `${describeCount(times)} ${code}`).join(', ');
  const lines = [
    title,
    '',
    row(
      'requests',
      `${describeCount(requests)}, ${describeCount(answered)} answered: ${answersPerSecond.toFixed(1)} a second`,
    ),
    ...(notAnswered === '' ? [] : [row('not answered', notAnswered)]),
    ...(cached === 0 ? [] : [row('from a cache', `${describeCount(cached)} (${share} %)`)]),
    row('tokens', `${describeTokens(figures)} a second`),
    ...(costPicoUsd === 0n ? [] : [row('cost', shortUsd(costPicoUsd))]),
    ...(latency === undefined ? [] : renderLatency(latency, figures)),
    ...(figures.lateP99Ms > LATE_MS
      ? [
          '',
          `This load test sent up to ${Math.round(figures.lateP99Ms)} ms late (p99): the machine it runs on is too busy.`,
        ]
      : []),
  ];
  return `${lines.join('\n')}\n`;
}

function renderLatency(latency: LatencyFigures, { latenciesMs, slices }: LoadFigures): string[] {
  const { p50Ms, p95Ms, p99Ms, maxMs, meanMs } = latency;
  const told = Object.entries({ p50: p50Ms, p95: p95Ms, p99: p99Ms, most: maxMs, mean: meanMs });
  const bins = logarithmicBins(latenciesMs, BINS);
  const fullest = Math.max(...bins.map(({ count }) => count));
  const bars = bins.map(({ from, to, count }) => {
    const label = `${formatMs(from)} – ${formatMs(to)}`.padStart(20);
    return `${label}  ${horizontalBar(count / fullest, BAR_CELLS)} ${describeCount(count)}`;
  });
  const rates = slices.map(({ answersPerSecond }) => answersPerSecond);
  const p95s = slices.map((slice) => slice.p95Ms);
  return [
    row('latency', told.map(([name, ms]) => `${name} ${formatMs(ms)}`).join('  ')),
    '',
    ...bars,
    '',
    row('answers/s', `${sparkline(rates)}  at most ${Math.max(...rates).toFixed(1)}`),
    row('p95', `${sparkline(p95s)}  at most ${formatMs(Math.max(...p95s.filter((ms) => !Number.isNaN(ms))))}`),
  ];
}

export function loadReportJson(settings: object, figures: LoadFigures): object {
  const { latenciesMs: _all, costPicoUsd, latency, refusals, slices, ...rest } = figures;
  return {
    ...settings,
    seconds: rest.seconds,
    requests: rest.requests,
    answered: rest.answered,
    cached: rest.cached,
    refusals: Object.fromEntries(refusals.map(({ code, requests }) => [code, requests])),
    answers_per_second: rest.answersPerSecond,
    input_tokens_per_second: rest.inputTokensPerSecond,
    output_tokens_per_second: rest.outputTokensPerSecond,
    cost_usd: formatUsd(costPicoUsd),
    latency_ms:
      latency === undefined
        ? null
        : { p50: latency.p50Ms, p95: latency.p95Ms, p99: latency.p99Ms, max: latency.maxMs, mean: latency.meanMs },
    late_p99_ms: rest.lateP99Ms,
    slices: slices.map(({ answersPerSecond, p95Ms }) => ({ answers_per_second: answersPerSecond, p95_ms: p95Ms })),
  };
}

function row(name: string, text: string): string {
  return `${name.padEnd(13)} ${text}`;
}

function describeTokens({ inputTokensPerSecond, outputTokensPerSecond }: LoadFigures): string {
  const input = describeCount(Math.round(inputTokensPerSecond));
  if (outputTokensPerSecond === 0) return input;
  return `${input} read, ${describeCount(Math.round(outputTokensPerSecond))} written`;
}

/** Three figures: `1.23 s`, `45.6 ms`. */
function formatMs(ms: number): string {
  return ms >= 1000 ? `${(ms / 1000).toPrecision(3)} s` : `${ms.toPrecision(3)} ms`;
}
