/** A chart in words, for readers who cannot see it. */

import type { Translation } from './language.js';
import type { Chart, Series, Values } from './series.js';
import type { Speed } from './speed.js';
import { endPoints, mean, trendOf } from './trend.js';

const RECENT = 0.1;
const SLOW = 0.05;
const MANY = 8;

/** Values as people read them: rounded to what they are worth. */
export const VALUES: Record<Chart, (value: number) => string> = {
  loss: significant,
  accuracy: value => percent(value, 1),
  rate: value =>
    (value < 1000
      ? Number(value.toPrecision(4))
      : Math.round(value)
    ).toLocaleString('en')
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

/** The part of a run's charts that is seen, and the run's speed. */
export interface Seen {
  /** The first point that is seen, and one past the last. */
  from: number;
  to: number;
  speed: Speed;
}

/** Return the trend of what is seen of a chart; of the rates, the run's speed instead. */
export function account(
  series: Series,
  chart: Chart,
  seen: Seen,
  trans: Translation
): string {
  if (series.length === 0) {
    return trans.__('No data yet.');
  }
  if (chart === 'rate') {
    return speedAccount(series, seen, trans);
  }
  const lines = series.synchronous
    ? [['', series.curve(chart).joined] as const]
    : series
        .curve(chart)
        .mean.map((line, at) => [nameOf(series, at, trans), line] as const);
  const texts = lines.flatMap(([name, line]) => {
    const text = course(cut(line, seen), series.stepsAPoint, chart, trans);
    return text === '' ? [] : [name === '' ? text : `${name}: ${text}`];
  });
  const hasNonfinite = chart === 'loss' && series.nonfinite.size > 0;
  const warning = hasNonfinite
    ? `${trans.__('NaN or infinity at step %1.', places(series, trans))} `
    : '';
  return warning + firstOf(texts, trans);
}

/** Return the speed of the run, over which time it is, and the slowest replica. */
function speedAccount(series: Series, seen: Seen, trans: Translation): string {
  const { examplesPerSecond, note } = seen.speed;
  const speed = speedText(examplesPerSecond, trans);
  const replicas = series.curve('rate').mean.map(line => cut(line, seen));
  return examplesPerSecond === null
    ? speed
    : `${speed}, ${note}${slowest(series, replicas, trans)}`;
}

/** Return a speed with its unit. */
export function speedText(
  examplesPerSecond: number | null,
  trans: Translation
): string {
  return examplesPerSecond === null
    ? trans.__('The speed is not known.')
    : trans.__('%1 examples per second', VALUES.rate(examplesPerSecond));
}

function cut(line: Values, { from, to }: Seen): Values {
  return line.slice(from, to);
}

/** Return the first of many texts, and how many more there are. */
export function firstOf(texts: string[], trans: Translation): string {
  const more = texts.length - MANY;
  const rest = more > 0 ? [trans.__('and %1 more', more)] : [];
  return (
    [...texts.slice(0, MANY), ...rest].join('; ') || trans.__('No data yet.')
  );
}

/** Return the first and the last value of what is seen of a line, with its trend; empty if none. */
export function course(
  values: Values,
  stepsAPoint: number,
  chart: 'loss' | 'accuracy',
  trans: Translation
): string {
  const points = endPoints(values.length * stepsAPoint, stepsAPoint);
  const trend = trendOf(values, points);
  if (trend === null) {
    return '';
  }
  const [first, last] = [trend.first, trend.last].map(VALUES[chart]);
  const ends = first === last ? last : trans.__('from %1 to %2', first, last);
  const way = {
    rising: trans.__('rising'),
    falling: trans.__('falling'),
    none: trans.__('no clear trend')
  }[trend.way ?? 'none'];
  const several = values.filter(value => value !== null).length > 1;
  const name = { loss: trans.__('loss'), accuracy: trans.__('accuracy') };
  return `${name[chart]} ${ends}${several ? `, ${way}` : ''}`;
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
      ? [trans.__('NaN or infinity')]
      : [])
  ];
  const number = series.steps[point]!.toLocaleString('en');
  const where = series.synchronous
    ? trans.__('step %1', number)
    : trans.__('own step %1', number);
  return `${where}: ${parts.join(', ') || trans.__('no data')}`;
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
