/** A chart in words, for readers who cannot see it. */

import type { Translation } from './language.js';
import type { Chart, Series, Values } from './series.js';

const NEWEST = 0.02;
const RECENT = 0.1;
const STEADY = 0.01;
const CERTAIN = 3;
const SLOW = 0.05;
const MANY = 8;

/** Values as people read them: rounded to what they are worth. */
export const VALUES: Record<Chart, (value: number) => string> = {
  loss: significant,
  accuracy: value => percent(value, 1),
  rate: value => Number(value.toPrecision(4)).toLocaleString('en')
};

/** Return a value of a chart with its name or unit. */
function measured(value: number, chart: Chart, trans: Translation): string {
  const number = VALUES[chart](value);
  return {
    loss: trans.__('loss %1', number),
    accuracy: trans.__('accuracy %1', number),
    rate: trans.__('%1 examples per second', number)
  }[chart];
}

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

/**
 * Return whether the end of a line is above, below or about equal to the values before it.
 *
 * A difference counts if it is more than the scatter of the values explains: three of its standard
 * errors.
 */
export function trend(values: Values): 'rising' | 'falling' | 'steady' {
  const known = values.filter(value => value !== null);
  const recent = Math.max(1, Math.round(known.length * RECENT));
  const now = known.slice(-recent);
  const before = known.slice(-2 * recent, -recent);
  const change = mean(now) - mean(before);
  const scatter = Math.hypot(standardError(now), standardError(before));
  const least = Math.max(STEADY * Math.abs(mean(before)), CERTAIN * scatter);
  if (!(Math.abs(change) > least)) {
    return 'steady';
  }
  return change > 0 ? 'rising' : 'falling';
}

/** Return the newest values of a chart's joined line, its trend, and the slowest replica. */
export function account(
  series: Series,
  chart: Chart,
  trans: Translation
): string {
  const { joined, mean } = series.curve(chart);
  const hasNonfinite = chart === 'loss' && series.nonfinite.size > 0;
  const warning = hasNonfinite
    ? `${trans.__('No number at step %1.', places(series, trans))} `
    : '';
  if (!series.synchronous) {
    return warning + apart(series, chart, trans);
  }
  const now = ending(joined, chart, trans);
  const behind = chart === 'rate' ? slowest(series, mean, trans) : '';
  return warning + (now === '' ? trans.__('No point yet.') : now + behind);
}

/** Without a line for all: return the end of each line, of many only the first ones. */
function apart(series: Series, chart: Chart, trans: Translation): string {
  const ends = series
    .curve(chart)
    .mean.map((line, at) => ({
      name: nameOf(series, at, trans),
      now: ending(line, chart, trans)
    }))
    .filter(({ now }) => now !== '')
    .map(({ name, now }) => `${name}: ${now}`);
  return firstOf(ends, trans);
}

/** Return the first of many texts, and how many more there are. */
export function firstOf(texts: string[], trans: Translation): string {
  const more = texts.length - MANY;
  const rest = more > 0 ? [trans.__('and %1 more', more)] : [];
  return (
    [...texts.slice(0, MANY), ...rest].join('; ') || trans.__('No point yet.')
  );
}

/** Return the mean of the newest values of a line and its trend; empty if it has no value. */
export function ending(line: Values, chart: Chart, trans: Translation): string {
  const known = line.filter(value => value !== null);
  const newest = known.slice(-Math.max(1, Math.round(NEWEST * line.length)));
  const trends = {
    rising: trans.__('rising'),
    falling: trans.__('falling'),
    steady: trans.__('steady')
  };
  return newest.length === 0
    ? ''
    : `${measured(mean(newest), chart, trans)}, ${trends[trend(line)]}`;
}

/** Return the exact values at a point: of each line, or of many only the least and the greatest. */
export function reading(
  series: Series,
  chart: Chart,
  point: number,
  trans: Translation,
  smoothed?: Values
): string {
  const { mean, joined, low, high } = series.curve(chart);
  const exact = VALUES[chart];
  const between = (least?: number | null, most?: number | null): string =>
    typeof least === 'number' && typeof most === 'number'
      ? ` (${trans.__('%1 to %2', exact(least), exact(most))})`
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
    ...(several ? entry(trans.__('all'), joined[point]) : []),
    ...entry(trans.__('smoothed'), smoothed?.[point]),
    ...shown.flatMap(({ at, value }) =>
      entry(nameOf(series, at, trans), value, at)
    ),
    ...(series.nonfinite.has(point) && chart === 'loss'
      ? [trans.__('no number')]
      : [])
  ];
  const number = series.steps[point]!.toLocaleString('en');
  const where = series.synchronous
    ? trans.__('step %1', number)
    : trans.__('own step %1', number);
  return `${where}: ${parts.join(', ') || trans.__('no point')}`;
}

function places(series: Series, trans: Translation): string {
  const steps = [...series.nonfinite]
    .slice(0, 3)
    .map(point => series.steps[point]);
  const first = steps.map(step => step?.toLocaleString('en')).join(', ');
  return series.nonfinite.size > 3 ? trans.__('%1 and more', first) : first;
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
  at: number,
  trans: Translation
): string {
  if (workers > 1) {
    const worker = Math.floor(at / (replicas / workers));
    return trans.__('worker %1, replica %2', worker, at);
  }
  return virtual
    ? trans.__('virtual replica %1', at)
    : trans.__('replica %1', at);
}

function slowest(
  series: Series,
  replicas: Values[],
  trans: Translation
): string {
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
  const name = nameOf(series, rates.indexOf(least), trans);
  return `; ${trans.__('%1 is %2 slower', name, slower)}`;
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Return the standard error of the mean of independent values; 0 for a single value. */
function standardError(values: number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / Math.max(1, values.length - 1) / values.length);
}
