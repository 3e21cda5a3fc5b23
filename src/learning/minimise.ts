// The minimum of a smooth convex function by L-BFGS, preconditioned. Pure and the same to the bit in every run.

export interface ConvexFunction {
  /** @param gradient `[n]`, written @returns the value */
  evaluate(point: Float64Array, gradient: Float64Array): number;
  /** Multiplies by about the inverse of the Hessian, in place. */
  precondition(direction: Float64Array): void;
  /** Awaited after every evaluation. */
  pause(): Promise<void>;
}

export interface StopRule {
  /** Ends where about this much could still be gained, twice. */
  readonly gain: number;
  readonly iterations: number;
}

const MEMORY = 10;
const SUFFICIENT_DECREASE = 1e-4;
const MOST_HALVINGS = 30;
/** Differences of the value below this are its rounding. */
const ROUNDING = 1e-14;

interface DescentStep {
  readonly move: Float64Array;
  readonly change: Float64Array;
  readonly curvature: number;
}

/** @param start `[n]`, not changed @returns `[n]` */
export async function minimise(convex: ConvexFunction, start: Float64Array, stop: StopRule): Promise<Float64Array> {
  let point = Float64Array.from(start);
  let gradient = new Float64Array(point.length);
  let value = convex.evaluate(point, gradient);
  const steps: DescentStep[] = [];
  for (let iteration = 0; iteration < stop.iterations; iteration++) {
    await convex.pause();
    const direction = descend(gradient, steps, convex);
    const slope = dot(direction, gradient);
    if (!(-slope > stop.gain)) break;
    const next = await search(convex, { point, value, direction, slope });
    if (next === undefined) break;
    const move = subtract(next.point, point);
    const change = subtract(next.gradient, gradient);
    const curvature = dot(move, change);
    if (curvature > 0) steps.push({ move, change, curvature });
    if (steps.length > MEMORY) steps.shift();
    ({ point, gradient, value } = next);
  }
  return point;
}

/** The two loops of L-BFGS around the preconditioner. */
function descend(gradient: Float64Array, steps: readonly DescentStep[], convex: ConvexFunction): Float64Array {
  const direction = gradient.map((value) => -value);
  const shares: number[] = [];
  for (const { move, change, curvature } of steps.toReversed()) {
    const share = dot(move, direction) / curvature;
    shares.unshift(share);
    add(direction, -share, change);
  }
  convex.precondition(direction);
  for (const [at, { move, change, curvature }] of steps.entries()) {
    add(direction, (shares[at] ?? 0) - dot(change, direction) / curvature, move);
  }
  return direction;
}

interface Descent {
  readonly point: Float64Array;
  readonly value: number;
  readonly direction: Float64Array;
  readonly slope: number;
}

/** Halves the step until the value falls enough; undefined: it falls no more. */
async function search(convex: ConvexFunction, { point, value, direction, slope }: Descent) {
  let length = 1;
  for (let halving = 0; halving < MOST_HALVINGS; halving++) {
    const tried = Float64Array.from(point);
    add(tried, length, direction);
    const gradient = new Float64Array(point.length);
    const reached = convex.evaluate(tried, gradient);
    const allowed = value + SUFFICIENT_DECREASE * length * slope + ROUNDING * Math.abs(value);
    if (reached <= allowed) return { point: tried, gradient, value: reached };
    await convex.pause();
    length /= 2;
  }
  return undefined;
}

function dot(a: Float64Array, b: Float64Array): number {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += (a[i] ?? 0) * (b[i] ?? 0);
  return total;
}

function add(to: Float64Array, factor: number, values: Float64Array): void {
  for (let i = 0; i < to.length; i++) to[i] = (to[i] ?? 0) + factor * (values[i] ?? 0);
}

function subtract(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, i) => value - (b[i] ?? 0));
}
