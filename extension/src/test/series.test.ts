/** The protocol of the live charts: what is known after each message, in every order. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { linesOf, table } from '../runview/plot.js';
import { Series, type PointsMessage } from '../runview/series.js';
import { account, short, trend } from '../runview/words.js';

const NO_EPOCHS = {
  step: [],
  loss: [],
  accuracy: [],
  testLoss: [],
  testAccuracy: []
};

function message(sequence: number, from: number, whole = false): PointsMessage {
  return {
    kind: 'points',
    sequence,
    whole,
    from,
    replicas: 2,
    virtual: true,
    stepsAPoint: 1,
    epochs: NO_EPOCHS
  };
}

/** Steps from `first` on; every line of every chart counts on from its own hundred. */
function buffers(first: number, count: number): DataView[] {
  const steps = Float64Array.from(
    { length: count },
    (_, point) => first + point
  );
  const values = new Float32Array(9 * count);
  for (let line = 0; line < 9; line++) {
    for (let point = 0; point < count; point++) {
      values[line * count + point] = 100 * line + first + point;
    }
  }
  return [new DataView(steps.buffer), new DataView(values.buffer)];
}

test('blocks in order build the lines up', () => {
  const series = new Series();
  assert.ok(series.take(message(1, 0, true), buffers(1, 3)));
  assert.ok(series.take(message(2, 3), buffers(4, 2)));
  assert.deepEqual(series.steps, [1, 2, 3, 4, 5]);
  assert.deepEqual(series.lines('loss')[0], [1, 2, 3, 4, 5]);
  assert.deepEqual(series.lines('rate')[2], [801, 802, 803, 804, 805]);
});

test('a block replaces the points from its first one on', () => {
  const series = new Series();
  series.take(message(1, 0, true), buffers(1, 4));
  series.take(message(2, 2), buffers(30, 1));
  assert.deepEqual(series.steps, [1, 2, 30]);
  assert.deepEqual(series.lines('accuracy')[1], [401, 402, 430]);
});

test('a lost block is noticed, and the whole heals it', () => {
  const series = new Series();
  series.take(message(1, 0, true), buffers(1, 2));
  assert.equal(series.take(message(3, 3), buffers(4, 1)), false);
  assert.deepEqual(series.steps, [1, 2]);
  assert.ok(series.take(message(4, 0, true), buffers(1, 4)));
  assert.ok(series.take(message(5, 4), buffers(5, 1)));
  assert.deepEqual(series.steps, [1, 2, 3, 4, 5]);
});

test('a view that opens amid a run waits for the whole', () => {
  assert.equal(new Series().take(message(7, 5), buffers(6, 1)), false);
});

test('what was heard before changes nothing', () => {
  const series = new Series();
  series.take(message(4, 0, true), buffers(1, 4));
  assert.ok(series.take(message(3, 2), buffers(9, 1)));
  assert.deepEqual(series.steps, [1, 2, 3, 4]);
});

test('NaN and infinity are gaps', () => {
  const series = new Series();
  const [steps, values] = buffers(1, 2) as [DataView, DataView];
  values.setFloat32(0, NaN, true);
  values.setFloat32(4, Infinity, true);
  series.take(message(1, 0, true), [steps, values]);
  assert.deepEqual(series.lines('loss')[0], [null, null]);
});

test('a chart is told in words', () => {
  const series = new Series();
  assert.equal(account(series, 'loss'), 'No point yet.');
  series.take(message(1, 0, true), buffers(1, 40));
  assert.equal(account(series, 'loss'), 'loss 240, rising');
  assert.equal(
    account(series, 'rate'),
    '840 examples/s, steady; replica 0 is 14 % slower'
  );
});

test('the trend of a line is of its end', () => {
  assert.equal(trend([5, 4, 3, 2, 1]), 'falling');
  assert.equal(trend([1, 1, 1]), 'steady');
  assert.equal(trend([1]), 'steady');
  assert.equal(trend([null, null]), 'steady');
});

test('numbers are as short as people read them', () => {
  assert.deepEqual([0, 0.4123, 12345, 0.000012, 2e7].map(short), [
    '0',
    '0.412',
    '12300',
    '1.20e-5',
    '2.00e+7'
  ]);
});

test('the line of all lies below its replicas, and one replica has none', () => {
  const names = (series: Series) =>
    linesOf(series, 'rate').map(line => line.name);
  const two = new Series();
  two.take(message(1, 0, true), buffers(1, 2));
  assert.deepEqual(names(two), [
    'all: sum',
    'virtual replica 0',
    'virtual replica 1'
  ]);
  assert.deepEqual(table(two, 'rate')[1], [801, 802]);
  const one = new Series();
  one.take({ ...message(1, 0, true), replicas: 1 }, buffers(1, 2));
  assert.deepEqual(names(one), ['virtual replica 0']);
  assert.equal(table(one, 'rate').length, 2);
});
