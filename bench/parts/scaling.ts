// The part `scaling`: how the time of one decision grows with its document and with its questions, one request at a time; and
// whether that is a line.

import { type Loads, seedOf } from '../load/loads.ts';
import { median, sum } from '../load/statistics.ts';
import { makeRandom } from '../load/workload.ts';
import type { Member, Turns } from '../servers/fleet.ts';
import { judgeLinearity, type Linearity } from './fits.ts';

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

export interface ScalingLine extends Linearity {
  readonly peer: string;
  /** What grows; the other stays as `fixed` says. */
  readonly by: keyof Size;
  readonly fixed: number;
}

export interface ScalingOptions {
  readonly fleet: Turns;
  readonly loads: Loads;
  /** A point is measured again until this is used up, once a sweep. */
  readonly pointMs: number;
  /** All lengths with all counts of questions, ours alone; otherwise one line each. */
  readonly hasGrid: boolean;
  readonly say: (text: string) => void;
}

interface SampledPoint {
  readonly peer: string;
  readonly size: Size;
  readonly samplesMs: number[];
}

export async function measureScaling(options: ScalingOptions) {
  const samples = new Map<string, SampledPoint>();
  const sizes = LENGTHS.flatMap((stateTokens) => COUNTS.map((questions): Size => ({ stateTokens, questions })));
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    options.say(`scaling: sweep ${sweep + 1} of ${SWEEPS}`);
    for (const size of sizes) {
      await options.fleet.inTurns(1, async (member) => {
        const { id, kind } = member.server;
        if (!isOnLine(size) && !(options.hasGrid && kind === 'ours')) return;
        const key = JSON.stringify([id, size]);
        const point = samples.get(key) ?? { peer: id, size, samplesMs: [] };
        samples.set(key, point);
        if (isAskedAgain(point, options.pointMs)) point.samplesMs.push(await measureOnce(options, member, size, sweep));
      });
    }
  }
  const points = [...samples.values()].map(({ peer, size, samplesMs }): ScalingPoint => {
    return { peer, ...size, p50Ms: median(samplesMs), samples: samplesMs.length };
  });
  return { points, lines: fitLines(points) };
}

function isOnLine({ stateTokens, questions }: Size): boolean {
  return questions === 1 || stateTokens === LINE_TOKENS;
}

export function isAskedAgain({ size, samplesMs }: Pick<SampledPoint, 'size' | 'samplesMs'>, pointMs: number): boolean {
  return samplesMs.length < (isOnLine(size) ? MIN_LINE_SAMPLES : 1) || sum(samplesMs) < pointMs;
}

/** All servers get the same text in the same sweep. */
async function measureOnce({ loads }: ScalingOptions, { client }: Member, size: Size, sweep: number): Promise<number> {
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
