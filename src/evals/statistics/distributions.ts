// The distributions that intervals and tests need. docs/design/own-code.md says which libraries were tried.

/** The normal distribution's quantile of 97.5 %. */
export const NORMAL_975 = 1.959963984540054;

const MOST_TERMS = 300;
const TINY = 1e-300;
const PRECISE = 1e-15;

/** The probability that a variable with Student's t distribution is at most `t`. */
export function studentCdf(t: number, degrees: number): number {
  const tail = incompleteBeta(degrees / (degrees + t * t), degrees / 2, 0.5) / 2;
  return t > 0 ? 1 - tail : tail;
}

/** The value that a variable with Student's t distribution exceeds with the probability `1 - probability`. */
export function studentQuantile(probability: number, degrees: number): number {
  if (probability < 0.5) return -studentQuantile(1 - probability, degrees);
  let [low, high] = [0, 1];
  while (studentCdf(high, degrees) < probability) high *= 2;
  // Halving ends where no number is between the two.
  for (;;) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) return high;
    if (studentCdf(middle, degrees) < probability) low = middle;
    else high = middle;
  }
}

/** The probability of exactly `successes` in `trials` tosses of a fair coin. */
export function fairBinomial(successes: number, trials: number): number {
  return Math.exp(
    logGamma(trials + 1) -
      logGamma(successes + 1) -
      logGamma(trials - successes + 1) -
      trials * Math.LN2,
  );
}

/** The regularized incomplete beta function, by its continued fraction (Abramowitz and Stegun, 26.5.8). */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on this side.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const scale = logGamma(a + b) - logGamma(a) - logGamma(b);
  const front = Math.exp(scale + a * Math.log(x) + b * Math.log1p(-x)) / a;
  let [fraction, numerator, denominator] = [1, 1, 0];
  for (let term = 0; term <= MOST_TERMS; term++) {
    const coefficient = term === 0 ? 1 : betaCoefficient(term, x, a, b);
    denominator = 1 / nonZero(1 + coefficient * denominator);
    numerator = nonZero(1 + coefficient / numerator);
    fraction *= numerator * denominator;
    if (term > 0 && Math.abs(numerator * denominator - 1) < PRECISE) break;
  }
  return front * (fraction - 1);
}

function betaCoefficient(term: number, x: number, a: number, b: number): number {
  const m = Math.floor(term / 2);
  return term % 2 === 0
    ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
}

function nonZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

/** Lanczos' approximation with g = 7 and nine terms; exact to 15 digits. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
  -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
  1.5056327351493116e-7,
];

/** The logarithm of the gamma function of `x`, which is at least 0.5. */
function logGamma(x: number): number {
  const base = x + 6.5;
  const sum = LANCZOS.reduce((total, term, n) => (n === 0 ? term : total + term / (x - 1 + n)), 0);
  return Math.log(Math.sqrt(2 * Math.PI) * sum) + (x - 0.5) * Math.log(base) - base;
}
