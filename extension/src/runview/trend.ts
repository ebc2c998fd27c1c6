/** The trend of a line over the part of it that is seen. Pure. */

import { spanOf, USUAL } from './smoothing.js';
import type { Values } from './series.js';

const LEAST_CHANGE = 0.01;
const CERTAIN = 3;

/** The way of a line: its first and last values, and whether it rises or falls between them. */
export interface Trend {
  first: number;
  last: number;
  /** Null if chance may explain the difference, or too few values are known. */
  way: 'rising' | 'falling' | null;
}

/** Return how many of the newest points of so many steps count as the end of a line. */
export function endPoints(steps: number, stepsAPoint: number): number {
  const span = Math.max(spanOf(USUAL, steps), stepsAPoint);
  return Math.round(span / stepsAPoint);
}

/**
 * Return the trend of the values that are seen; null if none is known.
 *
 * First and last are the means of `points` values. The line rises or falls if they differ by more
 * than three standard errors, which the scatter between neighbours gives, and by at least 1 %.
 */
export function trendOf(values: Values, points: number): Trend | null {
  const known = values.filter(value => value !== null);
  if (known.length === 0) {
    return null;
  }
  const first = mean(known.slice(0, points));
  const last = mean(known.slice(-points));
  const change = last - first;
  const least = Math.max(
    LEAST_CHANGE * Math.abs(first),
    CERTAIN * scatterOf(known) * Math.sqrt(2 / Math.min(points, known.length))
  );
  const certain = known.length > 2 && Math.abs(change) > least;
  const way = change > 0 ? 'rising' : 'falling';
  return { first, last, way: certain ? way : null };
}

/** Return the standard deviation of values around their line, from the steps between neighbours. */
function scatterOf(values: number[]): number {
  const steps = values.slice(1).map((value, at) => value - values[at]!);
  const middle = mean(steps);
  return Math.sqrt(mean(steps.map(step => (step - middle) ** 2)) / 2);
}

export function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
