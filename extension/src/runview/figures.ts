/** A run's most important numbers, as large figures. */

import { make, setText } from './elements.js';
import type { Translation } from './language.js';
import type { SnapshotParts } from './protocol.js';
import type { Chart, Series, Values } from './series.js';
import { speedOf } from './speed.js';
import { endPoints } from './trend.js';
import { duration, percent, significant, VALUES } from './words.js';

const UNKNOWN = '–';

/** A number with its name, and what it is a number of. */
export interface Figure {
  name: string;
  value: string;
  note: string;
  /** Its definition; may be empty. */
  tip: string;
}

type Known = Pick<
  Partial<SnapshotParts>,
  'head' | 'progress' | 'epochs' | 'results'
>;

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
    for (const { name, value, note, tip } of figures) {
      const [number, more] = this._cells.get(name)!;
      number!.parentElement!.title = tip;
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
  known: Known,
  series: Series,
  trans: Translation
): Figure[] {
  const { head, progress, results } = known;
  const alive = head?.alive ?? false;
  const train = (name: string, chart: 'loss' | 'accuracy'): Figure =>
    (alive ? null : ended(name, known, chart, trans)) ??
    recent(name, series, chart, trans);
  const tested = alive
    ? lastTest(known, trans)
    : ended(trans.__('Test accuracy'), known, 'testAccuracy', trans);
  const { examplesPerSecond, note, tip } = speedOf(known, trans);
  const speed =
    examplesPerSecond === null ? null : VALUES.rate(examplesPerSecond);
  return [
    train(trans.__('Loss'), 'loss'),
    ...(series.hasAccuracy ? [train(trans.__('Accuracy'), 'accuracy')] : []),
    ...(series.hasAccuracy && tested ? [tested] : []),
    figure(trans.__('Examples per second'), speed, note, tip),
    alive
      ? figure(
          trans.__('Time left'),
          seconds(progress?.etaSeconds),
          trans.__('at this speed')
        )
      : figure(
          trans.__('Duration'),
          seconds(results?.seconds),
          trans.__('of the whole run'),
          trans.__('Total of all attempts, without time in the queue')
        )
  ];
}

/** Return the newest test accuracy of a run that is alive; null if it has no tests. */
function lastTest({ head, epochs }: Known, trans: Translation): Figure | null {
  if (head?.tested === false) {
    return null;
  }
  const accuracy = epochs?.testAccuracy ?? [];
  const at = accuracy.findLastIndex(value => value !== null);
  const value = at < 0 ? null : percent(accuracy[at]!);
  const note = trans.__('epoch %1', epochs?.epoch[at] ?? 0);
  return figure(trans.__('Test accuracy'), value, note);
}

/** Return a result of the last epoch of a run that is over; null if it is not known. */
function ended(
  name: string,
  { results, epochs }: Known,
  of: 'loss' | 'accuracy' | 'testAccuracy',
  trans: Translation
): Figure | null {
  const value = results?.[of] ?? null;
  const text = of === 'loss' ? significant : percent;
  const note = trans.__('epoch %1', epochs?.epoch.at(-1) ?? 0);
  return value === null ? null : figure(name, text(value), note);
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

/** Return how many points are the newest, and what the note says of them. */
function newest(series: Series, trans: Translation): [number, string] {
  const steps = series.steps.at(-1)!;
  const points = endPoints(steps, series.stepsAPoint);
  const span = points * series.stepsAPoint;
  const note =
    span === 1
      ? trans.__('step %1', steps.toLocaleString('en'))
      : trans.__('last %1 steps', span.toLocaleString('en'));
  return [points, note];
}

/** Return the line of all replicas; none if each worker has steps of its own. */
function lineOf(series: Series, chart: Chart): Values {
  const { joined, mean } = series.curve(chart);
  return series.joins ? joined : mean.length === 1 ? mean[0]! : [];
}

function meanOf(values: Values): number | null {
  const known = values.filter(value => value !== null);
  return known.length === 0
    ? null
    : known.reduce((sum, value) => sum + value, 0) / known.length;
}

function seconds(value: number | null | undefined): string | null {
  return value === null || value === undefined ? null : duration(value);
}

function figure(
  name: string,
  value: string | null,
  note = '',
  tip = ''
): Figure {
  const known = value !== null;
  return { name, value: value ?? UNKNOWN, note: known ? note : '', tip };
}
