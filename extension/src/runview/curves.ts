/** The lines of a chart, their looks and their values. */

import type uPlot from 'uplot';

import type { Epochs } from './protocol.js';
import type { Axis, Chart, Series, Values } from './series.js';
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
const JOINED_COLOR = '#7a828c';
const TEST_COLOR = '#e0484f';
const FEW = 40;

export const SPREAD = 'lowest to highest';
export const TRAIN = 'train, whole epoch';
export const TEST = 'test, after the epoch';

/** How the values along the lines are treated before they are drawn. */
export interface Treatment {
  axis: Axis;
  /** The weight of the earlier values in an exponential mean, from 0 (none) to below 1. */
  smoothing: number;
  logarithmic: boolean;
}

/** A line of a chart: its name, which several may share, and how it is drawn. */
export interface Line {
  name: string;
  color: string;
  look: Partial<uPlot.Series>;
}

/** Return the look of the line with this number: both dashes and colour distinguish it. */
export function lineAt(number: number, width: number): Omit<Line, 'name'> {
  const turn = Math.floor(number / COLORS.length);
  const dash = DASHES[(number + turn) % DASHES.length]!;
  return { color: COLORS[number % COLORS.length]!, look: { width, dash } };
}

/** Return the lines of a chart in the order of its data: common lines lie below single ones. */
export function linesOf(series: Series, chart: Chart, epochs?: Epochs): Line[] {
  const edge = { name: SPREAD, color: JOINED_COLOR, look: { width: 0 } };
  const joined: Line = {
    name: chart === 'rate' ? 'all: sum' : 'all: weighted mean',
    color: JOINED_COLOR,
    look: { width: 2 }
  };
  const replicas = Array.from({ length: series.replicas }, (_, number) => ({
    ...lineAt(number, 1),
    name: nameOf(series, number)
  }));
  const count = epochs?.step.length ?? 0;
  const size = count > 100 ? 2 : count > 20 ? 4 : 7;
  const mark = { spanGaps: true, points: { show: true, size } };
  const ends: Line[] = [
    { name: TRAIN, color: JOINED_COLOR, look: { ...mark, width: 0 } },
    {
      name: TEST,
      color: TEST_COLOR,
      look: { ...mark, width: 1, dash: [2, 3] }
    }
  ];
  return [
    edge,
    edge,
    ...(series.joins ? [joined] : []),
    ...replicas,
    ...(hasEnds(series, chart) ? ends : [])
  ];
}

/** Return the drawn values: x axis, two edges of the spread, lines, ends of epochs. */
export function table(
  series: Series,
  chart: Chart,
  epochs: Epochs | undefined,
  { axis, smoothing, logarithmic }: Treatment
): uPlot.AlignedData {
  const curve = series.curve(chart);
  const lines = [...(series.joins ? [curve.joined] : []), ...curve.mean];
  const drawn = [
    ...spread(series, chart),
    ...lines.map(row => smooth(row, smoothing))
  ];
  const ends = hasEnds(series, chart)
    ? [
        atEnds(series, epochs, chart === 'loss' ? 'loss' : 'accuracy'),
        atEnds(series, epochs, chart === 'loss' ? 'testLoss' : 'testAccuracy')
      ]
    : [];
  const values = [...drawn, ...ends];
  return [
    series.across(axis),
    ...(logarithmic ? values.map(positive) : values)
  ];
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

/** Whether single points are drawn: few points make no visible line. */
export function areFew(series: Series): boolean {
  return series.length <= FEW;
}

/** Whether a chart has ends of epochs; workers with their own steps have no common epochs. */
function hasEnds(series: Series, chart: Chart): boolean {
  return chart !== 'rate' && series.together;
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
