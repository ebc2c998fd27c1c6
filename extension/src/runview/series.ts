/** The points of a run, built up from its messages. */

import type { PointsHeader } from './protocol.js';

export const CHARTS = ['loss', 'accuracy', 'rate'] as const;
export type Chart = (typeof CHARTS)[number];

export const AXES = ['step', 'examples', 'time'] as const;
/** The quantity of the x axis: steps, examples, or training time in seconds. */
export type Axis = (typeof AXES)[number];

/** A line of a chart; null is a gap. */
export type Values = (number | null)[];

/** The lines of one chart. */
export interface Curve {
  /** A line for each replica. */
  mean: Values[];
  /** All replicas together. */
  joined: Values;
  /** The least and greatest of single steps; a line for each replica, none if points are steps. */
  low: Values[];
  high: Values[];
}

export class Series {
  replicas = 0;
  workers = 1;
  /** Whether all replicas take a step together; else there is no line for all of them. */
  synchronous = true;
  virtual = false;
  stepsAPoint = 1;
  /** Points at which a loss of a replica was not finite. */
  readonly nonfinite = new Set<number>();
  private readonly _across: Record<Axis, number[]> = {
    step: [],
    examples: [],
    time: []
  };
  private _curves = CHARTS.map(none);
  private _version = 0;
  /** The first point at which the rates of replicas differ. */
  private _ratesDiffer = Infinity;

  /** Another number after each change of the points. */
  get version(): number {
    return this._version;
  }

  get length(): number {
    return this._across.step.length;
  }

  get steps(): number[] {
    return this._across.step;
  }

  /** Return the values of a chart along its x axis. */
  across(axis: Axis): number[] {
    return this._across[axis];
  }

  curve(chart: Chart): Curve {
    return this._curves[CHARTS.indexOf(chart)]!;
  }

  /** Whether there is a line for all replicas. */
  get joins(): boolean {
    return this.synchronous && this.replicas > 1;
  }

  /** Whether an accuracy is known; a model of one's own may have none. */
  get hasAccuracy(): boolean {
    return this.curve('accuracy').mean.some(row =>
      row.some(value => value !== null)
    );
  }

  /** Whether all replicas have the same rate, because they share each call. */
  get sharesRate(): boolean {
    return this.joins && this._ratesDiffer === Infinity;
  }

  /** Replace the points from `header.from` on; return false if points before are missing. */
  take(header: PointsHeader, buffers: DataView[]): boolean {
    if (header.from > this.length) {
      return false;
    }
    const { replicas, spans, from } = header;
    if (replicas !== this.replicas || spans !== this.spans) {
      this._curves = CHARTS.map(() => shaped(replicas, spans));
    }
    this.replicas = replicas;
    this.workers = header.workers;
    this.synchronous = header.synchronous;
    this.virtual = header.virtual;
    this.stepsAPoint = header.stepsAPoint;
    const count = this._takeAcross(from, buffers[0]!);
    for (const point of this.nonfinite) {
      if (point >= from) {
        this.nonfinite.delete(point);
      }
    }
    const rows = this._curves.flatMap(rowsOf);
    rows.forEach((row, at) => {
      const first = at * count;
      row.length = from;
      for (let point = 0; point < count; point++) {
        const value = buffers[1]!.getFloat32(4 * (first + point), true);
        row.push(Number.isFinite(value) ? value : null);
        if (value === Infinity) {
          this.nonfinite.add(from + point);
        }
      }
    });
    this._version++;
    this._compareRates(from);
    return true;
  }

  /** Compare the rates of replicas from the point `from` on; earlier ones are compared already. */
  private _compareRates(from: number): void {
    if (this._ratesDiffer < from) {
      return;
    }
    const [first = [], ...others] = this.curve('rate').mean;
    const differs = (at: number): boolean =>
      others.some(row => row[at] !== first[at]);
    let at = from;
    while (at < first.length && !differs(at)) {
      at++;
    }
    this._ratesDiffer = at < first.length ? at : Infinity;
  }

  /** Whether points stand for several steps, so that they have a least and a greatest value. */
  get spans(): boolean {
    return this._curves[0]!.low.length > 0;
  }

  private _takeAcross(from: number, buffer: DataView): number {
    const count = buffer.byteLength / 8 / AXES.length;
    AXES.forEach((axis, row) => {
      const values = this._across[axis];
      values.length = from;
      for (let point = 0; point < count; point++) {
        values.push(buffer.getFloat64(8 * (row * count + point), true));
      }
    });
    return count;
  }
}

function none(): Curve {
  return { mean: [], joined: [], low: [], high: [] };
}

function shaped(replicas: number, spans: boolean): Curve {
  const lines = (count: number): Values[] =>
    Array.from({ length: count }, () => []);
  const each = spans ? replicas : 0;
  return {
    mean: lines(replicas),
    joined: [],
    low: lines(each),
    high: lines(each)
  };
}

function rowsOf({ mean, joined, low, high }: Curve): Values[] {
  return [...mean, joined, ...low, ...high];
}
