/** How a chart looks: its scales, axes and lines, in the colours of the page. */

import type uPlot from 'uplot';

import { isEdge, type Line, type Treatment } from './curves.js';
import type { Translation } from './language.js';
import type { Axis, Chart } from './series.js';
import { duration, short } from './words.js';

const FONT = '11px system-ui, sans-serif';

type PlotOptions = Pick<uPlot.Options, 'axes' | 'bands' | 'scales' | 'series'>;

/** The choices that decide how lines are drawn. */
export interface Style {
  chart: Chart;
  treatment: Treatment;
  /** Whether all replicas take a step together; else the axis counts the steps of each worker. */
  synchronous: boolean;
  /** Whether single points are drawn. */
  few: boolean;
  /** Whether the first two lines are the edges of a band. */
  spread: boolean;
}

/** Return the options of uPlot for a chart; colours come from its node at each drawing. */
export function plotOptions(
  { chart, treatment, synchronous, few, spread }: Style,
  lines: Line[],
  node: Element,
  trans: Translation
): PlotOptions {
  const band: uPlot.Band = {
    series: [2, 1],
    fill: 'rgba(122, 130, 140, 0.22)'
  };
  return {
    bands: spread ? [band] : [],
    scales: {
      x: { time: false },
      y: treatment.logarithmic
        ? { distr: 3 }
        : { range: (_, low, high) => range(low, high, chart === 'rate') }
    },
    axes: [
      across(
        node,
        treatment.axis,
        axisName(treatment.axis, synchronous, trans)
      ),
      upward(node, chart === 'accuracy')
    ],
    series: [{}, ...lines.map(line => drawn(line, few))]
  };
}

function across(node: Element, axis: Axis, name: string): uPlot.Axis {
  return {
    ...plain(node),
    size: 24,
    label: name,
    labelSize: 18,
    labelFont: FONT,
    values: (_, ticks) => ticks.map(tick => acrossText(tick, axis))
  };
}

/** Return the name of the x axis. */
export function axisName(
  axis: Axis,
  synchronous: boolean,
  trans: Translation
): string {
  switch (axis) {
    case 'step':
      return synchronous ? trans.__('step') : trans.__("worker's own steps");
    case 'examples':
      return synchronous
        ? trans.__('examples')
        : trans.__('examples of one worker');
    case 'time':
      return trans.__('training time');
  }
}

/** Return a number of the x axis as text. */
export function acrossText(tick: number, axis: Axis): string {
  return axis === 'time' ? duration(tick) : compact(tick);
}

/** Return a number of the y axis as text. */
export function upwardText(tick: number | null, percent: boolean): string {
  return percent && tick !== null ? `${short(100 * tick)}%` : compact(tick);
}

function upward(node: Element, percent: boolean): uPlot.Axis {
  return {
    ...plain(node),
    size: 52,
    values: (_, ticks) => ticks.map(tick => upwardText(tick, percent))
  };
}

function plain(node: Element): uPlot.Axis {
  return {
    stroke: () => style(node, '--wbv-muted', '#59636e'),
    grid: {
      stroke: () => style(node, '--wbv-grid', 'rgba(128,128,128,0.25)'),
      width: 1
    },
    ticks: { show: false },
    font: FONT
  };
}

function style(node: Element, name: string, otherwise: string): string {
  return getComputedStyle(node).getPropertyValue(name).trim() || otherwise;
}

function drawn(line: Line, few: boolean): uPlot.Series {
  const { name, color, style } = line;
  const dots = few && !isEdge(line);
  return {
    label: name,
    stroke: color,
    ...style,
    points: {
      show: dots,
      size: 4,
      stroke: color,
      fill: color,
      ...style.points
    }
  };
}

/** Return the ends of a y axis for values from `low` to `high`. */
export function range(
  low: number,
  high: number,
  fromZero: boolean
): [number, number] {
  if (low === null || high === null || !Number.isFinite(low)) {
    return [0, 1];
  }
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [fromZero ? 0 : low - room, high + room];
}

const COMPACT = new Intl.NumberFormat('en', {
  notation: 'compact',
  maximumSignificantDigits: 4
});

function compact(value: number | null): string {
  if (value === null) {
    return '';
  }
  return Math.abs(value) < 1 && value !== 0
    ? short(value)
    : COMPACT.format(value);
}
