/** One chart of a run, drawn by uPlot: a line a replica, all together, and the ends of epochs. */

import uPlot from 'uplot';

import type { Chart, Series, Values } from './series.js';
import { account, short } from './words.js';

const REPLICA_COLORS = [
  '#2f81f7',
  '#d9730d',
  '#1a9c5b',
  '#c23fb3',
  '#0e9aa7',
  '#b58900',
  '#e0484f',
  '#7f6df2'
];
const REPLICA_DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3], [12, 5]];
const MEAN_COLOR = '#7a828c';
const TEST_COLOR = '#e0484f';

const HEIGHT = 220;
const SAID_EVERY_MS = 5000;
const TITLES: Record<Chart, string> = {
  loss: 'Loss',
  accuracy: 'Accuracy',
  rate: 'Examples a second of call time'
};

/** A line of a chart: what it is called and how it is drawn. */
export interface Line {
  name: string;
  color: string;
  look: Partial<uPlot.Series>;
}

/** The lines of a chart in the order of its data: what several give together lies below them. */
export function linesOf(series: Series, chart: Chart): Line[] {
  const kind = series.virtual ? 'virtual replica' : 'replica';
  const replicas = Array.from({ length: series.replicas }, (_, number) => ({
    name: `${kind} ${number}`,
    color: REPLICA_COLORS[number % REPLICA_COLORS.length]!,
    look: { width: 1, dash: REPLICA_DASHES[number % REPLICA_DASHES.length]! }
  }));
  const joined: Line = {
    name: chart === 'rate' ? 'all: sum' : 'all: weighted mean',
    color: MEAN_COLOR,
    look: { width: 2 }
  };
  const below = series.replicas > 1 ? [joined] : [];
  const mark = { spanGaps: true, points: { show: true, size: 7 } };
  const ends: Line[] = [
    {
      name: 'train, whole epoch',
      color: MEAN_COLOR,
      look: { ...mark, width: 0 }
    },
    {
      name: 'test, after the epoch',
      color: TEST_COLOR,
      look: { ...mark, width: 1, dash: [2, 3] }
    }
  ];
  return [...below, ...replicas, ...(chart === 'rate' ? [] : ends)];
}

/** What uPlot draws: steps and the lines, the ends of epochs put in where they belong. */
export function table(series: Series, chart: Chart): uPlot.AlignedData {
  const sent = series.lines(chart);
  const below = series.replicas > 1 ? sent.slice(-1) : [];
  const lines = [...below, ...sent.slice(0, -1)];
  if (chart === 'rate') {
    return [series.steps, ...lines];
  }
  const { step, loss, accuracy, testLoss, testAccuracy } = series.epochs;
  const ends: Values[] =
    chart === 'loss' ? [loss, testLoss] : [accuracy, testAccuracy];
  if (step.length === 0) {
    const none = series.steps.map(() => null);
    return [series.steps, ...lines, none, none];
  }
  return uPlot.join([
    [series.steps, ...lines],
    [step, ...ends]
  ]);
}

/** One chart and its account in words. */
export class Plot {
  readonly node = document.createElement('figure');
  private readonly _title = document.createElement('figcaption');
  private readonly _place = document.createElement('div');
  private readonly _words = document.createElement('p');
  private _plot: uPlot | null = null;
  private _lines: Line[] = [];
  private _account = '';
  private _saidAt = 0;
  private _zoomed = false;

  constructor(
    private readonly _chart: Chart,
    private readonly _sync: string
  ) {
    this.node.className = 'wb-plot';
    this.node.setAttribute('role', 'group');
    this._words.className = 'wb-plot-words';
    this._place.className = 'wb-plot-place';
    this.node.append(this._title, this._place, this._words);
  }

  /** Draw these points, which may be of another run than before. */
  draw(series: Series, hidden: ReadonlySet<string>): void {
    const virtual =
      this._chart === 'rate' && series.virtual ? ' (virtual)' : '';
    this._title.textContent = TITLES[this._chart] + virtual;
    this.node.setAttribute('aria-label', this._title.textContent);
    const lines = linesOf(series, this._chart);
    const data = table(series, this._chart);
    if (this._plot === null || names(lines) !== names(this._lines)) {
      this._make(lines, data);
    } else {
      this._plot.setData(data, !this._zoomed);
      if (this._zoomed) {
        this._plot.redraw();
      }
    }
    lines.forEach(({ name }, index) => {
      const show = !hidden.has(name);
      if (this._plot!.series[index + 1]!.show !== show) {
        this._plot!.setSeries(index + 1, { show });
      }
    });
    this._say(series);
  }

