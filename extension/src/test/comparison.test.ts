/** The comparison of runs: its columns, the best values, its lines and their texts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import {
  bestOf,
  columnsOf,
  differencesOf,
  namesOf
} from '../main/comparison/columns.js';
import { Curves } from '../main/comparison/curves.js';
import { drawingOf, type Curve } from '../main/comparison/drawing.js';
import { joined, type Placed } from '../main/comparison/joining.js';
import {
  afterClick,
  falls,
  inOrder,
  keptOrder
} from '../main/comparison/order.js';
import { ENGLISH as trans } from '../runview/language.js';
import { DrawThrottle } from '../runview/drawThrottle.js';
import type { Chart } from '../runview/series.js';
import type { Results, RunSeries, Work } from '../server/protocol.js';
import type { SeriesAnswer } from '../server/series.js';
import { row } from './rows.js';

const PLAIN = { axis: 'step', smoothing: 0, logarithmic: false } as const;
const UNKNOWN: Results = {
  loss: null,
  accuracy: null,
  test_loss: null,
  test_accuracy: null,
  examples_per_second: null
};

function series(step: number[], loss: (number | null)[]): RunSeries {
  const from = (by: number) => step.map(each => by * each);
  return {
    step,
    examples: from(64),
    training_seconds: from(0.5),
    loss,
    accuracy: loss.map(() => 0.5),
    examples_per_second: loss.map(() => 128),
    steps_a_point: 1
  };
}

function drawn(
  chart: Chart,
  curves: Curve[],
  treatment = {},
  zoom: { min: number; max: number } | null = null
) {
  return drawingOf({
    curves,
    chart,
    treatment: { ...PLAIN, ...treatment },
    hidden: new Set(),
    zoom,
    trans
  });
}

const A = {
  name: 'A',
  number: 0,
  series: series([1, 2, 4], [4, 3, 2]),
  examplesPerSecond: 2107.4
};
const B = {
  name: 'B',
  number: 3,
  series: series([2, 3], [8, null]),
  examplesPerSecond: null
};

test('the best is the least loss and the greatest accuracy', () => {
  assert.deepEqual(bestOf([3, 1, 2], 'least'), [false, true, false]);
  assert.deepEqual(bestOf([3, 1, null], 'greatest'), [true, false, false]);
  assert.deepEqual(bestOf([1, 2, 2], 'greatest'), [false, true, true]);
});

test('nothing is best if all are equal, only one is known, or a column has no best value', () => {
  for (const values of [[2, 2], [1, null], [null], []]) {
    assert.ok(!bestOf(values, 'least').includes(true));
  }
  assert.deepEqual(bestOf([1, 2], null), [false, false]);
});

test('columns show the results of the last epochs; missing ones are unknown', () => {
  const results = { ...UNKNOWN, loss: 0.41234, test_accuracy: 0.98765 };
  const columns = columnsOf(
    [
      row('a', { step: 12_345, results }),
      row('b', { results: UNKNOWN }),
      undefined
    ],
    trans
  );
  const texts = Object.fromEntries(
    columns.map(({ name, texts }) => [name, texts])
  );
  assert.deepEqual(texts['Steps'], ['12,345', 'unknown', 'unknown']);
  assert.deepEqual(texts['Loss'], ['0.412', 'unknown', 'unknown']);
  assert.deepEqual(texts['Test accuracy'], ['98.77%', 'unknown', 'unknown']);
  assert.deepEqual(texts['Examples/s'], ['unknown', 'unknown', 'unknown']);
});

test('nothing is best among runs of different work; the batch is a column', () => {
  const results = (loss: number): Results => ({ ...UNKNOWN, loss });
  const work = { model: 'mlp', data: 'synthetic', batch: '64' };
  const marks = (...works: Work[]): boolean[] => {
    const rows = works.map((each, at) =>
      row(`${at}`, { results: results(at), work: each })
    );
    const columns = columnsOf(rows, trans);
    const batch = columns.find(({ name }) => name === 'Batch')!;
    assert.deepEqual(
      batch.texts,
      works.map(each => each.batch)
    );
    return columns.find(({ name }) => name === 'Loss')!.best;
  };
  assert.deepEqual(marks(work, work), [true, false]);
  for (const other of [
    { ...work, batch: '1,024' },
    { ...work, data: 'fashion_mnist' },
    { ...work, model: 'cnn' }
  ]) {
    assert.deepEqual(marks(work, other), [false, false]);
  }
  const both = [
    row('a', { work }),
    row('b', { work: { ...work, batch: '8' } })
  ];
  assert.deepEqual(differencesOf(both), ['batch']);
  assert.deepEqual(differencesOf([row('a', { work }), undefined]), []);
});

test('clicks on a head put the best on top, then the worst, then show the runs as listed', () => {
  const loss = afterClick(null, 'Loss');
  const turned = afterClick(loss, 'Loss');
  assert.deepEqual(loss, { column: 'Loss', turned: false });
  assert.deepEqual(turned, { column: 'Loss', turned: true });
  assert.equal(afterClick(turned, 'Loss'), null);
  assert.deepEqual(afterClick(turned, 'Run'), { column: 'Run', turned: false });
});

test('an order is kept for a reload, and a damaged one is as listed', () => {
  const order = { column: 'Loss', turned: true };
  assert.deepEqual(keptOrder(JSON.parse(JSON.stringify(order))), order);
  for (const damaged of [undefined, null, 'Loss', { column: 'Loss' }]) {
    assert.equal(keptOrder(damaged), null);
  }
});

test('runs are sorted by a column, and unknown values stay last', () => {
  const results = [0.3, null, 0.2, 0.9].map(value =>
    row('', { results: { ...UNKNOWN, loss: value, accuracy: value } })
  );
  const run = { name: 'Run', values: ['b 10', 'a', 'b 9', 'C'] };
  const sortings = [run, ...columnsOf(results, trans)];
  const sorted = (column: string, turned: boolean) =>
    inOrder(4, sortings, { column, turned });
  assert.deepEqual(inOrder(4, sortings, null), [0, 1, 2, 3]);
  assert.deepEqual(sorted('Loss', false), [2, 0, 3, 1]);
  assert.deepEqual(sorted('Loss', true), [3, 0, 2, 1]);
  assert.deepEqual(sorted('Accuracy', false), [3, 0, 2, 1]);
  assert.deepEqual(sorted('Run', false), [1, 2, 0, 3]);
  const accuracy = sortings.find(({ name }) => name === 'Accuracy')!;
  assert.ok(falls({ column: 'Accuracy', turned: false }, accuracy));
  assert.ok(!falls({ column: 'Run', turned: false }, run));
});

test('runs with the same title are distinguished by their ids', () => {
  const rows = ['a', 'b', 'c'].map((id, at) =>
    row(id, { title: at < 2 ? 'Twin' : 'Other' })
  );
  assert.deepEqual(namesOf(['a', 'b', 'c'], rows), [
    'Twin (a)',
    'Twin (b)',
    'Other'
  ]);
  assert.deepEqual(namesOf(['a'], [undefined]), ['a']);
});

test('lines of different steps lie on one axis, and gaps stay gaps', () => {
  const { data, lines } = drawn('loss', [A, B]);
  assert.deepEqual(
    [...data].map(values => [...values]),
    [
      [1, 2, 3, 4],
      [4, 3, undefined, 2],
      [undefined, 8, null, undefined]
    ]
  );
  assert.deepEqual(
    lines.map(({ name }) => name),
    ['A', 'B']
  );
});

test('many lines without a common x value keep their ends and peaks on a short axis', () => {
  const lines = Array.from({ length: 20 }, (_, run): Placed => {
    const across = Array.from({ length: 2000 }, (_, at) => at * (1 + run / 99));
    const values = across.map((_, at): number | null =>
      at % 500 === 77 ? run + 1 : 0
    );
    return [across, run === 3 ? values.fill(null, 100, 300) : values];
  });
  const [axis, ...rows] = joined(lines);
  assert.ok(axis.length <= 8000);
  assert.deepEqual(
    [...axis],
    [...axis].sort((a, b) => a - b)
  );
  assert.deepEqual([axis[0], axis.at(-1)], [0, lines[19]![0].at(-1)]);
  rows.forEach((row, run) => {
    const [across, values] = lines[run]!;
    const peaks = [...row.keys()].filter(at => row[at] === run + 1);
    assert.equal(peaks.length, 4);
    peaks.forEach((at, peak) =>
      assert.ok(Math.abs(axis[at]! - across[77 + 500 * peak]!) < 1)
    );
    assert.equal([...row].includes(null), values.includes(null));
  });
});

test('many lines with the same steps, some of them shorter, keep every point', () => {
  const lines = Array.from({ length: 20 }, (_, run): Placed => {
    const across = Array.from({ length: 2000 - run }, (_, at) => 64 * at);
    return [across, across.map((_, at) => Math.sin(at))];
  });
  const [axis, ...rows] = joined(lines);
  assert.deepEqual(axis, lines[0]![0]);
  rows.forEach((row, run) =>
    assert.deepEqual(row.slice(0, 2000 - run), lines[run]![1])
  );
});

test('a line looks the same after another line is removed', () => {
  assert.deepEqual(drawn('loss', [A, B]).lines[1], drawn('loss', [B]).lines[0]);
});

test('lines differ in more than their colour', () => {
  const looks = Array.from({ length: 16 }, (_, number) =>
    JSON.stringify(drawn('loss', [{ ...A, number }]).lines[0]!.style.dash)
  );
  assert.equal(new Set(looks.slice(0, 8)).size, 8);
  assert.notEqual(looks[0], looks[8]);
});

test('each axis can be shown, and a log scale leaves out values up to zero', () => {
  const time = drawn('loss', [A], { axis: 'time' });
  assert.deepEqual([...time.data[0]], [0.5, 1, 2]);
  const zero = { ...A, series: series([1, 2], [0, 1]) };
  const logarithmic = drawn('loss', [zero], { logarithmic: true });
  assert.deepEqual([...logarithmic.data[1]!], [null, 1]);
  assert.equal(logarithmic.remark, 'log scale');
});

test('points without a known place are not drawn', () => {
  const torn = { ...A, series: { ...A.series, examples: [64, null, 256] } };
  const { data } = drawn('loss', [torn], { axis: 'examples' });
  assert.deepEqual([...data[0]], [64, 256]);
});

test('the chart has a summary in words, and exact values at each point', () => {
  const { account, reading } = drawn('loss', [A, B]);
  assert.equal(account, 'A: loss from 4.00 to 2.00, falling; B: loss 8.00');
  assert.equal(reading(1), 'step 2: A 3.00, B 8.00');
  assert.equal(reading(3), 'step 4: A 2.00');
  assert.equal(drawn('rate', []).account, 'No data yet.');
  assert.equal(
    drawn('rate', [A, B]).account,
    'A: 2,107 examples per second; B: The speed is not known.'
  );
  const zoom = { min: 1.5, max: 4 };
  assert.match(drawn('loss', [A], {}, zoom).account, /from 3\.00 to 2\.00/);
  const apart = { ...A, series: series([1, 2], [null, null]) };
  assert.equal(drawn('loss', [apart]).account, 'A: no data');
  const many = drawn('loss', Array<Curve>(100).fill(B)).account;
  assert.match(many, /^(B: loss 8\.00; ){8}and 92 more$/);
});

/** Requests that wait until `answer` answers all of them, each with at most ten runs. */
class Waiting {
  readonly asked: string[][] = [];
  private _waiting: (() => void)[] = [];

