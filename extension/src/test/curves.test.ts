/** How points are drawn: lines, spread, smoothing, scales, the ends of epochs. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  indexAt,
  rowsOf,
  spread,
  table,
  type Treatment
} from '../runview/curves.js';
import { drawingOf } from '../runview/drawing.js';
import { ENGLISH as trans } from '../runview/language.js';
import type { Epochs } from '../runview/protocol.js';
import { Series, type Chart } from '../runview/series.js';
import { smooth, smoothOnce, spanOf, weightOf } from '../runview/smoothing.js';
import { moved } from '../runview/zoom.js';
import { buffers, header, NO_EPOCHS, SPEED } from './feeds.js';

const PLAIN = { axis: 'step' as const, smoothing: 0, logarithmic: false };
const SPREAD = 'lowest to highest';
const ENDS = ['train, whole epoch', 'test, after the epoch'];

function filled(count = 2, replicas = 2): Series {
  const series = new Series();
  series.take(header(0, { replicas }), buffers(1, count, replicas + 1));
  return series;
}

/** A series of two replicas whose rates are equal, because they share each call. */
function sharing(count: number): Series {
  const series = new Series();
  const [across, values] = buffers(1, count) as [DataView, DataView];
  for (let point = 0; point < count; point++) {
    values.setFloat32(4 * (7 * count + point), 600 + 1 + point, true);
  }
  series.take(header(0), [across, values]);
  return series;
}

function drawn(
  series: Series,
  chart: Chart,
  epochs: Epochs = NO_EPOCHS,
  treatment: Treatment = PLAIN
) {
  const rows = rowsOf(series, chart, epochs, treatment, trans);
  return {
    names: rows.map(({ line }) => line.name),
    lines: rows.map(({ line }) => line),
    data: table(series, treatment.axis, rows)
  };
}

test('the line for all replicas is drawn over theirs, and the test points on top', () => {
  const replicas = ['virtual replica 0', 'virtual replica 1'];
  const ended = { ...NO_EPOCHS, step: [2], loss: [0.25], testLoss: [0.5] };
  assert.deepEqual(drawn(filled(), 'loss', ended).names, [
    SPREAD,
    SPREAD,
    ...replicas,
    'all: weighted mean',
    ...ENDS
  ]);
  const { names, lines } = drawn(filled(), 'rate');
  assert.deepEqual(names, [SPREAD, SPREAD, ...replicas, 'all: sum']);
  assert.ok(lines[2]!.style.width! < lines[4]!.style.width!);
  assert.equal(lines[2]!.color.length, '#rrggbbaa'.length);
});

test('ends of epochs of which no number is known are no lines', () => {
  const untested = { ...NO_EPOCHS, step: [2], loss: [0.25], testLoss: [null] };
  const ends = (epochs: Epochs): string[] =>
    drawn(filled(), 'loss', epochs).names.filter(name => ENDS.includes(name));
  assert.deepEqual(ends(untested), ['train, whole epoch']);
  assert.deepEqual(ends(NO_EPOCHS), []);
  assert.deepEqual(ends({ ...untested, testLoss: [0.5], step: [99] }), ENDS);
});

test('a single replica has a smoothed line over its own, and only one without smoothing', () => {
  const smoothed = { ...PLAIN, smoothing: 10 };
  const { lines, names } = drawn(filled(20, 1), 'rate', NO_EPOCHS, smoothed);
  assert.deepEqual(names, [SPREAD, SPREAD, 'virtual replica 0', 'smoothed']);
  assert.equal(lines[3]!.note, ' over 10 steps');
  assert.deepEqual(drawn(filled(20, 1), 'rate').names.slice(2), [
    'virtual replica 0'
  ]);
});

test('replicas that share each call have one line of rates, until one differs', () => {
  const series = sharing(3);
  assert.deepEqual(drawn(series, 'rate').names.slice(2), [
    'each replica',
    'all: sum'
  ]);
  assert.equal(drawn(series, 'loss').names[2], 'virtual replica 0');
  series.take(header(3), buffers(4, 1));
  assert.equal(drawn(series, 'rate').names[2], 'virtual replica 0');
  series.take(header(0), buffers(1, 1));
  assert.equal(series.sharesRate, false);
});

test('workers with their own steps have no line for all and no ends of epochs', () => {
  const series = new Series();
  const apart = { replicas: 2, workers: 2, synchronous: false };
  series.take(header(0, apart), buffers(1, 20, 3));
  const smoothed = { ...PLAIN, smoothing: 10 };
  const { names, data } = drawn(series, 'loss', NO_EPOCHS, smoothed);
  assert.deepEqual(names, [
    SPREAD,
    SPREAD,
    'worker 0, replica 0',
    'worker 1, replica 1'
  ]);
  assert.ok(data[3]![19]! < 20);
});

test('there is a row of values for every line', () => {
  for (const chart of ['loss', 'accuracy', 'rate'] as const) {
    const { data, names } = drawn(filled(3), chart);
    assert.equal(data.length, 1 + names.length);
    assert.deepEqual(data[0], [1, 2, 3]);
  }
});