  /** Take the room there is. */
  resize(): void {
    const width = this._place.clientWidth;
    if (this._plot !== null && width > 0 && this._plot.width !== width) {
      this._plot.setSize({ width, height: HEIGHT });
    }
  }

  /** Draw again in the colours of now. */
  recolor(): void {
    this._plot?.redraw(false, true);
  }

  destroy(): void {
    this._plot?.destroy();
    this._plot = null;
  }

  private _make(lines: Line[], data: uPlot.AlignedData): void {
    this.destroy();
    this._lines = lines;
    this._zoomed = false;
    const percent = this._chart === 'accuracy';
    this._plot = new uPlot(
      {
        width: this._place.clientWidth || 400,
        height: HEIGHT,
        legend: { show: false },
        cursor: {
          sync: { key: this._sync, setSeries: false },
          points: { show: false }
        },
        scales: {
          x: { time: false },
          y: {
            range: (_, low, high) => range(low, high, this._chart === 'rate')
          }
        },
        axes: [
          {
            ...this._axis(),
            size: 30,
            values: (_, ticks) => ticks.map(compact)
          },
          {
            ...this._axis(),
            size: 52,
            values: (_, ticks) =>
              ticks.map(tick =>
                percent ? `${short(100 * tick)} %` : compact(tick)
              )
          }
        ],
        series: [{}, ...lines.map(drawn)],
        hooks: {
          setCursor: [plot => this._read(plot)],
          setSelect: [plot => (this._zoomed ||= plot.select.width > 0)]
        }
      },
      data,
      this._place
    );
    this._place.firstElementChild?.addEventListener('dblclick', () => {
      this._zoomed = false;
    });
  }

  private _axis(): uPlot.Axis {
    return {
      stroke: () => this._style('--wb-muted', '#59636e'),
      grid: {
        stroke: () => this._style('--wb-grid', 'rgba(128,128,128,0.25)'),
        width: 1
      },
      ticks: { show: false },
      font: '11px system-ui, sans-serif'
    };
  }

  private _style(name: string, otherwise: string): string {
    return (
      getComputedStyle(this.node).getPropertyValue(name).trim() || otherwise
    );
  }

  /** Tell the exact values under the pointer in place of the account. */
  private _read(plot: uPlot): void {
    const index = plot.cursor.idx;
    if (index === null || index === undefined) {
      this._words.textContent = this._account;
      return;
    }
    const parts = this._lines.flatMap(({ name }, line) => {
      const value = plot.data[line + 1]?.[index];
      const shown = plot.series[line + 1]!.show;
      return shown && value !== null && value !== undefined
        ? [`${name} ${Number(value.toPrecision(6))}`]
        : [];
    });
    const step = plot.data[0][index]!.toLocaleString('en');
    this._words.textContent = `step ${step}: ${parts.join(', ') || 'no point'}`;
  }

  private _say(series: Series): void {
    const now = Date.now();
    if (now - this._saidAt >= SAID_EVERY_MS || this._account === '') {
      this._saidAt = now;
      this._account = account(series, this._chart);
    }
    if (
      this._plot?.cursor.idx === null ||
      this._plot?.cursor.idx === undefined
    ) {
      this._words.textContent = this._account;
    } else {
      this._read(this._plot);
    }
  }
}

function names(lines: Line[]): string {
  return lines.map(line => line.name).join();
}

function drawn({ name, color, look }: Line): uPlot.Series {
  return {
    label: name,
    stroke: color,
    ...look,
    points: { show: false, stroke: color, fill: color, ...look.points }
  };
}

function range(low: number, high: number, fromZero: boolean): [number, number] {
  if (low === null || high === null || !Number.isFinite(low)) {
    return [0, 1];
  }
  const room = (high - low || Math.abs(high) || 1) * 0.05;
  return [fromZero ? 0 : low - room, high + room];
}

function compact(value: number): string {
  const format = new Intl.NumberFormat('en', {
    notation: 'compact',
    maximumSignificantDigits: 4
  });
  return Math.abs(value) < 1 && value !== 0
    ? short(value)
    : format.format(value);
}
