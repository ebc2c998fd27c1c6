/** The charts of a run with their legend: one view, in a notebook now and in a panel later. */

import { linesOf, Plot, type Line } from './plot.js';
import { CHARTS, Series, type PointsMessage } from './series.js';

const HINT =
  'Drag over a chart to zoom in, double-click to see all; click a name to hide it.';
let views = 0;

/** Draws at most once a frame, and nothing while the page is hidden. */
export class RunCharts {
  readonly node = document.createElement('div');
  private _series = new Series();
  private readonly _plots: Plot[];
  private readonly _legend = document.createElement('div');
  private readonly _note = document.createElement('p');
  private readonly _hidden = new Set<string>();
  private readonly _observer: ResizeObserver;
  private readonly _themes: MutationObserver;
  private _named = '';
  private _frame = 0;

  /** `ask` is called where the whole must be sent: a message was lost. */
  constructor(private readonly _ask: () => void) {
    const sync = `workbench-${views++}`;
    this._plots = CHARTS.map(chart => new Plot(chart, sync));
    this.node.className = 'wb-plots';
    this._legend.className = 'wb-plots-legend';
    this._note.className = 'wb-plots-note';
    const grid = document.createElement('div');
    grid.className = 'wb-plots-grid';
    grid.append(...this._plots.map(plot => plot.node));
    this.node.append(this._legend, grid, this._note);
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

  /** Take a message of the kernel in and show it at the next frame. */
  take(message: PointsMessage, buffers: DataView[]): void {
    if (!this._series.take(message, buffers)) {
      this._ask();
      return;
    }
    this._frame ||= requestAnimationFrame(() => this._draw());
  }

  destroy(): void {
    cancelAnimationFrame(this._frame);
    this._observer.disconnect();
    this._themes.disconnect();
    this._plots.forEach(plot => plot.destroy());
  }

  private _draw(): void {
    this._frame = 0;
    this._plots.forEach(plot => plot.draw(this._series, this._hidden));
    this._nameLines();
    const many = this._series.stepsAPoint;
    const each =
      many > 1
        ? ` Each point is the mean of ${many.toLocaleString('en')} steps.`
        : '';
    this._note.textContent = HINT + each;
    this.node.dataset.points = String(this._series.steps.length);
    this.node.dataset.first = String(this._series.steps[0] ?? '');
    this.node.dataset.last = String(this._series.steps.at(-1) ?? '');
  }

  private _nameLines(): void {
    const lines = new Map(
      CHARTS.flatMap(chart => linesOf(this._series, chart)).map(line => [
        line.name,
        line
      ])
    );
    const named = [...lines.keys()].join();
    if (named !== this._named) {
      this._named = named;
      const keys = [...lines.values()].map(line => this._key(line));
      this._legend.replaceChildren(...keys);
    }
  }

  private _key({ name, color }: Line): HTMLElement {
    const key = document.createElement('button');
    key.type = 'button';
    key.className = 'wb-plots-key';
    key.textContent = name;
    key.setAttribute('aria-pressed', String(!this._hidden.has(name)));
    key.style.setProperty('--wb-key', color);
    key.addEventListener('click', () => {
      if (!this._hidden.delete(name)) {
        this._hidden.add(name);
      }
      key.setAttribute('aria-pressed', String(!this._hidden.has(name)));
      this._plots.forEach(plot => plot.draw(this._series, this._hidden));
    });
    return key;
  }
}
