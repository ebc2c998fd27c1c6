/** The three charts of a run with their toolbar and legend: one zoom, one set of lines. */

import { indexAt } from './curves.js';
import { drawingOf, type Shown } from './drawing.js';
import { make, setText } from './elements.js';
import type { Translation } from './language.js';
import { Legend } from './legend.js';
import { DrawThrottle } from './drawThrottle.js';
import { Plot, type Range } from './plot.js';
import type { SnapshotParts } from './protocol.js';
import { CHARTS, Series, type Axis } from './series.js';
import { speedOf } from './speed.js';
import { moveOf, Toolbar, type Move } from './toolbar.js';
import { moved } from './zoom.js';

const ASK_AFTER_MS = 150;
const RENEW_MS = 1000;
const PATIENCE_MS = 60_000;
let views = 0;

/** Requests the steps `first` to `last` in at most `most` points. */
export type AskCloser = (first: number, last: number, most: number) => void;

/** The charts of a run with their toolbar and legend. */
export class RunCharts {
  readonly node = make('div', 'wbv-charts');
  private _series = new Series();
  private _known: Partial<SnapshotParts> = {};
  /** The points of a part in more detail, and its range. */
  private _closer: { series: Series; range: Range } | null = null;
  /** The requested part; there is one request at a time. */
  private _pending: Range | null = null;
  private _zoom: Range | null = null;
  private readonly _toolbar: Toolbar;
  private readonly _plots: Plot[];
  private readonly _legend = new Legend(() => this.drawSoon());
  private readonly _note = make('p', 'wbv-quiet');
  private readonly _observer: ResizeObserver;
  private readonly _themes: MutationObserver;
  private _axis: Axis = 'step';
  private readonly _throttle = new DrawThrottle(() => this._draw());
  private _askTimer = 0;
  private _askedAt = 0;

  constructor(
    private readonly _ask: AskCloser,
    private readonly _trans: Translation
  ) {
    const sync = `workbench-${views++}`;
    this._toolbar = new Toolbar(
      () => this._treat(),
      move => this._move(move),
      _trans
    );
    this._plots = CHARTS.map(
      () =>
        new Plot(
          sync,
          range => this._see(range),
          point => this._plots.forEach(plot => plot.point(point)),
          _trans
        )
    );
    this.node.hidden = true;
    const grid = make('div', 'wbv-grid', ...this._plots.map(plot => plot.node));
    this.node.append(this._toolbar.node, grid, this._legend.node, this._note);
    this.node.addEventListener('keydown', event => this._onKey(event));
    this._observer = new ResizeObserver(() =>
      this._plots.forEach(plot => plot.resize())
    );
    this._observer.observe(grid);
    this._themes = new MutationObserver(() =>
      this._plots.forEach(plot => plot.recolor())
    );
    for (const themed of [document.documentElement, document.body]) {
      this._themes.observe(themed, { attributes: true });
    }
  }

  /** Show these points of a run, soon. */
  show(known: Partial<SnapshotParts>, series: Series): void {
    this._known = known;
    this._series = series;
    if (this._zoom !== null && Date.now() - this._askedAt > RENEW_MS) {
      this._askTimer ||= window.setTimeout(() => this._askNow(), ASK_AFTER_MS);
    }
    this.drawSoon();
  }

  /** Start again with another run: all of it is shown. */
  reset(): void {
    this._see(null);
    this._closer = null;
    this._pending = null;
  }

  /** Show the requested part instead of the same part of the complete run. */
  showCloser(series: Series): void {
    if (this._pending !== null) {
      this._closer = { series, range: this._pending };
      this._pending = null;
      if (this._zoom !== this._closer.range) {
        this._askSoon();
      }
      this.drawSoon();
    }
  }

  /** Draw at the next frame, or as soon as the page has rested. */
  drawSoon(): void {
    this._throttle.drawSoon();
  }

  destroy(): void {
    this._throttle.destroy();
    window.clearTimeout(this._askTimer);
    this._observer.disconnect();
    this._themes.disconnect();
    this._plots.forEach(plot => plot.destroy());
  }

