/** The text of the status bar. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Row } from '../server/protocol.js';

/** Return how many runs are in progress, their speeds together, and how many wait; else ''. */
export function statusBarText(
  rows: Row[],
  trans: Pick<TranslationBundle, '__' | '_n'>
): string {
  const alive = rows.filter(row => row.alive);
  const going = alive.filter(row => row.status !== 'queued');
  const waiting = alive.length - going.length;
  const rates = going
    .map(row => row.stepsPerSecond)
    .filter(rate => typeof rate === 'number');
  const rate = speed(rates.reduce((sum, each) => sum + each, 0));
  return [
    ...(going.length > 0
      ? [trans._n('%1 run in progress', '%1 runs in progress', going.length)]
      : []),
    ...(rates.length > 0 ? [trans.__('%1 steps per second', rate)] : []),
    ...(waiting > 0
      ? [trans._n('%1 run queued', '%1 runs queued', waiting)]
      : [])
  ].join(', ');
}

function speed(rate: number): string {
  const digits = rate < 10 ? Number(rate.toPrecision(2)) : Math.round(rate);
  return digits.toLocaleString('en');
}
