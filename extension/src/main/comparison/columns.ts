/** The columns of a comparison: a value for each run, and the best of them. Pure. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { percent, short, VALUES } from '../../runview/words.js';
import type { Results, Row, Work } from '../../server/protocol.js';
import type { Sorting } from './order.js';

type Better = 'least' | 'greatest' | null;

/** A column of numbers. */
export interface Column extends Sorting {
  texts: string[];
  /** Which runs have the best value; none if there is no choice. */
  best: boolean[];
}

/**
 * Return the columns of these runs; a row is undefined while its run is unknown.
 *
 * A best value is marked only if all known runs do the same work; see `differencesOf`.
 */
export function columnsOf(
  rows: (Row | undefined)[],
  trans: Pick<TranslationBundle, '__'>
): Column[] {
  const of =
    (name: keyof Results) =>
    (row: Row): number | null | undefined =>
      row.results?.[name];
  const unknown = trans.__('unknown');
  const alike = differencesOf(rows).length === 0;
  const column = (
    name: string,
    better: Better,
    value: (row: Row) => number | null | undefined,
    format: (value: number) => string
  ): Column => {
    const values = rows.map(row => (row && value(row)) ?? null);
    const texts = values.map(each => (each === null ? unknown : format(each)));
    const best = bestOf(values, alike ? better : null);
    return { name, values, greatestFirst: better !== 'least', texts, best };
  };
  const share = (value: number): string => percent(value);
  const batches = rows.map(row => row?.work?.batch ?? unknown);
  return [
    {
      name: trans.__('Batch'),
      values: batches.map(each => Number(each.replace(/\D/g, '')) || null),
      texts: batches,
      best: batches.map(() => false)
    },
    column(trans.__('Steps'), null, row => row.step, whole),
    column(trans.__('Loss'), 'least', of('loss'), short),
    column(trans.__('Accuracy'), 'greatest', of('accuracy'), share),
    column(trans.__('Test loss'), 'least', of('test_loss'), short),
    column(trans.__('Test accuracy'), 'greatest', of('test_accuracy'), share),
    column(
      trans.__('Examples/s'),
      'greatest',
      of('examples_per_second'),
      VALUES.rate
    )
  ];
}

/** Return the names of what differs in the work of these runs: model, data, batch. */
export function differencesOf(rows: (Row | undefined)[]): (keyof Work)[] {
  const works = rows.flatMap(row => (row?.work ? [row.work] : []));
  const names: (keyof Work)[] = ['model', 'data', 'batch'];
  return names.filter(name => new Set(works.map(work => work[name])).size > 1);
}

/** Mark the best values, also equal ones; none if all are equal or only one is known. */
export function bestOf(values: (number | null)[], better: Better): boolean[] {
  const known = values.filter(value => value !== null);
  const [least, greatest] = [Math.min(...known), Math.max(...known)];
  const best = better === 'least' ? least : greatest;
  const none = better === null || known.length < 2 || least === greatest;
  return values.map(value => !none && value === best);
}

/** Return a unique name for each run. */
export function namesOf(runs: string[], rows: (Row | undefined)[]): string[] {
  const titles = runs.map((run, at) => rows[at]?.title || run);
  return titles.map((title, at) =>
    titles.indexOf(title) === titles.lastIndexOf(title)
      ? title
      : `${title} (${runs[at]})`
  );
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}
