/** What a row says of its run. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { duration } from '../runview/words.js';
import type { Row } from '../server/protocol.js';
import { DELETED } from './runlist.js';

/** The word for a status; one that is not known is its own. */
export function statusWord(status: string, trans: TranslationBundle): string {
  const words: Record<string, string> = {
    queued: trans.__('queued'),
    starting: trans.__('starting'),
    running: trans.__('running'),
    stopping: trans.__('stopping'),
    finished: trans.__('finished'),
    stopped: trans.__('stopped'),
    failed: trans.__('failed'),
    lost: trans.__('lost'),
    unreadable: trans.__('unreadable'),
    [DELETED]: trans.__('deleted')
  };
  return words[status] ?? status;
}

/** A sign for a status, beside its word. */
export function signOf(status: string): string {
  const signs: Record<string, string> = {
    queued: '…',
    starting: '…',
    running: '▶',
    stopping: '…',
    finished: '✓',
    stopped: '■',
    [DELETED]: '–'
  };
  return signs[status] ?? '!';
}

/** How much of a run is done, 0 to 1. */
export function shareOf({ step = 0, totalSteps = 0 }: Row): number {
  return totalSteps > 0 ? Math.min(1, step / totalSteps) : 0;
}

/** Of a living run how far it is and how fast; of another one what it came to. */
export function rowWords(row: Row, trans: TranslationBundle): string {
  if (row.trouble) {
    return row.trouble;
  }
  if (row.status === DELETED) {
    return trans.__('Its folder is gone.');
  }
  return row.alive ? living(row, trans) : over(row, trans);
}

function living(row: Row, trans: TranslationBundle): string {
  const { etaSeconds, stepsPerSecond, step = 0, phase = '', note } = row;
  if (note) {
    return note;
  }
  if (step === 0) {
    return phase || trans.__('No step yet');
  }
  const left = known(etaSeconds)
    ? [trans.__('%1 left', duration(etaSeconds))]
    : [];
  const speed = known(stepsPerSecond)
    ? [trans.__('%1 steps/s', short(stepsPerSecond))]
    : [];
  const done = trans.__('%1 %', Math.floor(100 * shareOf(row)));
  return [done, ...left, ...speed].join(', ');
}

/** What is wrong with a run: why it cannot be read, failed or was lost; empty where nothing is. */
export function wrong({ trouble, status, note = '' }: Row): string {
  return trouble || (['failed', 'lost'].includes(status) ? note : '');
}

function over(row: Row, trans: TranslationBundle): string {
  const { step = 0, totalSteps = 0, results } = row;
  const steps =
    step < totalSteps
      ? trans.__('%1 of %2 steps', count(step), count(totalSteps))
      : trans._n('%1 step', '%2 steps', step, count(step));
  const accuracy = results?.test_accuracy;
  const test = known(accuracy)
    ? [trans.__('test accuracy %1 %', (100 * accuracy).toFixed(1))]
    : [];
  const why = wrong(row);
  return why ? trans.__('%1: %2', steps, why) : [steps, ...test].join(', ');
}

/** Many runs by their number, one by its title. */
export function named(rows: readonly Row[], trans: TranslationBundle): string {
  return rows.length === 1
    ? `“${rows[0]!.title}”`
    : trans._n('%1 run', '%1 runs', rows.length);
}

function known(value: number | null | undefined): value is number {
  return typeof value === 'number';
}

function count(value: number): string {
  return value.toLocaleString('en');
}

function short(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en');
}
