/** The texts of a row about its run. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { duration, percent } from '../runview/words.js';
import type { Row } from '../server/protocol.js';
import { DELETED } from './runlist.js';

/** Return the word for a status; an unknown status stays as it is. */
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

/** Return a sign for a status, to be shown with its word. */
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

/** Return the done share of a run, 0 to 1. */
export function shareOf({ step = 0, totalSteps = 0 }: Row): number {
  return totalSteps > 0 ? Math.min(1, step / totalSteps) : 0;
}

/** Return the progress and speed of a run in progress, or the result of another run. */
export function rowText(row: Row, trans: TranslationBundle): string {
  if (row.error) {
    return row.error;
  }
  if (row.status === DELETED) {
    return trans.__('Its folder was deleted.');
  }
  return row.alive ? living(row, trans) : over(row, trans);
}

function living(row: Row, trans: TranslationBundle): string {
  const { etaSeconds, stepsPerSecond, step = 0, phase = '', note, stage } = row;
  if (stage || note) {
    return [stage, note].filter(Boolean).join('. ');
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
  const done = trans.__('%1%', Math.floor(100 * shareOf(row)));
  return [done, ...left, ...speed].join(', ');
}

/** Return why a run cannot be read, failed or was lost; empty if it is well. */
export function wrong({ error, status, note = '' }: Row): string {
  return error || (['failed', 'lost'].includes(status) ? note : '');
}

function over(row: Row, trans: TranslationBundle): string {
  const { step = 0, totalSteps = 0, results } = row;
  const steps =
    step < totalSteps
      ? trans.__('%1 of %2 steps', count(step), count(totalSteps))
      : trans._n('%1 step', '%2 steps', step, count(step));
  const accuracy = results?.test_accuracy;
  const test = known(accuracy)
    ? [trans.__('test accuracy %1', percent(accuracy))]
    : [];
  const why = wrong(row);
  return why ? trans.__('%1: %2', steps, why) : [...test, steps].join(', ');
}

/** Name one run by its title, several by their number. */
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