  series = (runs: string[]) => {
    this.asked.push(runs);
    return new Promise<SeriesAnswer[]>(answer =>
      this._waiting.push(() => answer(runs.slice(0, 10).map(answerOf)))
    );
  };

  /** Answer all requests; return how many there were. */
  async answer(): Promise<number> {
    const waiting = this._waiting.splice(0);
    waiting.forEach(answer => answer());
    await new Promise(setImmediate);
    return waiting.length;
  }
}

function answerOf(run: string): SeriesAnswer {
  return run === 'run 7' ? { error: 'No such run.' } : A.series;
}

test('curves are requested several at a time, and their answers are drawn together', async () => {
  const frames: FrameRequestCallback[] = [];
  const requestAnimationFrame = (draw: FrameRequestCallback) =>
    frames.push(draw);
  Object.assign(globalThis, { window: globalThis, requestAnimationFrame });
  const server = new Waiting();
  let drawings = 0;
  const throttle = new DrawThrottle(() => drawings++);
  const curves = new Curves(server, () => throttle.drawSoon());
  const runs = Array.from({ length: 100 }, (_, at) => `run ${at}`);
  curves.follow(runs.map(run => row(run)));
  assert.equal(await server.answer(), 3);
  while ((await server.answer()) > 0) {
    assert.ok(server.asked.every(asked => asked.length <= 16));
  }
  assert.deepEqual([...new Set(server.asked.flat())].sort(), runs.sort());
  assert.equal(frames.length, 1);
  frames.forEach(draw => draw(0));
  assert.equal(drawings, 1);
  assert.equal(curves.troubleOf('run 7'), 'No such run.');
  const known = runs.filter(run => curves.seriesOf(run) === A.series);
  assert.equal(known.length, 99);
  const before = server.asked.length;
  curves.follow(runs.map(run => row(run, { step: 1 })));
  assert.equal(server.asked.length, before);
  curves.follow([row('run 0'), row('late')]);
  assert.equal(server.asked.length, before + 1);
  curves.destroy();
});
