// The page of a comparison, in Markdown, and its plots: targets first, then what every part measured. Pure.

import { tellVersion } from '../machine/machine.ts';
import { isQuiet, MAX_OTHERS_SHARE, tellShare } from '../machine/quiet.ts';
import { type Chart, drawPage } from './charts.ts';
import { closedSection, openSection, scalingSection, serverSection } from './compared-sections.ts';
import { bareSection, keptSection, memorySection, shareSection, splitSection } from './own-sections.ts';
import { closedCharts, openCharts, scalingCharts } from './part-charts.ts';
import { type Figures, type Measured, nameReport, type PartName, type PeersReport } from './peers-report.ts';
import { formatNumber, tableOf } from './table.ts';

interface PartPage<F> {
  readonly title: string;
  write(figures: F, report: PeersReport): string[];
  /** Without: no plot. Its file has the name of the part. */
  readonly plot?: { readonly title?: string; draw(figures: F): Chart[] };
}

/** In the order of the page. */
const PART_PAGES: { readonly [Name in PartName]: PartPage<Figures[Name]> } = {
  decisions: {
    title: 'Decisions, closed loop',
    write: closedSection,
    plot: { draw: (figures) => closedCharts(figures, 'requests') },
  },
  open: { title: 'Decisions, open loop', write: openSection, plot: { draw: openCharts } },
  embeddings: {
    title: 'Embeddings, closed loop',
    write: closedSection,
    plot: { draw: (figures) => closedCharts(figures, 'tokens') },
  },
  scaling: {
    title: 'Length and questions',
    write: scalingSection,
    plot: { title: 'One decision at a time', draw: scalingCharts },
  },
  kept: { title: 'A document that was read before', write: keptSection },
  shares: { title: 'What is not the model', write: shareSection },
  bare: { title: 'How much of the machine is used', write: bareSection },
  memory: { title: 'Memory of our server', write: memorySection },
  splits: { title: 'Workers and their threads', write: splitSection },
};

export const PART_NAMES = Object.keys(PART_PAGES) as readonly PartName[];

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
  const { title, write, plot }: PartPage<Figures[Name]> = PART_PAGES[name];
  const charts = plot?.draw(measured.figures) ?? [];
  const [file, shown] = [`${nameReport(report)}-${name}.svg`, plot?.title ?? title];
  const { cpu, cores } = report.machine;
  if (charts.length > 0) plots.set(file, drawPage(`${shown} (${cpu ?? 'unknown CPU'}, ${cores} cores)`, charts));
  const image = charts.length > 0 ? [`![${shown}](${file})`] : [];
  return [`## ${title}`, ...image, ...write(measured.figures, report)];
}

function headSection({ startedAt, isQuick, machine, usdPerHour, parts }: PeersReport): string[] {
  const rows = PART_NAMES.flatMap((name) => {
    const part: Measured<unknown> | undefined = parts[name];
    return part === undefined ? [] : [{ ...part, name }];
  });
  const noisy = rows.filter(({ othersShare }) => othersShare !== undefined && !isQuiet(othersShare));
  return [
    `# Servers compared, ${startedAt.slice(0, 10)}`,
    `${machine.cpu ?? 'unknown CPU'}, ${machine.cores} cores, ${machine.system}, ${formatNumber(machine.memoryBytes / 2 ** 30)} GiB; an hour of it taken as $${usdPerHour}. ` +
      `Made by \`npm run bench:peers${isQuick ? ' -- --quick`, **a short form whose figures are not for quoting**' : '`'}. How each figure is measured: [bench](../README.md).`,
    ...(noisy.length === 0
      ? []
      : [
          `**The machine was not quiet (\`--noisy\`): figures of ${noisy.map(({ name }) => name).join(', ')} are not for quoting.**`,
        ]),
    `Ratios are of one part, and each part is of one run. Load: processes that wanted a core in the minute before the part. Others: what they used of all processors meanwhile; above ${tellShare(MAX_OTHERS_SHARE)} the machine was not quiet.`,
    tableOf(rows, {
      part: ({ name }) => name,
      started: (part) => part.startedAt,
      s: ({ tookMs }) => tookMs / 1000,
      load: ({ loadBefore }) => loadBefore,
      others: ({ othersShare }) => (othersShare == null ? '–' : tellShare(othersShare)),
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
