// The page of a comparison, in Markdown, and its plots: targets first, then what every part measured, then who was asked. Pure.

import { tellVersion } from '../machine/machine.ts';
import { isQuiet, MAX_OTHERS_SHARE } from '../machine/quiet.ts';
import type { Part } from '../parts/part.ts';
import { type Figures, type Measured, PART_NAMES, PARTS, type PartName, type Parts } from '../parts/parts.ts';
import { drawPage } from './charts.ts';
import { nameReport, type PeersReport } from './peers-report.ts';
import { formatNumber, formatPercent, tableOf, toMegabytes } from './table.ts';

export interface Page {
  readonly markdown: string;
  /** Files by name. */
  readonly plots: ReadonlyMap<string, string>;
}

export function writePage(report: PeersReport): Page {
  const plots = new Map<string, string>();
  const sections = [headSection(report), targetSection(report)];
  for (const name of PART_NAMES) sections.push(partSection(name, report, plots));
  sections.push(serverSection(report.parts));
  return { markdown: `${sections.flat().join('\n\n')}\n`, plots };
}

/** @param plots where that of the part is put */
function partSection<Name extends PartName>(name: Name, report: PeersReport, plots: Map<string, string>): string[] {
  const measured: Measured<Figures[Name]> | undefined = report.parts[name];
  if (measured === undefined) return [];
  const part: Part<Figures[Name]> = PARTS[name];
  const charts = part.draw?.(measured.figures) ?? [];
  const [file, shown] = [`${nameReport(report)}-${name}.svg`, part.plotTitle ?? part.title];
  const { cpu, cores } = report.machine;
  if (charts.length > 0) plots.set(file, drawPage(`${shown} (${cpu ?? 'unknown CPU'}, ${cores} cores)`, charts));
  const image = charts.length > 0 ? [`![${shown}](${file})`] : [];
  return [`## ${part.title}`, ...image, ...part.write(measured.figures, report.prices)];
}

function headSection({ startedAt, isQuick, machine, usdPerHour, parts }: PeersReport): string[] {
  const rows = PART_NAMES.flatMap((name) => {
    const part: Measured<unknown> | undefined = parts[name];
    return part === undefined ? [] : [{ ...part, name }];
  });
  const noisy = rows.filter(({ othersShare }) => othersShare !== undefined && !isQuiet(othersShare));
  const noisyNames = noisy.map(({ name }) => name).join(', ');
  return [
    `# Servers compared, ${startedAt.slice(0, 10)}`,
    `${machine.cpu ?? 'unknown CPU'}, ${machine.cores} cores, ${machine.system}, ${formatNumber(machine.memoryBytes / 2 ** 30)} GiB; an hour of it taken as $${usdPerHour}. ` +
      `Made by \`npm run bench:peers${isQuick ? ' -- --quick`, **a short form whose figures are not for quoting**' : '`'}. How each figure is measured: [bench](../README.md).`,
    ...(noisy.length === 0
      ? []
      : [`**The machine was not quiet (\`--noisy\`): figures of ${noisyNames} are not for quoting.**`]),
    `Ratios are of one part, and each part is of one run. Load: processes that wanted a core in the minute before the part. Others: what they used of all processors meanwhile; above ${formatPercent(MAX_OTHERS_SHARE)} the machine was not quiet.`,
    tableOf(rows, {
      part: ({ name }) => name,
      started: (part) => part.startedAt,
      s: ({ tookMs }) => tookMs / 1000,
      load: ({ loadBefore }) => loadBefore,
      others: ({ othersShare }) => (othersShare == null ? '–' : formatPercent(othersShare)),
      umpire: ({ versions }) => tellVersion(versions),
    }),
  ];
}

function targetSection({ targets }: PeersReport): string[] {
  return [
    '## Targets',
    tableOf(targets, {
      what: ({ what }) => what,
      target: ({ relation, target, unit }) => `${relation} ${formatNumber(target)} ${unit}`,
      measured: ({ value }) => value ?? Number.NaN,
      outcome: ({ outcome }) => (outcome === 'missed' ? '**missed**' : outcome),
      note: ({ note }) => note,
    }),
  ];
}

/** Once each, as they were in the first part that they are in. */
function serverSection({ decisions, open, scaling, embeddings }: Parts): string[] {
  const figures = [decisions, open, scaling, embeddings].flatMap((part) => part?.figures ?? []);
  const all = figures.flatMap(({ servers }) => servers);
  const servers = all.filter(({ id }, place) => all.findIndex((other) => other.id === id) === place);
  if (servers.length === 0) return [];
  const list = (entries: Readonly<Record<string, string>>, between: string): string =>
    Object.entries(entries)
      .map(([name, value]) => `\`${name}${between}${value}\``)
      .join(', ');
  const settings = servers.map(
    (server) =>
      `- **${server.title}**: ${list(server.versions, ' ')}; settings: ${list(server.settings, '=') || 'defaults'}`,
  );
  const answers = figures.flatMap((part) => part.answers);
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
    tableOf(answers, {
      server: ({ peer }) => peer,
      decisions: (answer) => answer.decisions,
      'largest difference of a probability': (answer) => answer.largestProbabilityDifference?.toExponential(1) ?? '–',
      embeddings: (answer) => answer.embeddings,
      'smallest cosine': ({ smallestCosine }) => smallestCosine?.toFixed(6) ?? '–',
    }),
  ];
}
