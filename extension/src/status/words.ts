/** The text of the status bar. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Row } from '../server/protocol.js';

/** Return how many runs are in progress and the sum of their known speeds; empty without runs. */
export function statusBarText(
  rows: Row[],
  trans: Pick<TranslationBundle, '__' | '_n'>
): string {
  const alive = rows.filter(row => row.alive);
  if (alive.length === 0) {
    return '';
  }
  const count = trans._n(
    '%1 run in progress',
    '%1 runs in progress',
    alive.length
  );
  const known = alive
    .map(row => row.stepsPerSecond)
    .filter(rate => typeof rate === 'number');
  if (known.length === 0) {
    return count;
  }
  const rate = known.reduce((sum, each) => sum + each, 0);
  return trans.__('%1, %2 steps per second', count, speed(rate));
}

function speed(rate: number): string {
  const digits = rate < 10 ? Number(rate.toPrecision(2)) : Math.round(rate);
  return digits.toLocaleString('en');
}
