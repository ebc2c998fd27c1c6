/** What the kernel sends of a run, and the points that are known of it so far. */

/** The numbers at the end of each epoch, in order; null where one is not known. */
export interface Epochs {
  step: number[];
  loss: (number | null)[];
  accuracy: (number | null)[];
  testLoss: (number | null)[];
  testAccuracy: (number | null)[];
}

/**
 * Comes with two buffers: float64 steps [points], and float32 values [chart, line, points], the
 * lines being the replicas and, last, all of them together. NaN is a gap.
 */
export interface PointsMessage {
  kind: 'points';
  /** Counts the messages of a kernel's view. */
  sequence: number;
  /** Whether it holds every point, so that what was known before does not matter. */
  whole: boolean;
  /** The first point that it holds; later ones known before are replaced. */
  from: number;
  replicas: number;
  virtual: boolean;
  stepsAPoint: number;
  epochs: Epochs;
}

export const CHARTS = ['loss', 'accuracy', 'rate'] as const;
export type Chart = (typeof CHARTS)[number];

/** A line of a chart; null is a gap. */
export type Values = (number | null)[];

/** The points of a run as its messages built them up. */
export class Series {
  replicas = 0;
  virtual = false;
  stepsAPoint = 1;
  epochs: Epochs = {
    step: [],
    loss: [],
    accuracy: [],
    testLoss: [],
    testAccuracy: []
  };
  steps: number[] = [];
  private _lines: Values[][] = CHARTS.map(() => []);
  private _sequence = -1;

  /** The lines of a chart: the replicas and, last, all of them together. */
  lines(chart: Chart): Values[] {
    return this._lines[CHARTS.indexOf(chart)]!;
  }

  /** Take a message in; false where one before it was lost, so that the whole must be asked for. */
  take(message: PointsMessage, buffers: DataView[]): boolean {
    if (!message.whole) {
      if (message.sequence <= this._sequence) {
        return true;
      }
      if (
        message.sequence !== this._sequence + 1 ||
        message.from > this.steps.length
      ) {
        return false;
      }
    }
    this._sequence = message.sequence;
    this.replicas = message.replicas;
    this.virtual = message.virtual;
    this.stepsAPoint = message.stepsAPoint;
    this.epochs = message.epochs;
    this._replace(message.from, buffers[0]!, buffers[1]!);
    return true;
  }

  private _replace(from: number, steps: DataView, values: DataView): void {
    const count = steps.byteLength / 8;
    const lines = this.replicas + 1;
    const keep = <T>(known: T[] | undefined): T[] =>
      (known ?? []).slice(0, from);
    this.steps = keep(this.steps);
    for (let point = 0; point < count; point++) {
      this.steps.push(steps.getFloat64(8 * point, true));
    }
    this._lines = CHARTS.map((_, chart) =>
      Array.from({ length: lines }, (_, line) => {
        const row = keep(this._lines[chart]![line]);
        const start = (chart * lines + line) * count;
        for (let point = 0; point < count; point++) {
          const value = values.getFloat32(4 * (start + point), true);
          row.push(Number.isFinite(value) ? value : null);
        }
        return row;
      })
    );
  }
}
