/** A run's most important numbers, as large figures. */

import { make, setText } from './elements.js';
import type { Translation } from './language.js';
import type { Account, Epochs } from './protocol.js';
import type { Chart, Series, Values } from './series.js';
import { spanOf, USUAL } from './smoothing.js';
import { duration, percent, significant, VALUES } from './words.js';

const UNKNOWN = '–';

/** A number with its name, and what it is a number of. */
export interface Figure {
  name: string;
  value: string;
  note: string;
}

type Known = Pick<Partial<Account>, 'head' | 'progress' | 'epochs' | 'ledger'>;

export class Figures {
  readonly node = make('div', 'wbv-figures');
  private readonly _list = make('dl');
  private readonly _cells = new Map<string, HTMLElement[]>();

  constructor(private readonly _trans: Translation) {
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', _trans.__('Numbers at a glance'));
    this.node.append(this._list);
    this.node.hidden = true;
  }

  /** Show the numbers of a run; a run without points has none. */
  show(known: Known, series: Series): void {
    this.node.hidden = series.length === 0;
    const figures = this.node.hidden
      ? []
      : figuresOf(known, series, this._trans);
    const names = figures.map(({ name }) => name);
    if (names.join() !== [...this._cells.keys()].join()) {
      this._cells.clear();
      this._list.replaceChildren(...names.map(name => this._add(name)));
    }
    for (const { name, value, note } of figures) {
      const [number, more] = this._cells.get(name)!;
      setText(number!, value);
      setText(more!, note);
    }
  }

  private _add(name: string): HTMLElement {
    const cells = [make('dd', 'wbv-figure'), make('dd', 'wbv-quiet')];
    this._cells.set(name, cells);
    return make('div', '', make('dt', '', name), ...cells);
  }
}

/** Return the numbers of a run: of its newest steps while it trains, else of its last epoch. */
export function figuresOf(
  { head, progress, epochs, ledger }: Known,
  series: Series,
  trans: Translation
): Figure[] {
  const alive = head?.alive ?? false;
  const train = (name: string, chart: 'loss' | 'accuracy'): Figure =>
    (alive ? null : ended(name, epochs, chart, trans)) ??
    recent(name, series, chart, trans);
  const tested =
    ended(trans.__('Test accuracy'), epochs, 'testAccuracy', trans) ??
    (alive ? figure(trans.__('Test accuracy'), null) : null);
  return [
    train(trans.__('Loss'), 'loss'),
    ...(series.hasAccuracy ? [train(trans.__('Accuracy'), 'accuracy')] : []),
    ...(series.hasAccuracy && tested ? [tested] : []),
    alive ? recentRate(series, trans) : usualRate(series, trans),
    alive
      ? figure(
          trans.__('Time left'),
          seconds(progress?.etaSeconds),
          trans.__('at this speed')
        )
      : figure(
          trans.__('Duration'),
          seconds(total(ledger)),
          trans.__('of the whole run')
        )
  ];
}

/** Return the newest known result of an epoch; null if there is none. */
function ended(
  name: string,
  epochs: Epochs | undefined,
  of: 'loss' | 'accuracy' | 'testAccuracy',
  trans: Translation
): Figure | null {
  const at = epochs?.[of].findLastIndex(value => value !== null) ?? -1;
  if (at < 0) {
    return null;
  }
  const value = epochs![of][at]!;
  const text = of === 'loss' ? significant(value) : percent(value);
  return figure(name, text, trans.__('epoch %1', epochs!.epoch[at]));
}

/** Return the mean of the newest steps; workers with their own steps have no common one. */
function recent(
  name: string,
  series: Series,
  chart: Chart,
  trans: Translation
): Figure {
  const [points, note] = newest(series, trans);
  const value = meanOf(lineOf(series, chart).slice(-points));
  const text = chart === 'loss' ? significant : percent;
  return figure(name, value === null ? null : text(value), note);
}

function recentRate(series: Series, trans: Translation): Figure {
  const [points, note] = newest(series, trans);
  const rates = ratesOf(series).map(line => meanOf(line.slice(-points)));
  return figure(trans.__('Examples per second'), rateText(rates), note);
}

/** Return the median rate: the first call, which may trace, does not count. */
function usualRate(series: Series, trans: Translation): Figure {
  const rates = ratesOf(series).map(medianOf);
  return figure(
    trans.__('Examples per second'),
    rateText(rates),
    trans.__('median')
  );
}

/** Return how many points are the newest, and what the note says of them. */
function newest(series: Series, trans: Translation): [number, string] {
  const steps = series.steps.at(-1)!;
  const span = Math.max(spanOf(USUAL, steps), series.stepsAPoint);
  const note =
    span === 1
      ? trans.__('step %1', steps.toLocaleString('en'))
      : trans.__('last %1 steps', span.toLocaleString('en'));
  return [Math.round(span / series.stepsAPoint), note];
}

/** Return the line of all replicas; none if each worker has steps of its own. */
function lineOf(series: Series, chart: Chart): Values {
  const { joined, mean } = series.curve(chart);
  return series.joins ? joined : mean.length === 1 ? mean[0]! : [];
}

/** Return the lines whose rates add up to the rate of the run. */
function ratesOf(series: Series): Values[] {
  return series.synchronous
    ? [lineOf(series, 'rate')]
    : series.curve('rate').mean;
}

function rateText(rates: (number | null)[]): string | null {
  const known = rates.filter(rate => rate !== null);
  return known.length === 0
    ? null
    : VALUES.rate(known.reduce((sum, rate) => sum + rate, 0));
}

function meanOf(values: Values): number | null {
  const known = values.filter(value => value !== null);
  return known.length === 0
    ? null
    : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function medianOf(values: Values): number | null {
  const known = values.filter(value => value !== null).sort((a, b) => a - b);
  return known[known.length >> 1] ?? null;
}

function total(ledger: Account['ledger'] | undefined): number | null {
  return ledger && ledger.whole.length > 0
    ? ledger.whole.reduce((sum, [, seconds]) => sum + seconds, 0)
    : null;
}

function seconds(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : duration(value);
}

function figure(name: string, value: string | null, note = ''): Figure {
  return { name, value: value ?? UNKNOWN, note: value === null ? '' : note };
}
