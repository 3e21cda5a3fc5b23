// Fits a head to some of the rows: the least of the summed cross-entropy and penalties on weights, biases and the distance
// of the offset's weight from 1. Convex: there is one solution.

import { invert } from './cholesky.ts';
import type { FitRows } from './fit-rows.ts';
import { type ConvexFunction, minimise } from './minimise.ts';
import { addProducts, multiply } from './products.ts';
import type { WorkPace } from './work-pace.ts';

export interface Penalty {
  /** λ: λ/2 times the squared weights of every option. */
  readonly weights: number;
  /** Half of it times the squared biases. */
  readonly biases: number;
  /** Half of it times the squared distance of the offset's weight from 1. */
  readonly offset: number;
}

export interface FittedHead {
  /** `[width, columns]`: a column for each option of a choice, else one. */
  readonly weights: Float64Array;
  /** `[options]`, 0 where the option is not learned. */
  readonly biases: Float64Array;
  readonly offset: number;
  /** `[options]` of a choice: whether any of the rows said that it is right; else true. */
  readonly isLearned: readonly boolean[];
}

/** What a fit of the same rows with any penalty can use again. */
export class HeadFitter {
  readonly #rows: FitRows;
  readonly #pace: WorkPace;
  #products: Float64Array | undefined;
  readonly #inverses = new Map<number, Float64Array>();

  constructor(rows: FitRows, pace: WorkPace) {
    this.#rows = rows;
    this.#pace = pace;
  }

  /**
   * @param members places of rows to fit on
   * @param gain per row, below which it ends
   * @param without options that count as never offered
   */
  async fit(
    members: readonly number[],
    penalty: Penalty,
    { gain, start, without }: { gain: number; start?: FittedHead | undefined; without?: number },
  ): Promise<FittedHead> {
    const { options, places, width } = this.#rows;
    const isLearned = learnedOptions(this.#rows, members, without);
    const columns = places === undefined ? options : 1;
    const spread = places === undefined ? 1 : places.reduce((sum, place) => sum + place * place, 0);
    const lambda = penalty.weights * spread;
    const convex = new HeadLoss(this.#rows, members, {
      isLearned,
      lambda,
      penalty,
      inverse: await this.#inverseOf(lambda),
      pace: this.#pace,
    });
    const first = new Float64Array(width * columns + options + 1);
    first[first.length - 1] = 1;
    if (start !== undefined) {
      first.set(start.weights);
      first.set(start.biases, width * columns);
      first[first.length - 1] = start.offset;
    }
    const found = await minimise(convex, first, { gain: gain * members.length, iterations: 500 });
    return {
      weights: found.slice(0, width * columns),
      biases: found.slice(width * columns, -1),
      offset: found.at(-1) ?? 1,
      isLearned,
    };
  }

  /** Of about the Hessian of one column of weights on all rows. */
  async #inverseOf(lambda: number): Promise<Float64Array> {
    const known = this.#inverses.get(lambda);
    if (known !== undefined) return known;
    this.#products ??= await multiplyTransposed(this.#rows, this.#pace);
    const { width } = this.#rows;
    const curvature = curvatureOf(this.#rows);
    const matrix = this.#products.map((value) => value * curvature);
    for (let d = 0; d < width; d++) matrix[d * width + d] = (matrix[d * width + d] ?? 0) + lambda;
    const inverse = await invert(matrix, width, this.#pace);
    this.#inverses.set(lambda, inverse);
    return inverse;
  }
}

/** Of the loss by a column's score, on average: that of probabilities that are all the same. */
function curvatureOf({ options, places }: FitRows): number {
  if (places === undefined) return (1 - 1 / options) / options;
  return places.reduce((sum, place) => sum + place * place, 0) / options;
}

/** Levels, and false and true, are learned together: what is said of one is said of all. */
function learnedOptions(
  { options, places, target }: FitRows,
  members: readonly number[],
  without: number | undefined,
): boolean[] {
  const isLearned = new Array<boolean>(options).fill(places !== undefined);
  for (const i of members) {
    for (let k = 0; k < options; k++) if ((target[i * options + k] ?? 0) > 0 && k !== without) isLearned[k] = true;
  }
  return isLearned;
}

/** `[width, width]`, its lower half: xᵀ · x */
async function multiplyTransposed({ x, width, rows }: FitRows, pace: WorkPace): Promise<Float64Array> {
  const products = new Float64Array(width * width);
  for (let row = 0; row < rows.length; row++) {
    const from = row * width;
    for (let i = 0; i < width; i++) {
      const value = x[from + i] ?? 0;
      for (let j = 0; j <= i; j++)
        products[i * width + j] = (products[i * width + j] ?? 0) + value * (x[from + j] ?? 0);
    }
    await pace.spend((width * width) / 2);
  }
  return products;
}

interface LossTerms {
  readonly isLearned: readonly boolean[];
  readonly lambda: number;
  readonly penalty: Penalty;
  /** `[width, width]` */
  readonly inverse: Float64Array;
  readonly pace: WorkPace;
}

/** Of the point `[width · columns weights, options biases, 1 offset]`. */
class HeadLoss implements ConvexFunction {
  readonly #rows: FitRows;
  readonly #members: readonly number[];
  readonly #terms: LossTerms;
  readonly #columns: number;
  /** Places of all rows of the inverse. */
  readonly #every: Uint32Array;
  readonly #residues: Float64Array;
  readonly #logits: Float64Array;
  readonly #biasCurvature: number;
  readonly #offsetCurvature: number;

