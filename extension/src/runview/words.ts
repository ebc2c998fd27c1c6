/** A chart in words, for those who do not look at it. */

import type { Chart, Series, Values } from './series.js';

const RECENT = 0.1;
const STEADY = 0.01;
const SLOW = 0.05;

const UNITS: Record<Chart, (value: number) => string> = {
  loss: value => `loss ${short(value)}`,
  accuracy: value => `accuracy ${(100 * value).toFixed(1)} %`,
  rate: value => `${Math.round(value).toLocaleString('en')} examples/s`
};

/** Three significant digits, as people read them. */
export function short(value: number): string {
  const size = Math.abs(value);
  return size !== 0 && (size < 1e-3 || size >= 1e6)
    ? value.toExponential(2)
    : String(Number(value.toPrecision(3)));
}

/** Whether the end of a line is above, below or about at what came before it. */
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

/** The last value of a chart's joined line, where it is going, and who is behind. */
export function account(series: Series, chart: Chart): string {
  const lines = series.lines(chart);
  const joined = lines.at(-1) ?? [];
  const last = [...joined].reverse().find(value => value !== null);
  if (last === undefined || last === null) {
    return 'No point yet.';
  }
  const behind = chart === 'rate' ? slowest(lines.slice(0, -1)) : '';
  return `${UNITS[chart](last)}, ${trend(joined)}${behind}`;
}

function slowest(replicas: Values[]): string {
  const rates = replicas.map(line => {
    const known = line.filter(value => value !== null);
    return mean(known.slice(-Math.max(1, Math.round(known.length * RECENT))));
  });
  const middle = [...rates].sort((a, b) => a - b)[Math.floor(rates.length / 2)];
  const least = Math.min(...rates);
  if (middle === undefined || !(least < (1 - SLOW) * middle)) {
    return '';
  }
  const percent = Math.round(100 * (1 - least / middle));
  return `; replica ${rates.indexOf(least)} is ${percent} % slower`;
}

function mean(values: number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
