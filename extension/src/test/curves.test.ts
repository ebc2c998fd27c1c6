/** How points are drawn: lines, spread, smoothing, scales, the ends of epochs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  indexAt,
  linesOf,
  smooth,
  spread,
  SPREAD,
  table
} from '../runview/curves.js';
import { Series } from '../runview/series.js';
import { moved } from '../runview/zoom.js';
import { buffers, header, NO_EPOCHS } from './feeds.js';

const PLAIN = { axis: 'step' as const, smoothing: 0, logarithmic: false };

function filled(count = 2, replicas = 2): Series {
  const series = new Series();
  series.take(header(0, { replicas }), buffers(1, count, replicas + 1));
  return series;
}

test('the line for all replicas is drawn below their lines; a single replica has none', () => {
  const names = (series: Series) =>
    linesOf(series, 'rate').map(line => line.name);
  assert.deepEqual(names(filled()), [
    SPREAD,
    SPREAD,
    'all: sum',
    'virtual replica 0',
    'virtual replica 1'
  ]);
  assert.deepEqual(names(filled(2, 1)), [SPREAD, SPREAD, 'virtual replica 0']);
});

test('workers with their own steps have no line for all and no ends of epochs', () => {
  const series = new Series();
  const apart = { replicas: 2, workers: 2, together: false };
  series.take(header(0, apart), buffers(1, 2, 3));
  assert.deepEqual(
    linesOf(series, 'loss', NO_EPOCHS).map(line => line.name),
    [SPREAD, SPREAD, 'worker 0, replica 0', 'worker 1, replica 1']
  );
  assert.equal(table(series, 'loss', NO_EPOCHS, PLAIN).length, 1 + 4);
});

test('there is a row of values for every line', () => {
  for (const chart of ['loss', 'accuracy', 'rate'] as const) {
    const series = filled(3);
    const drawn = table(series, chart, NO_EPOCHS, PLAIN);
    assert.equal(drawn.length, 1 + linesOf(series, chart).length);
    assert.deepEqual(drawn[0], [1, 2, 3]);
  }
});

test('64 replicas all look different', () => {
  const looks = linesOf(filled(1, 64), 'rate')
    .filter(line => line.name.includes('replica'))
    .map(({ color, look }) => `${color} ${look.dash?.join()}`);
  assert.equal(new Set(looks).size, 64);
});

test('the spread goes from the lowest replica to the highest', () => {
  assert.deepEqual(spread(filled(2), 'loss'), [
    [1, 2],
    [101, 102]
  ]);
});

test('the spread of points that are means covers the single steps', () => {
  const series = new Series();
  series.take(header(0, { spans: true, stepsAPoint: 4 }), buffers(1, 1, 7));
  assert.deepEqual(spread(series, 'loss'), [[301], [601]]);
});

test('a single replica has a spread only if its points are means', () => {
  assert.deepEqual(spread(filled(2, 1), 'loss'), [
    [null, null],
    [null, null]
  ]);
});

test('smoothing starts at the first value and leaves gaps', () => {
  assert.deepEqual(smooth([4, null, 4, 4], 0.9), [4, null, 4, 4]);
  const [first, second] = smooth([0, 1], 0.5);
  assert.equal(first, 0);
  assert.ok(Math.abs(second! - 2 / 3) < 1e-12);
  const values = [1, 2];
  assert.equal(smooth(values, 0), values);
});

test('a log scale leaves out values up to zero', () => {
  const series = filled(2);
  series.curve('loss').mean[0]![0] = 0;
  const drawn = table(series, 'loss', NO_EPOCHS, {
    ...PLAIN,
    logarithmic: true
  });
  assert.deepEqual(drawn[4], [null, 2]);
});

test('the end of an epoch is at the point with its last step', () => {
  const epochs = { ...NO_EPOCHS, step: [2, 4], testLoss: [0.5, 0.25] };
  const drawn = table(filled(4), 'loss', epochs, PLAIN);
  assert.deepEqual(drawn.at(-1), [null, 0.5, null, 0.25]);
});

test('ends of epochs before a part of the run are not drawn in this part', () => {
  const series = new Series();
  series.take(header(0), buffers(11, 3));
  const epochs = { ...NO_EPOCHS, step: [5, 12], testLoss: [0.5, 0.25] };
  const drawn = table(series, 'loss', epochs, PLAIN);
  assert.deepEqual(drawn.at(-1), [null, 0.25, null]);
});

test('each axis can be shown', () => {
  const axis = 'examples' as const;
  const drawn = table(filled(2), 'loss', NO_EPOCHS, { ...PLAIN, axis });
  assert.deepEqual(drawn[0], [64, 128]);
});

test('a search finds the first place that is not below a value', () => {
  assert.deepEqual(
    [0, 1, 1.5, 3, 9].map(value => indexAt([1, 2, 3], value)),
    [0, 0, 1, 2, 3]
  );
});

test('moving stays inside the x axis, and zooming out ends with all of it', () => {
  const all = { min: 0, max: 100 };
  const near = moved(null, all, 'in');
  assert.deepEqual(near, { min: 25, max: 75 });
  assert.deepEqual(moved(near, all, 'left'), { min: 12.5, max: 62.5 });
  assert.deepEqual(moved({ min: 0, max: 50 }, all, 'left'), {
    min: 0,
    max: 50
  });
  assert.deepEqual(moved({ min: 40, max: 90 }, all, 'right'), {
    min: 50,
    max: 100
  });
  assert.equal(moved(near, all, 'out'), null);
  assert.equal(moved(near, all, 'all'), null);
});
