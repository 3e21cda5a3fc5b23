// Least squares: whether a time grows with a size as a line does, said by numbers. Pure.

/** Above this share of the largest time, the quadratic term is called a curve. */
const MAX_QUADRATIC_SHARE = 0.1;
const MIN_LINEAR_R2 = 0.99;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Fit {
  /** `[degree + 1]`: y = c₀ + c₁x + c₂x² */
  readonly coefficients: readonly number[];
  /** Share of the variance that the fit explains; 1 is all of it. */
  readonly r2: number;
}

export interface Linearity {
  readonly linear: Fit;
  readonly quadratic: Fit;
  /** c₂x² ÷ y of the quadratic fit, at the largest x. */
  readonly quadraticShare: number;
  /** R² of the line ≥ 0.99, and the quadratic term no more than a tenth of the largest time. */
  readonly isLinear: boolean;
}

/** @throws RangeError with fewer than four points: three are on a parabola always */
export function judgeLinearity(points: readonly Point[]): Linearity {
  if (points.length < 4) throw new RangeError(`${points.length} points say nothing of a curve.`);
  const linear = fitPolynomial(points, 1);
  const quadratic = fitPolynomial(points, 2);
  const largest = Math.max(...points.map(({ x }) => x));
  const quadraticShare = ((quadratic.coefficients[2] ?? 0) * largest ** 2) / evaluate(quadratic, largest);
  const isLinear = linear.r2 >= MIN_LINEAR_R2 && Math.abs(quadraticShare) <= MAX_QUADRATIC_SHARE;
  return { linear, quadratic, quadraticShare, isLinear };
}

/** By the normal equations, x in units of its largest value: sizes to the fourth power would lose digits. */
export function fitPolynomial(points: readonly Point[], degree: number): Fit {
  const unit = Math.max(...points.map(({ x }) => Math.abs(x)), Number.MIN_VALUE);
  const powers = Array.from({ length: degree + 1 }, (_, power) => power);
  const sumOf = (value: (x: number, y: number) => number): number =>
    points.reduce((total, { x, y }) => total + value(x / unit, y), 0);
  const rows = powers.map((row) => [
    ...powers.map((column) => sumOf((x) => x ** (row + column))),
    sumOf((x, y) => y * x ** row),
  ]);
  const coefficients = solve(rows).map((value, power) => value / unit ** power);
  return { coefficients, r2: determination(points, coefficients) };
}

export function evaluate({ coefficients }: Pick<Fit, 'coefficients'>, x: number): number {
  return coefficients.reduceRight((total, coefficient) => total * x + coefficient, 0);
}

function determination(points: readonly Point[], coefficients: readonly number[]): number {
  const mean = points.reduce((total, { y }) => total + y, 0) / points.length;
  const total = points.reduce((sum, { y }) => sum + (y - mean) ** 2, 0);
  const left = points.reduce((sum, { x, y }) => sum + (y - evaluate({ coefficients }, x)) ** 2, 0);
  return total === 0 ? 1 : 1 - left / total;
}

/** Gauss with the largest pivot. @param rows `[n][n + 1]`, the last column is the right side; it is used up */
function solve(rows: number[][]): number[] {
  const at = (row: number, column: number): number => rows[row]?.[column] ?? 0;
  for (let column = 0; column < rows.length; column++) {
    const rest = rows.slice(column);
    rest.sort((a, b) => Math.abs(b[column] ?? 0) - Math.abs(a[column] ?? 0));
    rows.splice(column, rest.length, ...rest);
    if (at(column, column) === 0) throw new RangeError('The points do not determine the fit.');
    for (let row = 0; row < rows.length; row++) {
      if (row === column) continue;
      const factor = at(row, column) / at(column, column);
      rows[row] = (rows[row] ?? []).map((value, index) => value - factor * at(column, index));
    }
  }
  return rows.map((_, row) => at(row, rows.length) / at(row, row));
}
