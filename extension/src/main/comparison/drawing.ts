/** The chart of several runs and its texts: a line for each run, over all its replicas. Pure. */

import {
  indexAt,
  lineAt,
  type Line,
  type Treatment
} from '../../runview/curves.js';
import {
  remarkOf,
  seenOf,
  titleOf,
  treatmentOf
} from '../../runview/drawing.js';
import type { Translation } from '../../runview/language.js';
import type { Drawing, Range } from '../../runview/plot.js';
import type { Axis, Chart, Values } from '../../runview/series.js';
import { smooth, weightOf } from '../../runview/smoothing.js';
import {
  course,
  duration,
  firstOf,
  speedText,
  VALUES
} from '../../runview/words.js';
import type { RunSeries } from '../../server/protocol.js';
import { joined, type Placed } from './joining.js';

const FEW = 40;
const WIDTH = 2;
const ROWS = {
  loss: 'loss',
  accuracy: 'accuracy',
  rate: 'examples_per_second'
} as const;
const ACROSS = {
  step: 'step',
  examples: 'examples',
  time: 'training_seconds'
} as const;

/** A run of the comparison; `number` never changes, so that its line keeps its style. */
export interface Curve {
  name: string;
  number: number;
  series: RunSeries;
  /** The run's speed; null is unknown. */
  examplesPerSecond: number | null;
}

export interface Shown {
  curves: Curve[];
  chart: Chart;
  treatment: Treatment;
  hidden: ReadonlySet<string>;
  zoom: Range | null;
  trans: Translation;
}

/** The values of a run's line and where they are along the x axis. */
interface Track {
  name: string;
  examplesPerSecond: number | null;
  across: number[];
  values: Values;
  stepsAPoint: number;
}

export function drawingOf(shown: Shown): Drawing {
  const { curves, chart, hidden, zoom, trans } = shown;
  const treatment = treatmentOf(chart, shown.treatment);
  const { axis, smoothing, logarithmic } = treatment;
  const tracks = curves.map(curve => trackOf(curve, chart, axis));
  const lines = tracks.map(({ across, values, stepsAPoint }): Placed => {
    const drawn = smooth(values, weightOf(smoothing, stepsAPoint));
    return [across, logarithmic ? drawn.map(positive) : drawn];
  });
  const data = joined(lines);
  return {
    title: titleOf(chart, trans),
    remark: remarkOf(treatment, trans),
    file: `comparison-${chart}`,
    lines: curves.map(lineOf),
    data,
    style: {
      chart,
      treatment,
      synchronous: true,
      few: tracks.every(({ across }) => across.length <= FEW),
      spread: false
    },
    nonfinite: new Set(),
    account: accountOf(tracks, chart, zoom, trans),
    reading: point => readingOf(tracks, shown, data[0][point]!),
    hidden,
    zoom
  };
}

export function lineOf({ name, number }: Pick<Curve, 'name' | 'number'>): Line {
  return { name, ...lineAt(number, WIDTH) };
}

function trackOf(
  { name, series, examplesPerSecond }: Curve,
  chart: Chart,
  axis: Axis
): Track {
  const all = series[ACROSS[axis]];
  const known = all.flatMap((at, point) => (at === null ? [] : [point]));
  return {
    name,
    examplesPerSecond,
    across: known.map(point => all[point]!),
    values: known.map(point => series[ROWS[chart]][point] ?? null),
    stepsAPoint: series.steps_a_point
  };
}

/** Return what is seen of the first lines; workers with their own steps have no common line. */
function accountOf(
  tracks: Track[],
  chart: Chart,
  zoom: Range | null,
  trans: Translation
): string {
  const texts = tracks.map(track => {
    const { name, across, values, stepsAPoint, examplesPerSecond } = track;
    const seen = values.slice(...seenOf(across, zoom));
    const text =
      chart === 'rate'
        ? speedText(examplesPerSecond, trans)
        : course(seen, stepsAPoint, chart, trans) || trans.__('no data');
    return `${name}: ${text}`;
  });
  return firstOf(texts, trans);
}

/** Return the exact value of each line at a place of the x axis, or its next value. */
function readingOf(
  tracks: Track[],
  { chart, treatment, trans }: Shown,
  at: number
): string {
  const readings = tracks.flatMap(({ name, across, values }) => {
    const last = across.at(-1);
    const value = values[indexAt(across, at)];
    return last === undefined || at > last || typeof value !== 'number'
      ? []
      : [`${name} ${VALUES[chart](value)}`];
  });
  const place = placeOf(treatment.axis, at, trans);
  return `${place}: ${readings.join(', ') || trans.__('no data')}`;
}

function placeOf(axis: Axis, at: number, trans: Translation): string {
  const number = at.toLocaleString('en');
  return {
    step: trans.__('step %1', number),
    examples: trans.__('%1 examples', number),
    time: duration(at)
  }[axis];
}

function positive(value: number | null): number | null {
  return value !== null && value > 0 ? value : null;
}
