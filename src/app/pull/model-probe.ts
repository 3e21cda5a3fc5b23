// Runs what was pulled before anybody is served by it: each precision on the probe set, quantized ones beside full
// precision, and rows of growing length until the memory that one worker may have is reached.

import type { GraphPrecision } from '../../recipe/graph-files.ts';
import { RecipeError } from '../../recipe/recipe-error.ts';
import type { ModelFolder, ProbeFigures } from '../../runtime/model-folder/manifest.ts';
import { type Comparison, compareAnswers, findBrokenNumber } from '../../runtime/probe/agreement.ts';
import { runProbe } from '../../runtime/probe/probe-child.ts';
import type { ProbeAnswer, ProbeOrder, ProbeReport } from '../../runtime/probe/probe-messages.ts';

export interface ProbeParts {
  /** Its manifest is a draft that names every graph that is to be looked at. */
  readonly folder: ModelFolder;
  /** Those that are kept, if they are sound; full precision may be in the folder beside them. */
  readonly wanted: readonly GraphPrecision[];
  readonly statedTokens: number;
  /** What one row of one worker may take beside the weights. */
  readonly rowBytes: number;
  readonly today: string;
  readonly signal: AbortSignal;
  /** What is being done, and what the operator should know. */
  readonly tell: (kind: 'step' | 'warning', text: string) => void;
}

export interface ProbedModel {
  readonly answers: Readonly<Partial<Record<GraphPrecision, readonly ProbeAnswer[]>>>;
  readonly figures: ProbeFigures;
  /** Of a row, at most: what the files state, or less. */
  readonly tokens: number;
}

const FIRST_LENGTH = 512;
const LEAST_CASES = 3;
const BYTES_PER_MB = 1e6;

/** @throws RecipeError when no precision is sound; the signal's reason */
export async function probeModel(parts: ProbeParts): Promise<ProbedModel> {
  const answers: Partial<Record<GraphPrecision, readonly ProbeAnswer[]>> = {};
  const agreement: Record<string, ProbeFigures['agreement'][string]> = {};
  const faults: string[] = [];
  const reject = (precision: string, fault: string): void => {
    faults.push(`${precision}: ${fault}`);
    parts.tell('warning', `The ${precision} graph is refused: ${fault}.`);
  };
  const reference = await findReference(parts, reject);
  if (reference !== undefined && parts.wanted.includes('fp32')) answers.fp32 = reference;
  for (const precision of parts.wanted.filter((candidate) => candidate !== 'fp32')) {
    const judged = await judge(parts, precision, reference);
    if (typeof judged === 'string') reject(precision, judged);
    else {
      answers[precision] = judged.answers;
      agreement[precision] = judged.comparison?.figures ?? 'unchecked';
    }
  }
  // A quantized graph that was refused leaves the one that it was compared with.
  if (Object.keys(answers).length === 0 && reference !== undefined) answers.fp32 = reference;
  const [kept] = (['int8', 'fp32', 'fp16'] as const).filter((precision) => answers[precision] !== undefined);
  if (kept === undefined) throw new RecipeError(`No graph can be used.\n${faults.join('\n')}`);
  const { tokens, peakBytes } = await measureRow(parts, kept);
  const figures = { date: parts.today, agreement, peak_bytes: peakBytes, stated_tokens: parts.statedTokens };
  return { answers, figures, tokens };
}

async function findReference(
  parts: ProbeParts,
  reject: (precision: string, fault: string) => void,
): Promise<readonly ProbeAnswer[] | undefined> {
  if (parts.folder.manifest.graphs['fp32'] === undefined) return undefined;
  const answers = await answerWith(parts, 'fp32');
  if (typeof answers !== 'string') return answers;
  reject('fp32', answers);
  return undefined;
}

interface JudgedPrecision {
  readonly answers: readonly ProbeAnswer[];
  /** undefined: there was nothing to compare with. */
  readonly comparison: Comparison | undefined;
}

/** @returns why it is refused, else what it answered */
async function judge(
  parts: ProbeParts,
  precision: GraphPrecision,
  reference: readonly ProbeAnswer[] | undefined,
): Promise<JudgedPrecision | string> {
  const answers = await answerWith(parts, precision);
  if (typeof answers === 'string') return answers;
  if (reference === undefined) {
    parts.tell('warning', `There is no fp32 graph to compare the ${precision} one with: its quality is unchecked.`);
    return { answers, comparison: undefined };
  }
  const kind = parts.folder.manifest.type === 'embedding' ? 'vectors' : 'probabilities';
  const comparison = compareAnswers(reference, answers, kind);
  return comparison.fault === undefined ? { answers, comparison } : `it is not the same model: ${comparison.fault}`;
}

/** @returns the answers, or what is wrong with them */
async function answerWith(parts: ProbeParts, precision: GraphPrecision): Promise<readonly ProbeAnswer[] | string> {
  parts.tell('step', `Asking the ${precision} graph the probe set`);
  const { reports, fault } = await probe(parts, { kind: 'answers', folder: parts.folder, precision });
  if (fault !== undefined) return fault;
  const { answers } = requireReport(reports, 'answers');
  if (answers.length < LEAST_CASES) return 'nearly every text of the probe set is too long for it';
  return findBrokenNumber(answers) ?? answers;
}

/** The longest row that a worker has the memory for, by doubling. @throws RecipeError when there is none */
async function measureRow(
  parts: ProbeParts,
  precision: GraphPrecision,
): Promise<{ tokens: number; peakBytes: number }> {
  const { statedTokens, rowBytes, folder } = parts;
  const lengths = listLengths(statedTokens);
  parts.tell('step', `Measuring the memory of rows of up to ${statedTokens} tokens`);
  const order = { kind: 'lengths', folder, precision, lengths } as const;
  const { reports, fault } = await probe(parts, order, rowBytes);
  const measured = reports
    .filter((report) => report.kind === 'length')
    .filter(({ peakBytes }) => peakBytes <= rowBytes);
  const longest = measured.at(-1);
  const why = fault ?? `it took more than the ${megabytes(rowBytes)} MB that a worker may have for it`;
  if (longest === undefined) throw new RecipeError(`A row of ${lengths[0]} tokens cannot be run: ${why}.`);
  const { tokens, peakBytes } = longest;
  if (tokens < statedTokens) {
    const next = lengths[measured.length] ?? statedTokens;
    parts.tell(
      'warning',
      `Rows have ${tokens} tokens at most here, of ${statedTokens} that the model reads: at ${next}, ${why}.`,
    );
  }
  return { tokens, peakBytes };
}

function listLengths(statedTokens: number): number[] {
  const lengths: number[] = [];
  for (let tokens = FIRST_LENGTH; tokens < statedTokens; tokens *= 2) lengths.push(tokens);
  return [...lengths, statedTokens];
}

export async function probe(
  { signal }: Pick<ProbeParts, 'signal'>,
  order: ProbeOrder,
  runBytes?: number,
): ReturnType<typeof runProbe> {
  return await runProbe(order, { signal, runBytes });
}

/** What a probe that came to its end has said. */
export function requireReport<K extends ProbeReport['kind']>(
  reports: readonly ProbeReport[],
  kind: K,
): Extract<ProbeReport, { kind: K }> {
  const found = reports.find((report) => report.kind === kind);
  if (found === undefined) throw new Error(`the probe ended without saying its ${kind}`);
  return found as Extract<ProbeReport, { kind: K }>;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / BYTES_PER_MB);
}
