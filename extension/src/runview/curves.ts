/** The lines of a chart, their styles and their values. */

import type uPlot from 'uplot';

import type { Translation } from './language.js';
import type { Epochs } from './protocol.js';
import type { Axis, Chart, Series, Values } from './series.js';
import { smoothOnce, weightOf } from './smoothing.js';
import { nameOf } from './words.js';

const COLORS = [
  '#2f81f7',
  '#d9730d',
  '#1a9c5b',
  '#c23fb3',
  '#0e9aa7',
  '#b58900',
  '#e0484f',
  '#7f6df2'
];
const DASHES = [
  [],
  [6, 4],
  [2, 3],
  [8, 3, 2, 3],
  [12, 5],
  [4, 2],
  [1, 5],
  [10, 3, 2, 3, 2, 3]
];
const FAINT = '73';
const SPREAD_COLOR = '#7a828c';
const MEAN_COLOR = '#1f6feb';
const TEST_COLOR = '#e0484f';
const FEW = 40;

/** How the values along the lines are treated before they are drawn. */
export interface Treatment {
  axis: Axis;
  /** How many steps the smoothed lines cover; 0 is none. */
  smoothing: number;
  logarithmic: boolean;
}

/** A line of a chart: its name, which several may share, and how it is drawn. */
export interface Line {
  name: string;
  /** What the legend says after the name. */
  note?: string;
  color: string;
  style: Partial<uPlot.Series>;
}

/** A line with its values. */
export interface Row {
  line: Line;
  values: Values;
  /** Whether these are the smoothed values of all replicas. */
  smoothed?: boolean;
}

/** Whether a line is an edge of the band between the lowest and the highest values. */
export function isEdge({ style }: Line): boolean {
  return style.width === 0 && !style.points?.show;
}

/** Return the style of the line with this number: both dashes and colour distinguish it. */
export function lineAt(number: number, width: number): Omit<Line, 'name'> {
  const turn = Math.floor(number / COLORS.length);
  const dash = DASHES[(number + turn) % DASHES.length]!;
  return { color: COLORS[number % COLORS.length]!, style: { width, dash } };
}

/** Return the rows of a chart, the lowest first: spread, replicas, their mean, ends of epochs. */
export function rowsOf(
  series: Series,
  chart: Chart,
  epochs: Epochs | undefined,
  { smoothing, logarithmic }: Treatment,
  trans: Translation
): Row[] {
  const weight = weightOf(smoothing, series.stepsAPoint);
  const name = trans.__('lowest to highest');
  const edge = { name, color: SPREAD_COLOR, style: { width: 0 } };
  const rows = [
    ...spread(series, chart).map(values => ({ line: edge, values })),
    ...replicaRows(series, chart, weight, trans),
    ...meanRow(series, chart, smoothing, weight, trans),
    ...(hasEnds(series, chart) ? endRows(series, chart, epochs, trans) : [])
  ];
  return logarithmic
    ? rows.map(row => ({ ...row, values: positive(row.values) }))
    : rows;
}

/** Return the drawn values: x axis, then the rows. */
export function table(
  series: Series,
  axis: Axis,
  rows: Row[]
): uPlot.AlignedData {
  return [series.across(axis), ...rows.map(({ values }) => values)];
}

/** Whether a line of its own shows the smoothed values; else each replica's line is smoothed. */
export function hasMean({ joins, replicas }: Series): boolean {
  return joins || replicas === 1;
}

/** Replicas are faint where a mean lies over them; equal ones are one line. */
function replicaRows(
  series: Series,
  chart: Chart,
  weight: number,
  trans: Translation
): Row[] {
  const { mean } = series.curve(chart);
  if (chart === 'rate' && series.sharesRate) {
    const color = COLORS[1] + FAINT;
    const line = {
      name: trans.__('each replica'),
      color,
      style: { width: 1 }
    };
    return [{ line, values: mean[0]! }];
  }
  const below = series.joins || (hasMean(series) && weight > 0);
  return mean.map((values, number) => {
    const { color, style } = lineAt(number, below ? 1 : 1.5);
    const line = {
      name: nameOf(series, number, trans),
      color: below ? color + FAINT : color,
      style
    };
    const own = below ? values : smoothOnce(values, weight, series.version);
    return { line, values: own };
  });
}

