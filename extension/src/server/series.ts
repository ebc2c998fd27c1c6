/** The curves of runs, from a frame of the server. See `workbench/server/series.py`. */

import { unpacked } from './frames.js';
import type { RunSeries } from './protocol.js';

const NUMBER_BYTES = 8;
/** The rows of a run's buffer. */
const COLUMNS = [
  'step',
  'examples',
  'training_seconds',
  'loss',
  'accuracy',
  'examples_per_second'
] as const;

type Columns = Pick<RunSeries, (typeof COLUMNS)[number]>;

/** The server's answer about a run: its curves, or why it cannot be read. */
export type SeriesAnswer = RunSeries | { error: string };

interface Heads {
  runs: ({ steps_a_point: number } | { error: string })[];
}

/** Return the answers in a frame, one for each of its runs. */
export function seriesIn(frame: ArrayBuffer): SeriesAnswer[] {
  const { content, buffers } = unpacked<Heads>(frame);
  return content.runs.map((head, at) =>
    'error' in head ? head : { ...columnsIn(buffers[at]!), ...head }
  );
}

/** Return a run's columns; null where a value is unknown. */
function columnsIn({ buffer, byteOffset, byteLength }: DataView): Columns {
  const points = byteLength / NUMBER_BYTES / COLUMNS.length;
  const columns = COLUMNS.map((name, row) => {
    const start = byteOffset + row * points * NUMBER_BYTES;
    const numbers = new Float64Array(buffer, start, points);
    return [name, Array.from(numbers, known)];
  });
  return Object.fromEntries(columns) as Columns;
}

function known(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
