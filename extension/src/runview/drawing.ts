/** The content of a chart of one run: its lines and texts. */

import { areFew, linesOf, table, type Treatment } from './curves.js';
import type { Drawing, Range } from './plot.js';
import type { Epochs } from './protocol.js';
import type { Chart, Series } from './series.js';
import { account, reading } from './words.js';

export const TITLES: Record<Chart, string> = {
  loss: 'Loss',
  accuracy: 'Accuracy',
  rate: 'Examples a second of call time'
};

/** A run's points, and a person's choices of how to show them. */
export interface Shown {
  series: Series;
  epochs: Epochs | undefined;
  treatment: Treatment;
  hidden: ReadonlySet<string>;
  zoom: Range | null;
}

export function drawingOf(chart: Chart, shown: Shown): Drawing {
  const { series, epochs, hidden, zoom } = shown;
  const treatment = treatmentOf(chart, shown.treatment);
  const shares =
    chart === 'rate' && series.virtual
      ? [series.workers > 1 ? 'workers share a device' : 'virtual']
      : [];
  return {
    title: titleOf(chart, treatment, shares),
    lines: linesOf(series, chart, epochs),
    data: table(series, chart, epochs, treatment),
    style: {
      chart,
      treatment,
      together: series.together,
      few: areFew(series),
      spread: true
    },
    nonfinite: chart === 'loss' ? series.nonfinite : new Set(),
    account: () => account(series, chart),
    reading: point => reading(series, chart, point),
    hidden,
    zoom
  };
}

/** Only a loss has a log scale. */
export function treatmentOf(chart: Chart, treatment: Treatment): Treatment {
  const logarithmic = treatment.logarithmic && chart === 'loss';
  return { ...treatment, logarithmic };
}

/** Return the title of a chart with its treatment; `shares` explains why speeds mean little. */
export function titleOf(
  chart: Chart,
  { logarithmic, smoothing }: Treatment,
  shares: string[] = []
): string {
  const notes = [
    ...shares,
    ...(logarithmic ? ['log scale'] : []),
    ...(smoothing > 0 ? [`smoothed, weight ${smoothing}`] : [])
  ];
  const suffix = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return `${TITLES[chart]}${suffix}`;
}
