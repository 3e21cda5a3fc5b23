// The parts of a comparison's page in which servers run beside each other, and who they were. Pure.

import type { ClosedPart, Compared, OpenPart, Parts, PeersReport, ScalingPart } from './peers-report.ts';
import { latencyColumns, same, tableOf, toMegabytes } from './table.ts';

/** Of a server by its id. */
function titlesOf({ servers }: Pick<Compared, 'servers'>): (id: string) => string {
  return (id) => servers.find((server) => server.id === id)?.title ?? id;
}

export function closedSection(figures: ClosedPart, { prices }: PeersReport): string[] {
  const { rounds, sliceMs, classes, cells, leftOut, costs } = figures;
  const titleOf = titlesOf(figures);
  const sold = Object.entries(prices).map(([model, usd]) => `\`${model}\` $${usd}`);
  return [
    `${rounds} rounds of slices of ${sliceMs} ms, servers in turns.`,
    classes.map(({ id, title }) => `- **${id}**: ${title}`).join('\n'),
    tableOf(cells, {
      load: ({ load }) => load,
      'at a time': ({ concurrency }) => concurrency,
      server: ({ peer }) => titleOf(peer),
      'req/s': ({ requestsPerSecond }) => requestsPerSecond,
      'tokens/s': ({ tokensPerSecond }) => Math.round(tokensPerSecond),
      ...latencyColumns('p50', 'p95', 'p99'),
      answers: ({ latency }) => latency.samples,
      ...same('refused', 'errors'),
      client: ({ clientShare }) => clientShare,
    }),
    ...(leftOut.length === 0 ? [] : leftOutLines(figures)),
    `Cost of a million tokens at the best concurrency; the price in the shipped manifests: ${sold.join(', ')}.`,
    tableOf(costs, {
      load: ({ load }) => load,
      server: ({ peer }) => titleOf(peer),
      'at a time': ({ concurrency }) => concurrency,
      'tokens/s': ({ tokensPerSecond }) => Math.round(tokensPerSecond),
      'cost of 1 M tokens': ({ usdPerMillionTokens }) => `$${usdPerMillionTokens.toFixed(5)}`,
    }),
  ];
}

function leftOutLines(figures: ClosedPart): string[] {
  const titleOf = titlesOf(figures);
  return [
    'Left out, because one slice would have taken too long by what a request took with fewer clients:',
    tableOf(figures.leftOut, {
      load: ({ load }) => load,
      'at a time': ({ concurrency }) => concurrency,
      server: ({ peer }) => titleOf(peer),
      'a request takes, ms': ({ requestMs }) => requestMs,
      'a slice would take, s': ({ sliceMs }) => sliceMs / 1000,
    }),
  ];
}

export function openSection(figures: OpenPart): string[] {
  const titleOf = titlesOf(figures);
  const nameOf = ({ peer, hasDeadline }: { readonly peer: string; readonly hasDeadline: boolean }): string =>
    `${titleOf(peer)}${hasDeadline ? ', deadline' : ''}`;
  const steady = figures.cells
    .filter(({ load, share }) => load === 'mix' && share === 0.7)
    .flatMap((cell) => Object.entries(cell.latencyByGroup).map(([group, latency]) => ({ ...cell, group, latency })));
  return [
    `Poisson arrivals, ${figures.rounds} rounds of ${figures.sliceMs} ms at each load. Times count from the planned moment of sending; what a refusal took, from the real one. Good: answered within 200 ms. Capacity is each server's own, in a closed loop of 16.`,
    tableOf(figures.capacities, {
      load: ({ load }) => load,
      server: ({ peer }) => titleOf(peer),
      'capacity, req/s': ({ requestsPerSecond }) => requestsPerSecond,
    }),
    tableOf(figures.cells, {
      load: ({ load }) => load,
      '× capacity': ({ share }) => share,
      server: nameOf,
      'offered/s': ({ offeredPerSecond }) => offeredPerSecond,
      'good/s': ({ goodPerSecond }) => goodPerSecond,
      ...latencyColumns('p50', 'p99'),
      refused: ({ refusedShare }) => refusedShare,
      'no: p50 ms': ({ refusal }) => refusal.p50Ms,
      'no: p99 ms': ({ refusal }) => refusal.p99Ms,
      'no: max ms': ({ refusal }) => refusal.maxMs,
      'given up': ({ givenUp }) => givenUp,
      failed: ({ failed }) => failed,
      'client lag p99 ms': ({ clientLagP99Ms }) => clientLagP99Ms,
    }),
    'The mix at 0.7 × capacity, by length of the document:',
    tableOf(steady, {
      load: ({ load }) => load,
      '× capacity': ({ share }) => share,
      server: nameOf,
      length: ({ group }) => group,
      answers: ({ latency }) => latency.samples,
      ...latencyColumns('p50', 'p99'),
      'p99 ÷ p50': ({ latency }) => latency.p99Ms / latency.p50Ms,
    }),
    'A burst of twice the capacity, then a quarter of it: whoever was refused with a `Retry-After` came back once, then.',
    tableOf(figures.bursts, {
      load: ({ load }) => load,
      server: nameOf,
      refused: ({ refused }) => refused,
      'told when': ({ toldWhen }) => toldWhen,
      'mean wait ms': ({ meanRetryAfterMs }) => meanRetryAfterMs,
      'came back': ({ cameBack }) => cameBack,
      'let in': ({ letIn }) => letIn,
    }),
  ];
}

