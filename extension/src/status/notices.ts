/** The notification about a run that has ended. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Row } from '../server/protocol.js';

/** JupyterLab cuts off longer texts. */
const MOST_LETTERS = 140;
const FINISHED_SHOWS_MS = 15_000;
const CUT = '…';

export interface Notice {
  text: string;
  kind: 'success' | 'info' | 'warning' | 'error';
  /** After how many milliseconds it closes itself; false if a person must close it. */
  autoClose: number | false;
}

interface Wishes {
  notifyFinished: boolean;
  notifyFailed: boolean;
}

/** Return the notification about an ended run; null if the settings switch it off. */
export function noticeOf(
  row: Row,
  { notifyFinished, notifyFailed }: Wishes,
  trans: Pick<TranslationBundle, '__'>
): Notice | null {
  const short = { autoClose: FINISHED_SHOWS_MS };
  const finished = (notice: Notice) => (notifyFinished ? notice : null);
  const failed = (kind: Notice['kind'], text: string) =>
    notifyFailed
      ? { kind, text: cut(reasoned(text, row.note)), autoClose: false as const }
      : null;
  switch (row.status) {
    case 'finished':
      return finished({
        kind: 'success',
        text: cut(trans.__('%1 has finished.', row.title)),
        ...short
      });
    case 'stopped':
      return finished({
        kind: 'info',
        text: cut(trans.__('%1 was stopped.', row.title)),
        ...short
      });
    case 'failed':
      return failed('error', trans.__('%1 has failed.', row.title));
    case 'lost':
      return failed('warning', trans.__('%1 was lost.', row.title));
    default:
      return null;
  }
}

/** Return the runs whose end is no news any more: they are alive again, or deleted. */
export function resumedOrGone(runs: Iterable<string>, rows: Row[]): string[] {
  const over = new Set(rows.filter(row => !row.alive).map(row => row.id));
  return [...runs].filter(run => !over.has(run));
}

function reasoned(text: string, reason = ''): string {
  return reason === '' ? text : `${text} ${reason}`;
}

function cut(text: string): string {
  return text.length > MOST_LETTERS
    ? text.slice(0, MOST_LETTERS - CUT.length) + CUT
    : text;
}
