// The page of a comparison, in Markdown: targets first, then what every part measured. Pure.

import { markdownTable } from './markdown.ts';
import { bareSection, keptSection, memorySection, shareSection, splitSection } from './own-page.ts';
import {
  type ClosedPart,
  type ComparisonFigures,
  type Measured,
  nameReport,
  type OpenPart,
  PART_NAMES,
  type PeersReport,
  type ScalingPart,
} from './peers-report.ts';
import type { Plot } from './plots.ts';
import { type Cell, formatNumber } from './table.ts';

const MEGABYTE = 1e6;

export function writePage(report: PeersReport, plots: readonly Plot[]): string {
  const { parts } = report;
  const image = (suffix: string): string[] =>
    plots
      .filter((plot) => plot.suffix === suffix)
      .map(({ title }) => `![${title}](${nameReport(report)}-${suffix}.svg)`);
  const sections = [
    headSection(report),
    targetSection(report),
    ...(parts.decisions
      ? [['## Decisions, closed loop', ...image('decisions'), ...closedSection(parts.decisions, report)]]
      : []),
    ...(parts.open ? [['## Decisions, open loop', ...image('open'), ...openSection(parts.open)]] : []),
    ...(parts.embeddings
      ? [['## Embeddings, closed loop', ...image('embeddings'), ...closedSection(parts.embeddings, report)]]
      : []),
    ...(parts.scaling
      ? [['## Length and questions', ...image('scaling'), ...scalingSection(parts.scaling.figures)]]
      : []),
    ...(parts.kept ? [keptSection(parts.kept.figures)] : []),
    ...(parts.shares ? [shareSection(parts.shares.figures)] : []),
    ...(parts.bare ? [bareSection(parts.bare.figures)] : []),
    ...(parts.memory ? [memorySection(parts.memory.figures)] : []),
    ...(parts.splits ? [splitSection(parts.splits.figures)] : []),
    serverSection(report),
  ];
  return `${sections
    .map((lines) => lines.join('\n\n'))
    .filter((section) => section !== '')
    .join('\n\n')}\n`;
}

function headSection({ startedAt, isQuick, machine, usdPerHour, parts }: PeersReport): string[] {
  const rows = PART_NAMES.flatMap((name): Cell[][] => {
    const part: Measured<unknown> | undefined = parts[name];
    if (part === undefined) return [];
    const { umpire, commit, isDirty } = part.versions;
    const version = `${umpire} ${commit?.slice(0, 12) ?? ''}${isDirty ? ' with changes' : ''}`;
    return [[name, part.startedAt, part.tookMs / 1000, part.loadBefore, version]];
  });
  return [
    `# Servers compared, ${startedAt.slice(0, 10)}`,
    `${machine.cpu ?? 'unknown CPU'}, ${machine.cores} cores, ${machine.system}, ${formatNumber(machine.memoryBytes / 2 ** 30)} GiB; an hour of it taken as $${usdPerHour}. ` +
      `Made by \`npm run bench:peers${isQuick ? ' -- --quick`, **a short form whose figures are not for quoting**' : '`'}. How each figure is measured: [bench](../README.md).`,
    'Ratios are of one part, and each part is of one run. Load: processes that wanted a core in the minute before the part; above 0.5 the machine was not quiet.',
    markdownTable([['part', 'started', 's', 'load', 'umpire'], ...rows]),
  ];
}

function targetSection({ targets }: PeersReport): string[] {
  const rows = targets.map(({ what, relation, target, unit, value, outcome, note }): Cell[] => {
    const wanted = `${relation} ${formatNumber(target)} ${unit}`;
    return [what, wanted, value ?? Number.NaN, outcome === 'missed' ? '**missed**' : outcome, note];
  });
  return ['## Targets', markdownTable([['what', 'target', 'measured', 'outcome', 'note'], ...rows])];
}

function titleOf({ servers }: Pick<ComparisonFigures, 'servers'>, id: string): string {
  return servers.find((server) => server.id === id)?.title ?? id;
}

function classLines({ classes }: ComparisonFigures): string {
  return classes.map(({ id, title }) => `- **${id}**: ${title}`).join('\n');
}

