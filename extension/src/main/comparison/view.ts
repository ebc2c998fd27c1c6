/** Several runs side by side: one chart, a line each, and a table. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { make, setText } from '../../runview/elements.js';
import { DrawThrottle } from '../../runview/drawThrottle.js';
import { Sight } from '../../runview/sight.js';
import type { IWorkbenchServer } from '../../server/plugin.js';
import type { Row, RunsUpdate } from '../../server/protocol.js';
import { Requests } from '../../server/requests.js';
import { RunRows } from '../../server/runs.js';
import type { Stream } from '../../server/stream.js';
import { ComparisonChart } from './chart.js';
import { namesOf } from './columns.js';
import { Curves } from './curves.js';
import type { Curve } from './drawing.js';
import type { Order } from './order.js';
import { ComparisonTable, type Member } from './table.js';

/** Which runs are compared, and in which order they are listed. */
export interface Compared {
  runs: string[];
  folder: string;
  /** The order of the table; null: as listed. */
  order: Order | null;
}

/** The callbacks of a comparison to its panel. */
interface Callbacks {
  open: (run: string, title: string) => void;
  /** Called when its runs or their order have changed. */
  changed: () => void;
}

export class ComparisonView {
  readonly node = make('section', 'wbv jp-WorkbenchCompare');
  private readonly _rows = new RunRows();
  private readonly _curves: Curves;
  private readonly _throttle = new DrawThrottle(() => this._show());
  private readonly _chart: ComparisonChart;
  private readonly _table: ComparisonTable;
  private readonly _body = make('div');
  private readonly _note = make('p', 'wbv-notice wbv-warning');
  private readonly _empty = make('p', 'wbv-quiet');
  private readonly _sight: Sight;
  /** A run keeps its number, and so the style of its line, when others are removed. */
  private readonly _numbers: Map<string, number>;
  private _unwatch: (() => void) | null = null;
  private readonly _link = (_: Stream, up: boolean): void =>
    this._showConnection(up);

  constructor(
    private readonly _server: IWorkbenchServer,
    private readonly _compared: Compared,
    private readonly _trans: TranslationBundle,
    private readonly _callbacks: Callbacks
  ) {
    const { runs, folder, order } = _compared;
    this._numbers = new Map(runs.map((run, at) => [run, at]));
    const requests = new Requests(_server.requests.settings, folder, _trans);
    this._curves = new Curves(requests, () => this._throttle.drawSoon());
    this._chart = new ComparisonChart(_trans);
    this._table = new ComparisonTable(order, _trans, {
      open: ({ run, row }) => _callbacks.open(run, row?.title ?? run),
      remove: ({ run }) => this._remove(run),
      sorted: changed => {
        _compared.order = changed;
        _callbacks.changed();
      }
    });
    this.node.setAttribute('aria-label', _trans.__('Comparison of runs'));
    this._note.setAttribute('role', 'status');
    this._body.append(this._chart.node, this._table.node);
    this.node.append(this._note, this._empty, this._body);
    this._sight = new Sight(this.node, seen => this._look(seen));
    _server.stream.connectedChanged.connect(this._link);
    this._showConnection(true);
    this._look(true);
    this._show();
  }

  destroy(): void {
    this._look(false);
    this._server.stream.connectedChanged.disconnect(this._link);
    this._sight.destroy();
    this._curves.destroy();
    this._throttle.destroy();
    this._chart.destroy();
  }

  /** Watch the runs while the view is visible. */
  private _look(seen: boolean): void {
    if (!seen) {
      this._unwatch?.();
      this._unwatch = null;
      return;
    }
    const { stream, choices } = this._server;
    const { folder } = this._compared;
    this._unwatch ??= stream.watch(
      'runs',
      folder,
      choices.runsSeconds,
      update => {
        this._rows.take(update as RunsUpdate);
        this._show();
      }
    );
  }

  private _showConnection(connected: boolean): void {
    this._note.hidden = connected;
    setText(
      this._note,
      this._trans.__(
        'No connection to the server. Training continues without it, and this view updates when the server is back.'
      )
    );
  }

  private _remove(run: string): void {
    const { runs } = this._compared;
    runs.splice(runs.indexOf(run), 1);
    this._show();
    this._table.node.focus();
    this._callbacks.changed();
  }

  private _show(): void {
    const { runs } = this._compared;
    const rows = runs.map(run => this._rows.of(run));
    this._curves.follow(rows.filter((row): row is Row => row !== undefined));
    const known = this._rows.whole || rows.some(row => row !== undefined);
    this._body.hidden = runs.length === 0 || !known;
    this._empty.hidden = !this._body.hidden;
    setText(this._empty, this._emptyText(runs));
    if (!this._body.hidden) {
      this._table.show(this._members(rows));
      this._chart.show(this._lines(rows));
    }
  }

  private _emptyText(runs: string[]): string {
    return runs.length === 0
      ? this._trans.__(
          'No runs to compare. Select runs in the list of runs, then click Compare.'
        )
      : this._rows.error || this._trans.__('Reading the runs ...');
  }

  private _members(rows: (Row | undefined)[]): Member[] {
    const { runs } = this._compared;
    const names = namesOf(runs, rows);
    const gone = this._trans.__('This run no longer exists.');
    return runs.map((run, at) => ({
      run,
      name: names[at]!,
      number: this._numbers.get(run)!,
      row: rows[at],
      error:
        rows[at] === undefined && this._rows.whole
          ? gone
          : this._curves.troubleOf(run)
    }));
  }

  private _lines(rows: (Row | undefined)[]): Curve[] {
    const names = namesOf(this._compared.runs, rows);
    return this._compared.runs.flatMap((run, at) => {
      const series = this._curves.seriesOf(run);
      const number = this._numbers.get(run)!;
      const examplesPerSecond = rows[at]?.results?.examples_per_second ?? null;
      const name = names[at]!;
      return series === null
        ? []
        : [{ name, number, series, examplesPerSecond }];
    });
  }
}