/** Return the strong line: all replicas together, or the smoothed line of the only one. */
function meanRow(
  series: Series,
  chart: Chart,
  span: number,
  weight: number,
  trans: Translation
): Row[] {
  const { joined, mean } = series.curve(chart);
  if (!hasMean(series) || (!series.joins && weight === 0)) {
    return [];
  }
  const smoothed = weight > 0;
  const steps = span.toLocaleString('en');
  const all =
    chart === 'rate' ? trans.__('all: sum') : trans.__('all: weighted mean');
  const note = smoothed ? `, ${trans.__('smoothed over %1 steps', steps)}` : '';
  const words = series.joins
    ? { name: all, note }
    : {
        name: trans.__('smoothed'),
        note: ` ${trans.__('over %1 steps', steps)}`
      };
  const line = { ...words, color: MEAN_COLOR, style: { width: 2 } };
  const values = series.joins ? joined : mean[0]!;
  const drawn = smoothOnce(values, weight, series.version);
  return [{ line, values: drawn, smoothed }];
}

function endRows(
  series: Series,
  chart: Chart,
  epochs: Epochs | undefined,
  trans: Translation
): Row[] {
  const count = epochs?.step.length ?? 0;
  const size = count > 100 ? 2 : count > 20 ? 4 : 7;
  const mark = { spanGaps: true, points: { show: true, size } };
  const train: Line = {
    name: trans.__('train, whole epoch'),
    color: SPREAD_COLOR,
    style: { ...mark, width: 0 }
  };
  const test: Line = {
    name: trans.__('test, after the epoch'),
    color: TEST_COLOR,
    style: { ...mark, width: 1.5, dash: [2, 3] }
  };
  const [own, tested] =
    chart === 'loss'
      ? (['loss', 'testLoss'] as const)
      : (['accuracy', 'testAccuracy'] as const);
  const ends = [
    { line: train, of: own },
    { line: test, of: tested }
  ];
  return ends
    .filter(({ of }) => epochs?.[of].some(value => value !== null))
    .map(({ line, of }) => ({ line, values: atEnds(series, epochs, of) }));
}

/** The least and the greatest over all replicas, point by point, of single steps. */
export function spread(series: Series, chart: Chart): [Values, Values] {
  const { mean, low, high } = series.curve(chart);
  const apart = series.replicas > 1 || series.spans;
  const edge = (
    rows: Values[],
    pick: (a: number, b: number) => number
  ): Values =>
    series.steps.map((_, point) => {
      let found: number | null = null;
      for (const row of apart ? rows : []) {
        const value = row[point];
        if (value !== null && value !== undefined) {
          found = found === null ? value : pick(found, value);
        }
      }
      return found;
    });
  return series.spans
    ? [edge(low, Math.min), edge(high, Math.max)]
    : [edge(mean, Math.min), edge(mean, Math.max)];
}

/** Whether single points are drawn: few points make no visible line. */
export function areFew(series: Series): boolean {
  return series.length <= FEW;
}

/** Whether a chart has ends of epochs; workers with their own steps have no common epochs. */
function hasEnds(series: Series, chart: Chart): boolean {
  return chart !== 'rate' && series.synchronous;
}

function atEnds(
  series: Series,
  epochs: Epochs | undefined,
  name: Exclude<keyof Epochs, 'step' | 'metrics'>
): Values {
  const row: Values = series.steps.map(() => null);
  epochs?.step.forEach((step, epoch) => {
    const point = indexAt(series.steps, step);
    const before = step <= (series.steps[0] ?? 0) - series.stepsAPoint;
    if (point < row.length && !before) {
      row[point] = epochs[name][epoch] ?? null;
    }
  });
  return row;
}

/** The first place in rising values that is not below `value`. */
export function indexAt(values: number[], value: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

function positive(values: Values): Values {
  return values.map(value => (value !== null && value > 0 ? value : null));
}