function closedSection({ figures }: Measured<ClosedPart>, { prices }: PeersReport): string[] {
  const { rounds, sliceMs, cells, costs } = figures;
  const rows = cells.map((cell): Cell[] => {
    const { p50Ms, p95Ms, p99Ms, samples } = cell.latency;
    const rates = [cell.requestsPerSecond, Math.round(cell.tokensPerSecond)];
    const ends = [samples, cell.refused, cell.errors, cell.clientShare];
    return [cell.load, cell.concurrency, titleOf(figures, cell.peer), ...rates, p50Ms, p95Ms, p99Ms, ...ends];
  });
  const head = ['load', 'at a time', 'server', 'req/s', 'tokens/s', 'p50 ms', 'p95 ms', 'p99 ms', 'answers'];
  const costRows = costs.map((cost): Cell[] => [
    cost.load,
    titleOf(figures, cost.peer),
    cost.concurrency,
    Math.round(cost.tokensPerSecond),
    `$${cost.usdPerMillionTokens.toFixed(5)}`,
  ]);
  const sold = Object.entries(prices).map(([model, usd]) => `\`${model}\` $${usd}`);
  return [
    `${rounds} rounds of slices of ${sliceMs} ms, servers in turns.`,
    classLines(figures),
    markdownTable([[...head, 'refused', 'errors', 'client'], ...rows]),
    ...leftOutLines(figures),
    `Cost of a million tokens at the best concurrency; the price in the shipped manifests: ${sold.join(', ')}.`,
    markdownTable([['load', 'server', 'at a time', 'tokens/s', 'cost of 1 M tokens'], ...costRows]),
  ];
}

function leftOutLines({ leftOut, servers }: ClosedPart): string[] {
  if (leftOut.length === 0) return [];
  const rows = leftOut.map(({ load, concurrency, peer, requestMs, sliceMs }): Cell[] => {
    return [load, concurrency, titleOf({ servers }, peer), requestMs, sliceMs / 1000];
  });
  return [
    'Left out, because one slice would have taken too long by what a request took with fewer clients:',
    markdownTable([['load', 'at a time', 'server', 'a request takes, ms', 'a slice would take, s'], ...rows]),
  ];
}

function openSection({ figures }: Measured<OpenPart>): string[] {
  const capacities = figures.capacities.map(({ load, peer, requestsPerSecond }): Cell[] => {
    return [load, titleOf(figures, peer), requestsPerSecond];
  });
  const name = (peer: string, hasDeadline: boolean): string =>
    `${titleOf(figures, peer)}${hasDeadline ? ', deadline' : ''}`;
  const rows = figures.cells.map((cell): Cell[] => {
    const answers = [cell.latency.p50Ms, cell.latency.p99Ms];
    const refusals = [cell.refusal.p50Ms, cell.refusal.p99Ms, cell.refusal.maxMs];
    const ends = [cell.givenUp, cell.failed, cell.clientLagP99Ms];
    const offered = [cell.share, name(cell.peer, cell.hasDeadline), cell.offeredPerSecond];
    return [cell.load, ...offered, cell.goodPerSecond, ...answers, cell.refusedShare, ...refusals, ...ends];
  });
  const head = ['load', '× capacity', 'server', 'offered/s', 'good/s', 'p50 ms', 'p99 ms', 'refused', 'no: p50 ms'];
  const groups = figures.cells.flatMap((cell) =>
    Object.entries(cell.latencyByGroup).map(([group, { samples, p50Ms, p99Ms }]): Cell[] => {
      return [cell.load, cell.share, name(cell.peer, cell.hasDeadline), group, samples, p50Ms, p99Ms, p99Ms / p50Ms];
    }),
  );
  const bursts = figures.bursts.map((burst): Cell[] => {
    const counts = [burst.refused, burst.toldWhen, burst.meanRetryAfterMs, burst.cameBack, burst.letIn];
    return [burst.load, name(burst.peer, burst.hasDeadline), ...counts];
  });
  const steady = groups.filter(([load, share]) => load === 'mix' && share === 0.7);
  return [
    `Poisson arrivals, ${figures.rounds} rounds of ${figures.sliceMs} ms at each load. Times count from the planned moment of sending; what a refusal took, from the real one. Good: answered within 200 ms. Capacity is each server's own, in a closed loop of 16.`,
    markdownTable([['load', 'server', 'capacity, req/s'], ...capacities]),
    markdownTable([[...head, 'no: p99 ms', 'no: max ms', 'given up', 'failed', 'client lag p99 ms'], ...rows]),
    'The mix at 0.7 × capacity, by length of the document:',
    markdownTable([['load', '× capacity', 'server', 'length', 'answers', 'p50 ms', 'p99 ms', 'p99 ÷ p50'], ...steady]),
    'A burst of twice the capacity, then a quarter of it: whoever was refused with a `Retry-After` came back once, then.',
    markdownTable([['load', 'server', 'refused', 'told when', 'mean wait ms', 'came back', 'let in'], ...bursts]),
  ];
}

