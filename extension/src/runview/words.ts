/** A chart in words, for readers who cannot see it. */

import type { Chart, Series, Values } from './series.js';

const NEWEST = 0.02;
const RECENT = 0.1;
const STEADY = 0.01;
const SLOW = 0.05;
const MANY = 8;

/** Values as people read them: rounded to what they are worth. */
export const VALUES: Record<Chart, (value: number) => string> = {
  loss: significant,
  accuracy: value => percent(value, 1),
  rate: value => Number(value.toPrecision(4)).toLocaleString('en')
};
const UNITS: Record<Chart, (value: number) => string> = {
  loss: value => `loss ${VALUES.loss(value)}`,
  accuracy: value => `accuracy ${VALUES.accuracy(value)}`,
  rate: value => `${VALUES.rate(value)} examples per second`
};

/** Return a share of one as a percentage. */
export function percent(share: number, digits = 2): string {
  return `${(100 * share).toFixed(digits)}%`;
}

/** Three significant digits, as people read them. */
export function short(value: number): string {
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6)
    ? value.toExponential(2)
    : String(Number(value.toPrecision(3)));
}

/** Three significant digits with their zeros, so that the digits of a column are aligned. */
export function significant(value: number): string {
  const size = Math.abs(value);
  return size >= 1e-3 && size < 999.5 ? value.toPrecision(3) : short(value);
}

/** Return whether the end of a line is above, below or about equal to the values before it. */
export function trend(values: Values): 'rising' | 'falling' | 'steady' {
  const known = values.filter(value => value !== null);
  const recent = Math.max(1, Math.round(known.length * RECENT));
  const now = mean(known.slice(-recent));
  const before = mean(known.slice(-2 * recent, -recent));
  const change = (now - before) / Math.abs(before);
  if (!(Math.abs(change) > STEADY)) {
    return 'steady';
  }
  return change > 0 ? 'rising' : 'falling';
}

/** Return the newest values of a chart's joined line, its trend, and the slowest replica. */
export function account(series: Series, chart: Chart): string {
  const { joined, mean } = series.curve(chart);
  const hasNonfinite = chart === 'loss' && series.nonfinite.size > 0;
  const warning = hasNonfinite ? `No number at ${places(series)}. ` : '';
  if (!series.synchronous) {
    return `${warning}${apart(series, chart)}`;
  }
  const now = ending(joined, chart);
  const behind = chart === 'rate' ? slowest(series, mean) : '';
  return now === '' ? `${warning}No point yet.` : `${warning}${now}${behind}`;
}

/** Without a line for all: return the end of each line, of many only the first ones. */
function apart(series: Series, chart: Chart): string {
  const ends = series
    .curve(chart)
    .mean.map((line, at) => ({
      name: nameOf(series, at),
      now: ending(line, chart)
    }))
    .filter(({ now }) => now !== '')
    .map(({ name, now }) => `${name}: ${now}`);
  const more = ends.length - MANY;
  const rest = more > 0 ? [`and ${more} more`] : [];
  return [...ends.slice(0, MANY), ...rest].join('; ') || 'No point yet.';
}

/** Return the mean of the newest values of a line and its trend; empty if it has no value. */
export function ending(line: Values, chart: Chart): string {
  const known = line.filter(value => value !== null);
  const newest = known.slice(-Math.max(1, Math.round(NEWEST * line.length)));
  return newest.length === 0
    ? ''
    : `${UNITS[chart](mean(newest))}, ${trend(line)}`;
}

/** Return the exact values at a point: of each line, or of many only the least and the greatest. */
export function reading(
  series: Series,
  chart: Chart,
  point: number,
  smoothed?: Values
): string {
  const { mean, joined, low, high } = series.curve(chart);
  const exact = VALUES[chart];
  const between = (least?: number | null, most?: number | null): string =>
    typeof least === 'number' && typeof most === 'number'
      ? ` (${exact(least)} to ${exact(most)})`
      : '';
  const entry = (name: string, value: number | null | undefined, at = -1) =>
    value === null || value === undefined
      ? []
      : [
          `${name} ${exact(value)}${between(low[at]?.[point], high[at]?.[point])}`
        ];
  const several = mean.length > 1;
  const each = mean.map((row, at) => ({ at, value: row[point] }));
  const known = each.filter(
    ({ value }) => value !== null && value !== undefined
  );
  known.sort((a, b) => a.value! - b.value!);
  const shown =
    known.length > MANY ? [known[0]!, known[known.length - 1]!] : each;
  const parts = [
    ...(several ? entry('all', joined[point]) : []),
    ...entry('smoothed', smoothed?.[point]),
    ...shown.flatMap(({ at, value }) => entry(nameOf(series, at), value, at)),
    ...(series.nonfinite.has(point) && chart === 'loss' ? ['no number'] : [])
  ];
  const number = series.steps[point]!.toLocaleString('en');
  const where = series.synchronous ? `step ${number}` : `own step ${number}`;
  return `${where}: ${parts.join(', ') || 'no point'}`;
}

function places(series: Series): string {
  const steps = [...series.nonfinite]
    .slice(0, 3)
    .map(point => series.steps[point]);
  const more = series.nonfinite.size > 3 ? ' and more' : '';
  return `step ${steps.map(step => step?.toLocaleString('en')).join(', ')}${more}`;
}

/** Return a time span for people. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (seconds < 10) {
    return `${Number(seconds.toPrecision(2))} s`;
  }
  if (whole < 60) {
    return `${whole} s`;
  }
  return whole < 3600
    ? `${Math.floor(whole / 60)} min ${whole % 60} s`
    : `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** Return the name of a replica; with several workers, each process has its own devices. */
export function nameOf(
  { workers, replicas, virtual }: Series,
  at: number
): string {
  if (workers > 1) {
    const worker = Math.floor(at / (replicas / workers));
    return `worker ${worker}, replica ${at}`;
  }
  return `${virtual ? 'virtual replica' : 'replica'} ${at}`;
}

function slowest(series: Series, replicas: Values[]): string {
  const rates = replicas.map(line => {
    const known = line.filter(value => value !== null);
    return mean(known.slice(-Math.max(1, Math.round(known.length * RECENT))));
  });
  const middle = [...rates].sort((a, b) => a - b)[Math.floor(rates.length / 2)];
  const least = Math.min(...rates);
  if (middle === undefined || !(least < (1 - SLOW) * middle)) {
    return '';
  }
  const slower = percent(1 - least / middle, 0);
  return `; ${nameOf(series, rates.indexOf(least))} is ${slower} slower`;
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
