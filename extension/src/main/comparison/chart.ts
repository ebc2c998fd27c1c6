/** The chart of several runs with its toolbar and legend. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { make, named } from '../../runview/elements.js';
import { Legend } from '../../runview/legend.js';
import { Plot, type Range } from '../../runview/plot.js';
import { CHARTS, type Chart } from '../../runview/series.js';
import { choice, moveOf, Toolbar, type Move } from '../../runview/toolbar.js';
import { moved } from '../../runview/zoom.js';
import { drawingOf, type Curve } from './drawing.js';

let charts = 0;

export class ComparisonChart {
  readonly node = make('div', 'wbv-charts');
  private readonly _chart: HTMLSelectElement;
  private readonly _toolbar: Toolbar;
  private readonly _legend = new Legend(() => this._draw());
  private readonly _plot: Plot;
  private readonly _sizes: ResizeObserver;
  private readonly _themes: MutationObserver;
  private _curves: Curve[] = [];
  private _zoom: Range | null = null;
  private _across = '';

  constructor(private readonly _trans: TranslationBundle) {
    const labels = {
      loss: _trans.__('loss'),
      accuracy: _trans.__('accuracy'),
      rate: _trans.__('examples per second')
    };
    this._chart = choice(CHARTS.map(chart => [chart, labels[chart]]));
    this._chart.addEventListener('change', () => this._draw());
    this._toolbar = new Toolbar(
      () => this._draw(),
      move => this._move(move),
      _trans
    );
    this._toolbar.node.prepend(named(_trans.__('Show'), this._chart));
    this._plot = new Plot(
      `workbench-comparison-${charts++}`,
      range => this._see(range),
      point => this._plot.point(point),
      _trans
    );
    this.node.append(this._toolbar.node, this._legend.node, this._plot.node);
    this.node.addEventListener('keydown', event => this._onKey(event));
    this._sizes = new ResizeObserver(() => this._plot.resize());
    this._sizes.observe(this.node);
    this._themes = new MutationObserver(() => this._plot.recolor());
    this._themes.observe(document.body, { attributes: true });
  }

  show(curves: Curve[]): void {
    this._curves = curves;
    this._draw();
  }

  destroy(): void {
    this._sizes.disconnect();
    this._themes.disconnect();
    this._plot.destroy();
  }

  private _draw(): void {
    const ends = this._curves.map(({ series }) => series.step.at(-1) ?? 0);
    this._toolbar.measure(Math.max(0, ...ends));
    const { treatment } = this._toolbar;
    if (treatment.axis !== this._across) {
      this._across = treatment.axis;
      this._zoom = null;
    }
    const drawing = drawingOf({
      curves: this._curves,
      chart: this._chart.value as Chart,
      treatment,
      hidden: this._legend.hidden,
      zoom: this._zoom,
      trans: this._trans
    });
    this._legend.show(drawing.lines);
    this._plot.draw(drawing);
    this.node.dataset.points = String(drawing.data[0].length);
    this.node.dataset.last = String(
      drawing.data[0][drawing.data[0].length - 1] ?? ''
    );
  }

  private _move(move: Move): void {
    const across = this._plot.across;
    const all = { min: across[0] ?? 0, max: across[across.length - 1] ?? 1 };
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
    this._draw();
  }
}
