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

/** Return the weight of the earlier values, so that the mean covers about `span` steps. */
export function weightOf(span: number, stepsAPoint: number): number {
  return span > stepsAPoint ? 1 - stepsAPoint / span : 0;
}

/** An exponential mean that does not start from zero; gaps stay gaps and do not count. */
export function smooth(values: Values, weight: number): Values {
  if (weight === 0) {
    return values;
  }
  let mean = 0;
  let known = 0;
  return values.map(value => {
    if (value === null) {
      return null;
    }
    mean = weight * mean + (1 - weight) * value;
    known = weight * known + (1 - weight);
    return mean / known;
  });
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
