// How the time of one decision grows with its document and with its questions, one request at a time; and whether that is a
// line.

import type { Loads } from '../load/loads.ts';
import { median, sum } from '../load/statistics.ts';
import { makeRandom } from '../load/workload.ts';
import type { Fleet, Member } from '../servers/fleet.ts';
import { seedOf } from './closed-part.ts';
import { judgeLinearity, type Linearity } from './fits.ts';

const LENGTHS = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
const COUNTS = [1, 2, 4, 8, 16, 32, 64];
/** The line of questions that every server is asked for. */
const LINE_TOKENS = 512;
/** Sweeps over all points: what disturbs the machine for a while must not look like a curve. */
const SWEEPS = 5;
/** Of the points of the lines that all servers are asked for; the rest of the grid has one at least. */
const MIN_LINE_SAMPLES = 3;

export interface ScalingPoint {
  readonly peer: string;
  readonly stateTokens: number;
  readonly questions: number;
  readonly p50Ms: number;
  readonly samples: number;
}

export interface ScalingLine extends Linearity {
  readonly peer: string;
  /** What grows; the other stays as `fixed` says. */
  readonly by: 'stateTokens' | 'questions';
  readonly fixed: number;
}

export interface ScalingFigures {
  readonly points: readonly ScalingPoint[];
  readonly lines: readonly ScalingLine[];
}

export interface ScalingOptions {
  readonly fleet: Fleet;
  readonly loads: Loads;
  /** A point is measured again until this is used up, once a sweep. */
  readonly pointMs: number;
  /** All lengths with all counts of questions, ours alone; otherwise one line each. */
  readonly hasGrid: boolean;
  readonly say: (text: string) => void;
}

type Size = Pick<ScalingPoint, 'stateTokens' | 'questions'>;

interface SampledPoint {
  readonly peer: string;
  readonly size: Size;
  readonly samplesMs: number[];
}

const SIZES: readonly Size[] = LENGTHS.flatMap((stateTokens) =>
  COUNTS.map((questions) => ({ stateTokens, questions })),
);

export async function measureScaling(options: ScalingOptions): Promise<ScalingFigures> {
  const samples = new Map<string, SampledPoint>();
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    options.say(`scaling: sweep ${sweep + 1} of ${SWEEPS}`);
    for (const size of SIZES) {
      await options.fleet.inTurns(1, async (member) => {
        if (!isOnLine(size) && !(options.hasGrid && member.running.peer.kind === 'ours')) return;
        const key = JSON.stringify([member.id, size]);
        const point = samples.get(key) ?? { peer: member.id, size, samplesMs: [] };
        samples.set(key, point);
        if (isAskedAgain(point, options.pointMs)) point.samplesMs.push(await measureOnce(options, member, size, sweep));
      });
    }
  }
  const points = [...samples.values()].map(({ peer, size, samplesMs }) => {
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
async function measureOnce({ loads }: ScalingOptions, member: Member, size: Size, sweep: number): Promise<number> {
  const random = makeRandom(seedOf('scaling', size.stateTokens, size.questions, sweep));
  const { job } = loads.decision({ ...size, kind: 'choice' }, random);
  const { path, body } = member.running.requestFor(job);
  const reply = await member.client.post(path, body);
  if (reply.status !== 200) throw new Error(`${member.id} answered ${reply.status}: ${reply.text.slice(0, 300)}`);
  return reply.latencyMs;
}

/** Of every row and column of the grid that is long enough. */
export function fitLines(points: readonly ScalingPoint[]): ScalingLine[] {
  const peers = [...new Set(points.map(({ peer }) => peer))];
  return peers.flatMap((peer) => {
    const own = points.filter((point) => point.peer === peer);
    return [...fitAlong(own, 'stateTokens', 'questions'), ...fitAlong(own, 'questions', 'stateTokens')];
  });
}

function fitAlong(points: readonly ScalingPoint[], by: ScalingLine['by'], fixedBy: ScalingLine['by']): ScalingLine[] {
  const lines = Map.groupBy(points, (point) => point[fixedBy]);
  return [...lines].flatMap(([fixed, line]) => {
    const [first] = line;
    if (first === undefined || line.length < 4) return [];
    const judged = judgeLinearity(line.map((point) => ({ x: point[by], y: point.p50Ms })));
    return [{ peer: first.peer, by, fixed, ...judged }];
  });
}
