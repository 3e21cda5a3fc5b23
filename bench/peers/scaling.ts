// How the time of one decision grows with its document and with its questions, one request at a time; and whether that is a
// line.

import { median } from '../statistics.ts';
import { makeRandom } from '../workload.ts';
import { seedOf } from './closed-part.ts';
import { judgeLinearity, type Linearity } from './fits.ts';
import type { Fleet, Member } from './fleet.ts';
import type { Loads } from './loads.ts';

const LENGTHS = [64, 128, 256, 512, 1024, 2048, 4096, 8192];
const COUNTS = [1, 2, 4, 8, 16, 32, 64];
/** The line of questions that every server is asked for. */
const LINE_TOKENS = 512;
const MAX_SAMPLES = 7;
const MIN_SAMPLES = 2;

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
  /** A point is measured again until this is used up. */
  readonly pointMs: number;
  /** All lengths with all counts of questions, ours alone; otherwise one line each. */
  readonly hasGrid: boolean;
  readonly say: (text: string) => void;
}

type Size = Pick<ScalingPoint, 'stateTokens' | 'questions'>;

export async function measureScaling(options: ScalingOptions): Promise<ScalingFigures> {
  const points: ScalingPoint[] = [];
  for (const stateTokens of LENGTHS) {
    options.say(`scaling: ${stateTokens} tokens`);
    for (const questions of COUNTS) {
      const size = { stateTokens, questions };
      await options.fleet.inTurns(1, async (member) => {
        if (isWanted(options, member, size)) points.push(await measurePoint(options, member, size));
      });
    }
  }
  return { points, lines: fitLines(points) };
}

function isWanted({ hasGrid }: ScalingOptions, { running }: Member, { stateTokens, questions }: Size): boolean {
  return questions === 1 || stateTokens === LINE_TOKENS || (hasGrid && running.peer.kind === 'ours');
}

async function measurePoint({ loads, pointMs }: ScalingOptions, member: Member, size: Size): Promise<ScalingPoint> {
  const random = makeRandom(seedOf('scaling', size.stateTokens, size.questions));
  const samplesMs: number[] = [];
  const startedMs = performance.now();
  const isOver = (): boolean =>
    samplesMs.length >= MAX_SAMPLES || (samplesMs.length >= MIN_SAMPLES && performance.now() - startedMs > pointMs);
  while (!isOver()) {
    const { job } = loads.decision({ ...size, kind: 'choice' }, random);
    const { path, body } = member.running.requestFor(job);
    const reply = await member.client.post(path, body);
    if (reply.status !== 200) throw new Error(`${member.id} answered ${reply.status}: ${reply.text.slice(0, 300)}`);
    samplesMs.push(reply.latencyMs);
  }
  return { peer: member.id, ...size, p50Ms: median(samplesMs), samples: samplesMs.length };
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