  constructor(rows: FitRows, members: readonly number[], terms: LossTerms) {
    this.#rows = rows;
    this.#members = members;
    this.#terms = terms;
    this.#columns = rows.places === undefined ? rows.options : 1;
    this.#every = Uint32Array.from({ length: rows.width }, (_, place) => place);
    this.#residues = new Float64Array(members.length * this.#columns);
    this.#logits = new Float64Array(rows.options);
    this.#biasCurvature = (members.length * (1 - 1 / rows.options)) / rows.options + terms.penalty.biases;
    let squares = 0;
    for (const i of members) {
      for (let k = 0; k < rows.options; k++) squares += (rows.prior[i * rows.options + k] ?? 0) ** 2;
    }
    this.#offsetCurvature = squares / rows.options / 2 + terms.penalty.offset;
  }

  evaluate(point: Float64Array, gradient: Float64Array): number {
    const { width } = this.#rows;
    const weights = width * this.#columns;
    gradient.fill(0);
    multiply(this.#rows, this.#members, point, this.#residues, this.#columns);
    let loss = 0;
    for (let at = 0; at < this.#members.length; at++) loss += this.#readRow(at, point, gradient);
    addProducts(this.#rows, this.#members, this.#residues, gradient, this.#columns);
    const { lambda, penalty } = this.#terms;
    for (let i = 0; i < weights; i++) {
      const weight = point[i] ?? 0;
      gradient[i] = (gradient[i] ?? 0) + lambda * weight;
      loss += (lambda / 2) * weight * weight;
    }
    for (let i = weights; i < point.length - 1; i++) {
      const bias = point[i] ?? 0;
      gradient[i] = (gradient[i] ?? 0) + penalty.biases * bias;
      loss += (penalty.biases / 2) * bias * bias;
    }
    const last = point.length - 1;
    const distance = (point[last] ?? 0) - 1;
    gradient[last] = (gradient[last] ?? 0) + penalty.offset * distance;
    return loss + (penalty.offset / 2) * distance * distance;
  }

  /** Turns the scores of a row into residues, adds what biases and offset see of them. @returns its cross-entropy */
  #readRow(at: number, point: Float64Array, gradient: Float64Array): number {
    const { options, places, prior, offered, target, width } = this.#rows;
    const { isLearned } = this.#terms;
    const logits = this.#logits;
    const [row, from] = [(this.#members[at] ?? 0) * options, at * this.#columns];
    const biases = width * this.#columns;
    const last = point.length - 1;
    const offset = point[last] ?? 0;
    let top = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < options; k++) {
      if (!isLearned[k] || offered[row + k] === 0) continue;
      const score =
        places === undefined ? (this.#residues[from + k] ?? 0) : (places[k] ?? 0) * (this.#residues[from] ?? 0);
      const logit = offset * (prior[row + k] ?? 0) + (point[biases + k] ?? 0) + score;
      logits[k] = logit;
      if (logit > top) top = logit;
    }
    let total = 0;
    for (let k = 0; k < options; k++) {
      if (isLearned[k] && offered[row + k] !== 0) total += Math.exp((logits[k] ?? 0) - top);
    }
    const logTotal = top + Math.log(total);
    let loss = 0;
    let shared = 0;
    for (let k = 0; k < options; k++) {
      if (!isLearned[k] || offered[row + k] === 0) {
        if (places === undefined) this.#residues[from + k] = 0;
        continue;
      }
      const logProbability = (logits[k] ?? 0) - logTotal;
      const share = target[row + k] ?? 0;
      if (share > 0) loss -= share * logProbability;
      const residue = Math.exp(logProbability) - share;
      gradient[biases + k] = (gradient[biases + k] ?? 0) + residue;
      gradient[last] = (gradient[last] ?? 0) + residue * (prior[row + k] ?? 0);
      if (places === undefined) this.#residues[from + k] = residue;
      else shared += (places[k] ?? 0) * residue;
    }
    if (places !== undefined) this.#residues[from] = shared;
    return loss;
  }

  precondition(direction: Float64Array): void {
    const { width } = this.#rows;
    const weights = width * this.#columns;
    const matrix = { x: this.#terms.inverse, width };
    multiply(matrix, this.#every, direction.slice(0, weights), direction.subarray(0, weights), this.#columns);
    for (let i = weights; i < direction.length - 1; i++) direction[i] = (direction[i] ?? 0) / this.#biasCurvature;
    direction[direction.length - 1] = (direction.at(-1) ?? 0) / this.#offsetCurvature;
  }

  pause(): Promise<void> {
    const { width } = this.#rows;
    return this.#terms.pace.spend(this.#columns * width * (2 * this.#members.length + 2 * width));
  }
}
