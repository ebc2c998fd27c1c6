/** The content of a chart of one run: its lines and texts. */

import {
  areFew,
  hasMean,
  rowsOf,
  SMOOTHED,
  table,
  type Row,
  type Treatment
} from './curves.js';
import type { Drawing, Range } from './plot.js';
import type { Epochs } from './protocol.js';
import type { Chart, Series, Values } from './series.js';
import { account, reading } from './words.js';

export const TITLES: Record<Chart, string> = {
  loss: 'Loss',
  accuracy: 'Accuracy',
  rate: 'Examples per second'
};

/** A run's points, and a person's choices of how to show them. */
export interface Shown {
  /** The run's id. */
  run: string;
  series: Series;
  epochs: Epochs | undefined;
  treatment: Treatment;
  hidden: ReadonlySet<string>;
  zoom: Range | null;
}

export function drawingOf(chart: Chart, shown: Shown): Drawing {
  const { run, series, epochs, hidden, zoom } = shown;
  const treatment = treatmentOf(chart, shown.treatment);
  const rows = rowsOf(series, chart, epochs, treatment);
  const smoothed = smoothedOf(rows);
  return {
    title: TITLES[chart],
    remark: remarkOf(treatment, remarks(chart, series), !hasMean(series)),
    file: `${run}-${chart}`,
    lines: rows.map(({ line }) => line),
    data: table(series, treatment.axis, rows),
    style: {
      chart,
      treatment,
      synchronous: series.synchronous,
      few: areFew(series),
      spread: true
    },
    nonfinite: chart === 'loss' ? series.nonfinite : new Set(),
    account: () => account(series, chart),
    reading: point => reading(series, chart, point, smoothed),
    hidden,
    zoom
  };
}

/** Only a loss has a log scale. */
export function treatmentOf(chart: Chart, treatment: Treatment): Treatment {
  const logarithmic = treatment.logarithmic && chart === 'loss';
  return { ...treatment, logarithmic };
}

/** Return the remark after a title; `smoothed` says whether it names the smoothing. */
export function remarkOf(
  { logarithmic, smoothing }: Treatment,
  others: string[] = [],
  smoothed = true
): string {
  const span = smoothing.toLocaleString('en');
  return [
    ...others,
    ...(logarithmic ? ['log scale'] : []),
    ...(smoothed && smoothing > 1 ? [`smoothed over ${span} steps`] : [])
  ].join(', ');
}

/** Say over which time a speed is, and why speeds of virtual replicas mean little. */
function remarks(chart: Chart, { virtual, workers }: Series): string[] {
  if (chart !== 'rate') {
    return [];
  }
  const shares = workers > 1 ? 'workers share a device' : 'virtual';
  return ['over call time', ...(virtual ? [shares] : [])];
}

function smoothedOf(rows: Row[]): Values | undefined {
  return rows.find(
    ({ line }) => line.name === SMOOTHED || line.note?.includes(SMOOTHED)
  )?.values;
}