  private _draw(): void {
    this.node.hidden = this._series.length === 0;
    const series = this._closerOf(this._zoom) ?? this._series;
    if (!this.node.hidden) {
      this._drawAll(series);
    }
    const { dataset } = this.node;
    dataset.points = String(series.length);
    dataset.first = String(series.steps[0] ?? '');
    dataset.last = String(series.steps.at(-1) ?? '');
    dataset.each = String(series.stepsAPoint);
  }

  private _drawAll(series: Series): void {
    this._toolbar.measure(this._series.steps.at(-1) ?? 0);
    const shown: Shown = {
      run: this._known.head?.id ?? 'run',
      series,
      epochs: this._known.epochs,
      speed: speedOf(this._known, this._trans),
      treatment: this._toolbar.treatment,
      hidden: this._legend.hidden,
      zoom: this._zoom,
      trans: this._trans
    };
    const drawings = CHARTS.map(chart => drawingOf(chart, shown));
    this._plots.forEach((plot, at) => plot.draw(drawings[at]!));
    this._plots[1]!.node.hidden = !series.hasAccuracy;
    this._legend.show(drawings.flatMap(({ lines }) => lines));
    setText(this._note, hints(series, this._trans).join(' '));
  }

  /** Return the closer part if it covers the visible range. */
  private _closerOf(zoom: Range | null): Series | null {
    const range = this._closer?.range;
    const covers =
      zoom && range && range.min <= zoom.min && zoom.max <= range.max;
    return covers ? this._closer!.series : null;
  }

  private _treat(): void {
    const { axis } = this._toolbar.treatment;
    if (axis !== this._axis) {
      this._axis = axis;
      this.reset();
    }
    this.drawSoon();
  }

  private _move(move: Move): void {
    const across = this._series.across(this._axis);
    const all = { min: across[0] ?? 0, max: across.at(-1) ?? 1 };
    this._see(moved(this._zoom, all, move));
  }

  private _onKey(event: KeyboardEvent): void {
    const move = moveOf(event);
    if (move !== undefined && !(event.target instanceof HTMLSelectElement)) {
      event.preventDefault();
      event.stopPropagation();
      this._move(move);
    }
  }

  private _see(zoom: Range | null): void {
    this._zoom = zoom;
    if (zoom !== null) {
      this._askSoon();
    }
    this.drawSoon();
  }

  private _askSoon(): void {
    window.clearTimeout(this._askTimer);
    this._askTimer = window.setTimeout(() => this._askNow(), ASK_AFTER_MS);
  }

  private _askNow(): void {
    this._askTimer = 0;
    const zoom = this._zoom;
    const { steps, stepsAPoint, length } = this._series;
    const waits = this._pending && Date.now() - this._askedAt < PATIENCE_MS;
    if (zoom === null || waits || stepsAPoint === 1 || length === 0) {
      return;
    }
    this._pending = zoom;
    const across = this._series.across(this._axis);
    const at = (value: number): number =>
      Math.min(length - 1, indexAt(across, value));
    this._askedAt = Date.now();
    const first = steps[at(zoom.min)]! - stepsAPoint;
    const columns = Math.max(...this._plots.map(plot => plot.columns));
    this._ask(Math.max(0, first), steps[at(zoom.max)]! - 1, columns);
  }
}

/** Return how to use the charts, and what their points and lines are. */
function hints(series: Series, trans: Translation): string[] {
  const many = series.stepsAPoint;
  const each = trans.__(
    'Each point is the mean of %1 steps.',
    many.toLocaleString('en')
  );
  const apart = trans.__(
    'Each worker counts its own steps, so there is no curve for all workers. The results of each epoch are in the table below.'
  );
  return [
    trans.__(
      'Drag over a chart to zoom in, double-click to see all. Arrow keys read a chart point by point. Click a name to hide its curve.'
    ),
    ...(many > 1 ? [each] : []),
    ...(series.synchronous ? [] : [apart])
  ];
}
