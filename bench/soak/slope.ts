/** A line through points, by least squares. */
export interface Slope {
  /** Growth of `y` per `x`. */
  value: number;
  /** The standard error of the value: of measurements without growth, 95 of 100 are within twice of it around 0. */
  error: number;
}

/** @throws RangeError for fewer than three points */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): Slope {
  if (points.length < 3) throw new RangeError("a line with its error takes three points");
  const meanX = mean(points.map(([x]) => x));
  const meanY = mean(points.map(([, y]) => y));
  const spread = sum(points.map(([x]) => (x - meanX) ** 2));
  const value = sum(points.map(([x, y]) => (x - meanX) * (y - meanY))) / spread;
  const rest = sum(points.map(([x, y]) => (y - meanY - value * (x - meanX)) ** 2));
  return { value, error: Math.sqrt(rest / (points.length - 2) / spread) };
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, one) => total + one, 0);
}
