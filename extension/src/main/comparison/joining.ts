/** Lines with different x values on one x axis, in bounded time and with every peak. Pure. */

import uPlot from 'uplot';

import type { Values } from '../../runview/series.js';

/** As many as four for each column of a wide screen. */
const BINS = 4000;

/** A line: its rising x values, and its values there. */
export type Placed = [across: number[], values: Values];

/**
 * Return the lines over one x axis; undefined is no point, null a gap.
 *
 * Many runs hardly have an x value in common, and each line is drawn with the x values of all. So
 * if there are many, each line keeps its least and its greatest value in each of many short bins.
 */
export function joined(lines: Placed[]): uPlot.AlignedData {
  if (lines.length === 0) {
    return [[]];
  }
  const points = lines.reduce((sum, [across]) => sum + across.length, 0);
  return points <= 2 * BINS || shareOneAxis(lines)
    ? uPlot.join(lines)
    : binned(lines);
}

function shareOneAxis(lines: Placed[]): boolean {
  const first = lines[0]![0];
  return lines.every(
    ([across]) =>
      across.length === first.length && across.every((x, at) => x === first[at])
  );
}

function binned(lines: Placed[]): uPlot.AlignedData {
  const binOf = binsOver(lines);
  const first = new Float64Array(BINS).fill(Infinity);
  const last = new Float64Array(BINS).fill(-Infinity);
  for (const [across] of lines) {
    for (const x of across) {
      const bin = binOf(x);
      first[bin] = Math.min(first[bin]!, x);
      last[bin] = Math.max(last[bin]!, x);
    }
  }
  const axis: number[] = [];
  const places = first.map((x, bin) => {
    const ends = x < last[bin]! ? [x, last[bin]!] : x < Infinity ? [x] : [];
    return axis.push(...ends) - ends.length;
  });
  const rows = lines.map(line => rowOf(line, x => places[binOf(x)]!, axis));
  return [axis, ...rows];
}

/** Return a line's values over the axis: in each bin the least and the greatest, in their order. */
function rowOf(
  [across, values]: Placed,
  placeOf: (x: number) => number,
  axis: number[]
): (number | null | undefined)[] {
  const row: (number | null | undefined)[] = axis.map(() => undefined);
  for (let from = 0, to = 0; from < across.length; from = to) {
    const place = placeOf(across[from]!);
    let [low, high] = [from, from];
    for (to++; to < across.length && placeOf(across[to]!) === place; to++) {
      low = isPast(values[to]!, values[low]!, -1) ? to : low;
      high = isPast(values[to]!, values[high]!, 1) ? to : high;
    }
    row[place] = values[Math.min(low, high)]!;
    if (across[low] !== across[high]) {
      row[place + 1] = values[Math.max(low, high)]!;
    }
  }
  return row;
}

/** Whether a value is less (-1) or greater (1) than the one found so far, which may be a gap. */
function isPast(
  value: number | null,
  found: number | null,
  sign: 1 | -1
): boolean {
  return value !== null && (found === null || sign * value > sign * found);
}

/** Return the function that gives the bin of an x value, from 0 to `BINS` - 1. */
function binsOver(lines: Placed[]): (x: number) => number {
  const known = lines.filter(([across]) => across.length > 0);
  const least = Math.min(...known.map(([across]) => across[0]!));
  const greatest = Math.max(...known.map(([across]) => across.at(-1)!));
  const scale = (BINS - 1) / (greatest - least || 1);
  return x => Math.floor((x - least) * scale);
}