export function scalingSection(figures: ScalingPart): string[] {
  const titleOf = titlesOf(figures);
  return [
    'Median times of single requests and their least-squares fits. Linear: R² of the line is at least 0.99, and the quadratic term no more than a tenth of the largest time.',
    tableOf(figures.lines, {
      server: ({ peer }) => titleOf(peer),
      grows: ({ by, fixed }) => (by === 'stateTokens' ? `tokens, ${fixed} questions` : `questions, ${fixed} tokens`),
      'at 0, ms': ({ linear }) => linear.coefficients[0] ?? Number.NaN,
      'per 1,000 tokens or per question, ms': ({ by, linear }) =>
        (linear.coefficients[1] ?? Number.NaN) * (by === 'stateTokens' ? 1000 : 1),
      'R² of the line': ({ linear }) => linear.r2.toFixed(4),
      'R² of the parabola': ({ quadratic }) => quadratic.r2.toFixed(4),
      'quadratic term': ({ quadraticShare }) => `${(100 * quadraticShare).toFixed(1)} %`,
      linear: ({ isLinear }) => (isLinear ? 'yes' : '**no**'),
    }),
  ];
}

/** Once each, as they were in the first part that they are in. */
export function serverSection(parts: Parts): string[] {
  const figures = [parts.decisions, parts.open, parts.scaling, parts.embeddings].flatMap((part) => part?.figures ?? []);
  const all = figures.flatMap(({ servers }) => servers);
  const servers = all.filter(({ id }, place) => all.findIndex((other) => other.id === id) === place);
  if (servers.length === 0) return [];
  const list = (entries: Readonly<Record<string, string>>, between: string): string =>
    Object.entries(entries)
      .map(([name, value]) => `\`${name}${between}${value}\``)
      .join(', ');
  const settings = servers.map(
    ({ title, settings: set, versions }) =>
      `- **${title}**: ${list(versions, ' ')}; settings: ${list(set, '=') || 'defaults'}`,
  );
  return [
    '## Servers',
    tableOf(servers, {
      server: ({ title }) => title,
      'ready, first start, ms': ({ readyMs }) => readyMs.firstMs,
      'ready, second start, ms': ({ readyMs }) => readyMs.secondMs,
      'memory, ready, MB': ({ startedBytes }) => toMegabytes(startedBytes),
      'after load, MB': ({ loadedBytes }) => toMegabytes(loadedBytes),
      'idle CPU, % of a core': ({ idleShare }) => 100 * idleShare,
    }),
    settings.join('\n'),
    'Answers compared with ours before anything was timed:',
    tableOf(
      figures.flatMap(({ answers }) => answers),
      {
        server: ({ peer }) => peer,
        decisions: ({ decisions }) => decisions,
        'largest difference of a probability': (answer) => answer.largestProbabilityDifference?.toExponential(1) ?? '–',
        embeddings: ({ embeddings }) => embeddings,
        'smallest cosine': (answer) => answer.smallestCosine?.toFixed(6) ?? '–',
      },
    ),
  ];
}
