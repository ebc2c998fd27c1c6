/** Smoothing along a line: how many steps it covers, and the smoothed values. */

import type { Values } from './series.js';

/** The amounts of smoothing, each as a share of the run's steps. */
export const SHARES = { none: 0, light: 0.005, medium: 0.02, heavy: 0.1 };
export type Amount = keyof typeof SHARES;
/** What a chart shows until a person chooses. */
export const USUAL: Amount = 'medium';

/** Return how many of `steps` an amount covers: 1, 2 or 5 times a power of ten; 0 is none. */
export function spanOf(amount: Amount, steps: number): number {
  const wanted = SHARES[amount] * steps;
  if (wanted < 1) {
    return amount === 'none' ? 0 : 1;
  }
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * [5, 2, 1].find(factor => factor * power <= wanted)!;
}

/** Return the weight of a neighbour point, so that the mean covers about `span` steps. */
export function weightOf(span: number, stepsAPoint: number): number {
  return span > stepsAPoint ? (span - stepsAPoint) / (span + stepsAPoint) : 0;
}

/**
 * The mean of each value and its neighbours on both sides, whose weights fall exponentially: so
 * the line is not late. Gaps stay gaps and do not count.
 */
export function smooth(values: Values, weight: number): Values {
  if (weight === 0) {
    return values;
  }
  const before = sumsOf(values, weight, 0, 1);
  const after = sumsOf(values, weight, values.length - 1, -1);
  return values.map((value, at) =>
    value === null
      ? null
      : (before.sums[at]! + after.sums[at]! - value) /
        (before.weights[at]! + after.weights[at]! - 1)
  );
}

/** Return the weighted sum up to each value, in one direction, and the sum of the weights. */
function sumsOf(values: Values, weight: number, first: number, by: number) {
  const sums = new Float64Array(values.length);
  const weights = new Float64Array(values.length);
  let [sum, known] = [0, 0];
  for (let at = first; at >= 0 && at < values.length; at += by) {
    const value = values[at];
    if (value !== null && value !== undefined) {
      sum = weight * sum + value;
      known = weight * known + 1;
    }
    sums[at] = sum;
    weights[at] = known;
  }
  return { sums, weights };
}

/** A smoothed line, and what it was made from. */
interface Made {
  weight: number;
  version: number;
  smoothed: Values;
}

const made = new WeakMap<Values, Made>();

/** Like `smooth`, but once for each `version` of the values, however often they are drawn. */
export function smoothOnce(
  values: Values,
  weight: number,
  version: number
): Values {
  const last = made.get(values);
  if (last?.weight === weight && last.version === version) {
    return last.smoothed;
  }
  const smoothed = smooth(values, weight);
  made.set(values, { weight, version, smoothed });
  return smoothed;
}
