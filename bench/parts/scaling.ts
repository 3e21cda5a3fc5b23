// The part `scaling`: how the time of one decision grows with its document and with its questions, one request at a time; and
// whether that is a line.

import { seedOf } from '../load/loads.ts';
import { median, sum } from '../load/statistics.ts';
import { makeRandom } from '../load/workload.ts';
import type { Chart } from '../pages/charts.ts';
import { columns, formatPercent, tableOf } from '../pages/table.ts';
import type { Member } from '../servers/fleet.ts';
import { titlesOf } from './compared.ts';
import { judgeLinearity, type Linearity } from './fits.ts';
import { type Bench, definePart } from './part.ts';

const LENGTHS = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
const COUNTS = [1, 2, 4, 8, 16, 32, 64];
/** The line of questions that every server is asked for. */
const LINE_TOKENS = 512;
/** Sweeps over all points: what disturbs the machine for a while must not look like a curve. */
const SWEEPS = 5;
/** Of the points of the lines that all servers are asked for; the rest of the grid has one at least. */
const MIN_LINE_SAMPLES = 3;

interface Size {
  readonly stateTokens: number;
  readonly questions: number;
}

export interface ScalingPoint extends Size {
  readonly peer: string;
  readonly p50Ms: number;
  readonly samples: number;
}

interface ScalingLine extends Linearity {
  readonly peer: string;
  /** What grows; the other stays as `fixed` says. */
  readonly by: keyof Size;
  readonly fixed: number;
}

interface SampledPoint {
  readonly peer: string;
  readonly size: Size;
  readonly samplesMs: number[];
}

type ScalingFigures = Awaited<ReturnType<typeof measureScaling>>;

async function measureScaling(bench: Bench) {
  /** A point is measured again until this is used up, once a sweep. */
  const pointMs = bench.effort(400, 50);
  /** All lengths with all counts of questions, ours alone; otherwise one line each. */
  const hasGrid = bench.effort(true, false);
  const points = new Map<string, SampledPoint>();
  const sizes = LENGTHS.flatMap((stateTokens) => COUNTS.map((questions): Size => ({ stateTokens, questions })));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    bench.say(`scaling: sweep ${sweep + 1} of ${SWEEPS}`);
    for (const size of sizes) {
      await bench.fleet.inTurns(1, async (member) => {
        if (!isOnLine(size) && !(hasGrid && member.server.kind === 'ours')) return;
        const key = JSON.stringify([member.name, size]);
        const point = points.get(key) ?? { peer: member.name, size, samplesMs: [] };
        points.set(key, point);
        if (isAskedAgain(point, pointMs)) point.samplesMs.push(await measureOnce(bench, member, size, sweep));
      });
    }
  }
  const medians = [...points.values()].map(({ peer, size, samplesMs }): ScalingPoint => {
    return { peer, ...size, p50Ms: median(samplesMs), samples: samplesMs.length };
  });
  return { ...bench.compared(), points: medians, lines: fitLines(medians) };
}

function isOnLine({ stateTokens, questions }: Size): boolean {
  return questions === 1 || stateTokens === LINE_TOKENS;
}

export function isAskedAgain({ size, samplesMs }: Pick<SampledPoint, 'size' | 'samplesMs'>, pointMs: number): boolean {
  return samplesMs.length < (isOnLine(size) ? MIN_LINE_SAMPLES : 1) || sum(samplesMs) < pointMs;
}

/** All servers get the same text in the same sweep. */
async function measureOnce({ loads }: Bench, { client }: Member, size: Size, sweep: number): Promise<number> {
  const random = makeRandom(seedOf('scaling', size.stateTokens, size.questions, sweep));
  const { job } = loads.decision({ ...size, kind: 'choice' }, random);
  return (await client.ask(job)).latencyMs;
}

/** Of every row and column of the grid that is long enough. */
export function fitLines(points: readonly ScalingPoint[]): ScalingLine[] {
  const fitAlong = (own: readonly ScalingPoint[], by: keyof Size, fixedBy: keyof Size): ScalingLine[] =>
    [...Map.groupBy(own, (point) => point[fixedBy])].flatMap(([fixed, line]) => {
      const [first] = line;
      if (first === undefined || line.length < 4) return [];
      return [{ peer: first.peer, by, fixed, ...judgeLinearity(line.map((one) => ({ x: one[by], y: one.p50Ms }))) }];
    });
  return [...Map.groupBy(points, ({ peer }) => peer).values()].flatMap((own) => [
    ...fitAlong(own, 'stateTokens', 'questions'),
    ...fitAlong(own, 'questions', 'stateTokens'),
  ]);
}

export const scaling = definePart({
  title: 'Length and questions',
  task: 'decision',
  measure: measureScaling,
  write: writeLines,
  plotTitle: 'One decision at a time',
  draw: drawLines,
});

function writeLines({ servers, lines }: ScalingFigures): string[] {
  const titleOf = titlesOf({ servers });
  const rows = lines.map((line) => ({ ...line, server: titleOf(line.peer) }));
  return [
    'Median times of single requests and their least-squares fits. Linear: R² of the line is at least 0.99, and the quadratic term no more than a tenth of the largest time.',
    tableOf(rows, {
      ...columns('server'),
      grows: ({ by, fixed }) => (by === 'stateTokens' ? `tokens, ${fixed} questions` : `questions, ${fixed} tokens`),
      'at 0, ms': ({ linear }) => linear.coefficients[0] ?? Number.NaN,
      'per 1,000 tokens or per question, ms': ({ by, linear }) =>
        (linear.coefficients[1] ?? Number.NaN) * (by === 'stateTokens' ? 1000 : 1),
      'R² of the line': ({ linear }) => linear.r2.toFixed(4),
      'R² of the parabola': ({ quadratic }) => quadratic.r2.toFixed(4),
      'quadratic term': ({ quadraticShare }) => formatPercent(quadraticShare),
      linear: ({ isLinear }) => (isLinear ? 'yes' : '**no**'),
    }),
  ];
}

function drawLines({ points, servers }: ScalingFigures): Chart[] {
  const chart = (by: keyof Size, isShown: (size: Size) => boolean, words: Pick<Chart, 'title' | 'xLabel'>): Chart => ({
    ...words,
    yLabel: 'p50, ms',
    xScale: 'linear',
    yScale: 'linear',
    series: servers.map(({ id, title: name }) => {
      const own = points.filter((point) => point.peer === id && isShown(point));
      return { name, points: own.map((point) => ({ x: point[by], y: point.p50Ms })) };
    }),
  });
  return [
    chart('stateTokens', ({ questions }) => questions === 1, { title: '1 question', xLabel: 'tokens of the document' }),
    chart('questions', ({ stateTokens }) => stateTokens === LINE_TOKENS, {
      title: `${LINE_TOKENS} tokens`,
      xLabel: 'questions of 4 options',
    }),
  ];
}
