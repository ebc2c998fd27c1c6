/** The content of a chart of one run: its lines and texts. */

import { areFew, hasMean, rowsOf, table, type Treatment } from './curves.js';
import type { Translation } from './language.js';
import type { Drawing, Range } from './plot.js';
import type { Epochs } from './protocol.js';
import type { Chart, Series } from './series.js';
import type { Speed } from './speed.js';
import { account, reading } from './words.js';

/** Return the title of a chart. */
export function titleOf(chart: Chart, trans: Translation): string {
  return {
    loss: trans.__('Loss'),
    accuracy: trans.__('Accuracy'),
    rate: trans.__('Examples per second')
  }[chart];
}

/** A run's points, and a person's choices of how to show them. */
export interface Shown {
  /** The run's id. */
  run: string;
  series: Series;
  epochs: Epochs | undefined;
  speed: Speed;
  treatment: Treatment;
  hidden: ReadonlySet<string>;
  zoom: Range | null;
  trans: Translation;
}

export function drawingOf(chart: Chart, shown: Shown): Drawing {
  const { run, series, epochs, speed, hidden, zoom, trans } = shown;
  const treatment = treatmentOf(chart, shown.treatment);
  const rows = rowsOf(series, chart, epochs, treatment, trans);
  const smoothed = rows.find(row => row.smoothed)?.values;
  const [from, to] = seenOf(series.across(treatment.axis), zoom);
  const others = remarks(chart, series, trans);
  return {
    title: titleOf(chart, trans),
    remark: remarkOf(treatment, trans, others, !hasMean(series)),
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
    account: account(series, chart, { from, to, speed }, trans),
    reading: point => reading(series, chart, point, trans, smoothed),
    hidden,
    zoom
  };
}

/** Return the first point of an x axis that is seen, and one past the last. */
export function seenOf(
  across: ArrayLike<number>,
  zoom: Range | null
): [number, number] {
  const points = Array.from(across);
  if (zoom === null) {
    return [0, points.length];
  }
  const last = points.findLastIndex(at => at <= zoom.max);
  const first = points.findIndex(at => at >= zoom.min);
  return first < 0 ? [0, 0] : [first, last + 1];
}

/** Only a loss has a log scale. */
export function treatmentOf(chart: Chart, treatment: Treatment): Treatment {
  const logarithmic = treatment.logarithmic && chart === 'loss';
  return { ...treatment, logarithmic };
}

/** Return the remark after a title; `smoothed` says whether it names the smoothing. */
export function remarkOf(
  { logarithmic, smoothing }: Treatment,
  trans: Translation,
  others: string[] = [],
  smoothed = true
): string {
  const span = smoothing.toLocaleString('en');
  return [
    ...others,
    ...(logarithmic ? [trans.__('log scale')] : []),
    ...(smoothed && smoothing > 1
      ? [trans.__('smoothed over %1 steps', span)]
      : [])
  ].join(', ');
}

/** Say over which time a speed is, and why speeds of virtual replicas mean little. */
function remarks(
  chart: Chart,
  { virtual, workers }: Series,
  trans: Translation
): string[] {
  if (chart !== 'rate') {
    return [];
  }
  const shares =
    workers > 1 ? trans.__('workers share a device') : trans.__('virtual');
  return [
    trans.__('excluding time between calls'),
    ...(virtual ? [shares] : [])
  ];
}