test('64 replicas all look different', () => {
  const looks = drawn(filled(1, 64), 'rate')
    .lines.filter(line => line.name.includes('replica'))
    .map(({ color, style }) => `${color} ${style.dash?.join()}`);
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

test('smoothing looks to both sides, so that a line is not late, and leaves gaps', () => {
  const constant = smooth([4, null, 4, 4], 0.9);
  assert.equal(constant[1], null);
  constant.forEach(value => assert.ok(Math.abs((value ?? 4) - 4) < 1e-12));
  const straight = smooth([0, 1, 2, 3, 4], 0.5);
  assert.ok(Math.abs(straight[2]! - 2) < 1e-12);
  const [first, second] = smooth([0, 1], 0.5);
  assert.ok(Math.abs(first! - 1 / 3) < 1e-12);
  assert.ok(Math.abs(second! - 2 / 3) < 1e-12);
  const values = [1, 2];
  assert.equal(smooth(values, 0), values);
});

test('smoothing covers a round part of the steps, more in a longer run', () => {
  const spans = (steps: number) =>
    (['none', 'light', 'medium', 'heavy'] as const).map(amount =>
      spanOf(amount, steps)
    );
  assert.deepEqual(spans(3_120), [0, 10, 50, 200]);
  assert.deepEqual(spans(1_000_000), [0, 5_000, 20_000, 100_000]);
  assert.deepEqual(spans(20), [0, 1, 1, 2]);
  assert.equal(weightOf(50, 5), 9 / 11);
  assert.equal(weightOf(5, 10), 0);
});

test('a line is smoothed once for each change', () => {
  const values = [0, 1, 2];
  const first = smoothOnce(values, 0.5, 1);
  assert.equal(smoothOnce(values, 0.5, 1), first);
  values.push(3);
  assert.equal(smoothOnce(values, 0.5, 2).length, 4);
});

test('the smoothing is said: in the legend, and without a line for all in the remark', () => {
  const shown = {
    run: 'a',
    epochs: NO_EPOCHS,
    speed: SPEED,
    treatment: { ...PLAIN, smoothing: 50, logarithmic: true },
    hidden: new Set<string>(),
    zoom: null,
    trans
  };
  const loss = drawingOf('loss', { ...shown, series: filled(100) });
  assert.equal(loss.title, 'Loss');
  assert.equal(loss.remark, 'log scale');
  assert.equal(loss.lines[4]!.note, ', smoothed over 50 steps');
  assert.match(loss.reading(9), /^step 10: all 210, smoothed /);
  const rate = drawingOf('rate', { ...shown, series: filled(100) });
  assert.equal(rate.title, 'Examples per second');
  assert.equal(rate.remark, 'excluding time between calls, virtual');
  assert.equal(rate.file, 'a-rate');
  const apart = new Series();
  apart.take(header(0, { synchronous: false }), buffers(1, 100));
  assert.equal(
    drawingOf('loss', { ...shown, series: apart }).remark,
    'log scale, smoothed over 50 steps'
  );
});

test('a log scale leaves out values up to zero', () => {
  const series = filled(2);
  series.curve('loss').mean[0]![0] = 0;
  const treatment = { ...PLAIN, logarithmic: true };
  const { data } = drawn(series, 'loss', NO_EPOCHS, treatment);
  assert.deepEqual(data[3], [null, 2]);
});

test('the end of an epoch is at the point with its last step', () => {
  const epochs = { ...NO_EPOCHS, step: [2, 4], testLoss: [0.5, 0.25] };
  const { data } = drawn(filled(4), 'loss', epochs);
  assert.deepEqual(data.at(-1), [null, 0.5, null, 0.25]);
});

test('with points of several steps, too, a test belongs to the epoch before it', () => {
  const series = new Series();
  const [across, values] = buffers(1, 3) as [DataView, DataView];
  [4, 8, 12].forEach((step, at) => across.setFloat64(8 * at, step, true));
  series.take(header(0, { stepsAPoint: 4 }), [across, values]);
  const epochs = { ...NO_EPOCHS, step: [4, 10], testLoss: [0.5, 0.25] };
  const { data } = drawn(series, 'loss', epochs);
  assert.deepEqual(data.at(-1), [0.5, null, 0.25]);
});

test('ends of epochs before a part of the run are not drawn in this part', () => {
  const series = new Series();
  series.take(header(0), buffers(11, 3));
  const epochs = { ...NO_EPOCHS, step: [5, 12], testLoss: [0.5, 0.25] };
  const { data } = drawn(series, 'loss', epochs);
  assert.deepEqual(data.at(-1), [null, 0.25, null]);
});

test('each axis can be shown', () => {
  const axis = 'examples' as const;
  const { data } = drawn(filled(2), 'loss', NO_EPOCHS, { ...PLAIN, axis });
  assert.deepEqual(data[0], [64, 128]);
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
