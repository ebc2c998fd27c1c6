/** One chart, drawn by uPlot, with a summary in words. */

import uPlot from 'uplot';

import type { Line } from './curves.js';
import { make, setText } from './elements.js';
import type { Translation } from './language.js';
import { plotOptions, type Style } from './plotOptions.js';
import { saveButtons } from './save.js';

const HEIGHT = 220;
const NONFINITE_COLOR = '#e0484f';

/** A part of the x axis. */
export interface Range {
  min: number;
  max: number;
}

/** The content of a chart: its lines and texts. */
export interface Drawing {
  title: string;
  /** A short text after the title. */
  remark: string;
  /** The name of a saved picture, without its ending. */
  file: string;
  lines: Line[];
  /** What runs along the x axis, and a row for each line. */
  data: uPlot.AlignedData;
  style: Style;
  /** Points at which a value was not finite. */
  nonfinite: ReadonlySet<number>;
  /** What is seen of the lines, in words. */
  account: string;
  /** Returns the exact values at a point. */
  reading: (point: number) => string;
  /** Names of hidden lines. */
  hidden: ReadonlySet<string>;
  /** The visible part of the x axis; null is all of it. */
  zoom: Range | null;
}

export class Plot {
  readonly node = document.createElement('figure');
  private readonly _title = make('span', 'wbv-plot-title');
  private readonly _remark = make('small');
  private readonly _place = document.createElement('div');
  private readonly _text = document.createElement('p');
  private _plot: uPlot | null = null;
  private _made = '';
  private _drawing: Drawing | null = null;

  /**
   * `sync` joins the pointers of charts; `zoomed` is called with the range that a person chose,
   * `pointed` with the point that they reached by the keyboard.
   */
  constructor(
    private readonly _sync: string,
    private readonly _zoomed: (range: Range | null) => void,
    private readonly _pointed: (point: number | null) => void,
    private readonly _trans: Translation
  ) {
    this.node.className = 'wbv-plot';
    this._text.className = 'wbv-words';
    this._place.className = 'wbv-place';
    this._place.tabIndex = 0;
    this._place.setAttribute('role', 'img');
    this._place.addEventListener('keydown', event => this._onKey(event));
    this._place.addEventListener('blur', () => this._pointed(null));
    const caption = make('figcaption', '', this._title, this._remark);
    caption.append(saveButtons(() => this._drawing, _trans));
    this.node.append(caption, this._place, this._text);
  }

  /** Draw these lines, which may differ from the earlier ones. */
  draw(drawing: Drawing): void {
    this._drawing = drawing;
    const { title, remark, lines, data, style, hidden, zoom } = drawing;
    setText(this._remark, remark);
    this._remark.title = remark;
    if (this._title.textContent !== title) {
      this._title.textContent = title;
      this.node.setAttribute('aria-label', title);
    }
    const made = JSON.stringify([style, lines]);
    if (this._plot === null || made !== this._made) {
      this._make();
      this._made = made;
    } else {
      this._plot.setData(data, false);
    }
    const plot = this._plot!;
    plot.batch(() => {
      const x = data[0];
      const all = { min: x[0] ?? 0, max: x[x.length - 1] ?? 1 };
      plot.setScale('x', zoom ?? (all.min === all.max ? around(all.min) : all));
      lines.forEach(({ name }, index) => {
        const show = !hidden.has(name);
        if (plot.series[index + 1]!.show !== show) {
          plot.setSeries(index + 1, { show });
        }
      });
    });
    this._place.setAttribute('aria-label', drawing.account);
    this._read();
  }

  /** What is drawn along the x axis. */
  get across(): ArrayLike<number> {
    return this._drawing?.data[0] ?? [];
  }

  /** How many columns of the screen the chart takes. */
  get columns(): number {
    return Math.round(this._place.clientWidth * (window.devicePixelRatio || 1));
  }

  /** Put the pointer on a point, or take it away. */
  point(index: number | null): void {
    const plot = this._plot;
    const at = index === null ? undefined : plot?.data[0][index];
    const left = at === undefined ? -10 : plot!.valToPos(at, 'x');
    plot?.setCursor({ left, top: left < 0 ? -10 : 10 });
  }

  /** Fit the available width. */
  resize(): void {
    const width = this._place.clientWidth;
    if (this._plot !== null && width > 0 && this._plot.width !== width) {
      this._plot.setSize({ width, height: HEIGHT });
    }
  }

  /** Draw again in the present colours. */
  recolor(): void {
    this._plot?.redraw(false, true);
  }

  destroy(): void {
    this._plot?.destroy();
    this._plot = null;
  }

  private _make(): void {
    this.destroy();
    const { style, lines, data } = this._drawing!;
    this._plot = new uPlot(
      {
        width: this._place.clientWidth || 400,
        height: HEIGHT,
        legend: { show: false },
        cursor: {
          sync: { key: this._sync, setSeries: false },
          points: { show: false },
          drag: { setScale: false }
        },
        ...plotOptions(style, lines, this.node, this._trans),
        hooks: {
          setCursor: [() => this._read()],
          setSelect: [plot => this._select(plot)],
          draw: [plot => this._mark(plot)]
        }
      },
      data,
      this._place
    );
    this._plot.over.addEventListener('dblclick', () => this._zoomed(null));
  }

  private _select(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width > 0) {
      this._zoomed({
        min: plot.posToVal(left, 'x'),
        max: plot.posToVal(left + width, 'x')
      });
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }
  }

  /** Mark the points at which a value was not finite. */
  private _mark(plot: uPlot): void {
    const { left, top, height, width } = plot.bbox;
    for (const point of this._drawing!.nonfinite) {
      const x = plot.valToPos(plot.data[0][point]!, 'x', true);
      if (x >= left && x <= left + width) {
        plot.ctx.fillStyle = NONFINITE_COLOR;
        plot.ctx.fillRect(x - 1, top, 2, height);
      }
    }
  }

  /** Arrow keys read point by point; the view handles all other keys. */
  private _onKey(event: KeyboardEvent): void {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const plot = this._plot;
    if (by === undefined || event.shiftKey || plot === null) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const last = plot.data[0].length - 1;
    const at = plot.cursor.idx ?? (by > 0 ? -1 : last + 1);
    this._pointed(Math.max(0, Math.min(last, at + by)));
  }

  /** Show the exact values under the pointer instead of the account. */
  private _read(): void {
    const index = this._plot?.cursor.idx;
    const { account, data, reading } = this._drawing!;
    const text =
      index === null || index === undefined || index >= data[0].length
        ? account
        : reading(index);
    if (this._text.textContent !== text) {
      this._text.textContent = text;
    }
  }
}

function around(value: number): Range {
  return { min: value - 1, max: value + 1 };
}