function scalingSection(figures: ScalingPart): string[] {
  const rows = figures.lines.map((line): Cell[] => {
    const [start = Number.NaN, slope = Number.NaN] = line.linear.coefficients;
    const what = line.by === 'stateTokens' ? `tokens, ${line.fixed} questions` : `questions, ${line.fixed} tokens`;
    const unit = line.by === 'stateTokens' ? 1000 : 1;
    const curve = [
      line.linear.r2.toFixed(4),
      line.quadratic.r2.toFixed(4),
      `${(100 * line.quadraticShare).toFixed(1)} %`,
    ];
    return [titleOf(figures, line.peer), what, start, slope * unit, ...curve, line.isLinear ? 'yes' : '**no**'];
  });
  const head = [
    'server',
    'grows',
    'at 0, ms',
    'per 1,000 tokens or per question, ms',
    'R² of the line',
    'R² of the parabola',
  ];
  return [
    'Median times of single requests and their least-squares fits. Linear: R² of the line is at least 0.99, and the quadratic term no more than a tenth of the largest time.',
    markdownTable([[...head, 'quadratic term', 'linear'], ...rows]),
  ];
}

function serverSection({ parts }: PeersReport): string[] {
  const figures = [parts.decisions, parts.open, parts.scaling, parts.embeddings].flatMap((part) =>
    part === undefined ? [] : [part.figures],
  );
  const seen = new Set<string>();
  const servers = figures.flatMap((part) => part.servers).filter(({ id }) => !seen.has(id) && seen.add(id));
  if (servers.length === 0) return [];
  const megabytes = (bytes: number | null): number => (bytes === null ? Number.NaN : bytes / MEGABYTE);
  const rows = servers.map(({ title, readyMs, startedBytes, loadedBytes, idleShare }): Cell[] => {
    return [title, readyMs.firstMs, readyMs.secondMs, megabytes(startedBytes), megabytes(loadedBytes), 100 * idleShare];
  });
  const answers = figures.flatMap((part) => part.answers);
  const answerRows = answers.map((answer): Cell[] => [
    answer.peer,
    answer.decisions,
    answer.largestProbabilityDifference?.toExponential(1) ?? '–',
    answer.embeddings,
    answer.smallestCosine?.toFixed(6) ?? '–',
  ]);
  const settings = servers.map(({ title, settings: set, versions }) => {
    const list = (entries: Readonly<Record<string, string>>, join: string): string =>
      Object.entries(entries)
        .map(([name, value]) => `\`${name}${join}${value}\``)
        .join(', ');
    return `- **${title}**: ${list(versions, ' ')}; settings: ${list(set, '=') || 'defaults'}`;
  });
  const head = ['server', 'ready, first start, ms', 'ready, second start, ms', 'memory, ready, MB', 'after load, MB'];
  return [
    '## Servers',
    markdownTable([[...head, 'idle CPU, % of a core'], ...rows]),
    settings.join('\n'),
    'Answers compared with ours before anything was timed:',
    markdownTable([
      ['server', 'decisions', 'largest difference of a probability', 'embeddings', 'smallest cosine'],
      ...answerRows,
    ]),
  ];
}
