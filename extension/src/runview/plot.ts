/** One chart of a run, drawn by uPlot: a line a replica, all together, and the ends of epochs. */

import uPlot from 'uplot';

import type { Chart, Series, Values } from './series.js';
import { account, short } from './words.js';

export const REPLICA_COLORS = [
  '#2f81f7',
  '#d9730d',
  '#1a9c5b',
  '#c23fb3',
  '#0e9aa7',
  '#b58900',
  '#e0484f',
  '#7f6df2'
];
export const REPLICA_DASHES = [[], [6, 4], [2, 3], [8, 3, 2, 3], [12, 5]];
export const MEAN_COLOR = '#7a828c';
export const TEST_COLOR = '#e0484f';

const HEIGHT = 220;
const SPOKEN_EVERY_MS = 5000;
const TITLES: Record<Chart, string> = {
  loss: 'Loss',
  accuracy: 'Accuracy',
  rate: 'Examples a second of call time'
};

/** The names of a chart's lines, in the order of its data. */
export function lineNames(series: Series, chart: Chart): string[] {
  const kind = series.virtual ? 'virtual replica' : 'replica';
  const replicas = Array.from(
    { length: series.replicas },
    (_, number) => `${kind} ${number}`
  );
  const joined = chart === 'rate' ? 'all: sum' : 'all: weighted mean';
  const ends =
    chart === 'rate' ? [] : ['train, whole epoch', 'test, after the epoch'];
  return [...replicas, joined, ...ends];
}

/** What uPlot draws: steps and the lines, the ends of epochs put in where they belong. */
export function table(series: Series, chart: Chart): uPlot.AlignedData {
  const lines = series.lines(chart);
  if (chart === 'rate') {
    return [series.steps, ...lines];
  }
  const { step, loss, accuracy, testLoss, testAccuracy } = series.epochs;
  const ends: Values[] =
    chart === 'loss' ? [loss, testLoss] : [accuracy, testAccuracy];
  if (step.length === 0) {
    return [
      series.steps,
      ...lines,
      ...ends.map(() => series.steps.map(() => null))
    ];
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
  private readonly _readout = document.createElement('div');
  private readonly _place = document.createElement('div');
  private readonly _words = document.createElement('p');
  private _plot: uPlot | null = null;
  private _names: string[] = [];
  private _spokenAt = 0;
  private _zoomed = false;

  constructor(
    private readonly _chart: Chart,
    private readonly _sync: string
  ) {
    this.node.className = 'wb-plot';
    this.node.setAttribute('role', 'group');
    this._readout.className = 'wb-plot-readout';
    this._words.className = 'wb-plot-words';
    this._place.className = 'wb-plot-place';
    this.node.append(this._title, this._place, this._readout, this._words);
  }

  /** Draw these points, which may be of another run than before. */
  draw(series: Series, hidden: ReadonlySet<string>): void {
    const virtual =
      this._chart === 'rate' && series.virtual ? ' (virtual)' : '';
    this._title.textContent = TITLES[this._chart] + virtual;
    this.node.setAttribute('aria-label', this._title.textContent);
    const names = lineNames(series, this._chart);
    const data = table(series, this._chart);
    if (this._plot === null || names.join() !== this._names.join()) {
      this._make(names, data, series.replicas);
    } else {
      this._plot.setData(data, !this._zoomed);
      if (this._zoomed) {
        this._plot.redraw();
      }
    }
    this._names = names;
    names.forEach((name, index) => {
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

  private _make(
    names: string[],
    data: uPlot.AlignedData,
    replicas: number
  ): void {
    this.destroy();
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
        series: [
          {},
          ...names.map((name, index) => look(name, index, replicas))
        ],
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

  /** Tell the exact values under the pointer. */
  private _read(plot: uPlot): void {
    const index = plot.cursor.idx;
    if (index === null || index === undefined) {
      this._readout.textContent = '';
      return;
    }
    const parts = this._names.flatMap((name, line) => {
      const value = plot.data[line + 1]?.[index];
      const shown =
        plot.series[line + 1]!.show && value !== null && value !== undefined;
      return shown ? [`${name} ${Number(value.toPrecision(6))}`] : [];
    });
    const step = plot.data[0][index]!.toLocaleString('en');
    this._readout.textContent = `step ${step}: ${parts.join(', ') || 'no point'}`;
  }

  private _say(series: Series): void {
    const now = Date.now();
    if (now - this._spokenAt < SPOKEN_EVERY_MS && this._words.textContent) {
      return;
    }
    this._spokenAt = now;
    this._words.textContent = account(series, this._chart);
  }
}

function look(name: string, index: number, replicas: number): uPlot.Series {
  if (index < replicas) {
    return {
      label: name,
      stroke: REPLICA_COLORS[index % REPLICA_COLORS.length]!,
      dash: REPLICA_DASHES[index % REPLICA_DASHES.length]!,
      width: 1,
      points: { show: false }
    };
  }
  if (index === replicas) {
    return {
      label: name,
      stroke: MEAN_COLOR,
      width: 2,
      points: { show: false }
    };
  }
  const test = name.startsWith('test');
  const color = test ? TEST_COLOR : MEAN_COLOR;
  return {
    label: name,
    stroke: color,
    width: test ? 1 : 0,
    dash: [2, 3],
    spanGaps: true,
    points: { show: true, size: 7, stroke: color, fill: color }
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
