/** Messages of a feed as the kernel would send them, for tests. */

import type { Epochs, PointsHeader, RunMessage } from '../runview/protocol.js';

export const NO_EPOCHS: Epochs = {
  epoch: [],
  step: [],
  loss: [],
  accuracy: [],
  testLoss: [],
  testAccuracy: [],
  metrics: {}
};

/** The speed of a run that is over. */
export const SPEED = {
  examplesPerSecond: 1790.6,
  note: 'steady state',
  tip: ''
};

export function header(
  from: number,
  more: Partial<PointsHeader> = {}
): PointsHeader {
  return {
    from,
    replicas: 2,
    workers: 1,
    synchronous: true,
    virtual: true,
    stepsAPoint: 1,
    spans: false,
    ...more
  };
}

export function message(
  sequence: number,
  from: number,
  whole = false,
  feed = 'a'
): RunMessage {
  return {
    kind: 'run',
    version: 2,
    feed,
    sequence,
    whole,
    parts: {},
    points: header(from)
  };
}

/** Steps from `first` on; every line of every chart counts on from its own hundred. */
export function buffers(
  first: number,
  count: number,
  lines = 3,
  examplesAStep = 64
): DataView[] {
  const across = new Float64Array(3 * count);
  const values = new Float32Array(3 * lines * count);
  for (let point = 0; point < count; point++) {
    const step = first + point;
    across.set([step], point);
    across.set([step * examplesAStep], count + point);
    across.set([step / 10], 2 * count + point);
    for (let line = 0; line < 3 * lines; line++) {
      values[line * count + point] = 100 * line + step;
    }
  }
  return [new DataView(across.buffer), new DataView(values.buffer)];
}
