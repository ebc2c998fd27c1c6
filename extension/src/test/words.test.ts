/** Runs and charts in words, for readers who cannot see them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { resumeWords } from '../runview/actions.js';
import { isOfApplication } from '../runview/hostKeys.js';
import { ENGLISH as trans } from '../runview/language.js';
import type { PointsHeader } from '../runview/protocol.js';
import { Series } from '../runview/series.js';
import { seenOf } from '../runview/drawing.js';
import { progressText } from '../runview/summary.js';
import { numbersOf, phaseOf } from '../runview/times.js';
import {
  account,
  duration,
  nameOf,
  percent,
  reading,
  short,
  VALUES
} from '../runview/words.js';
import { buffers, header, SPEED } from './feeds.js';

const ALL = { from: 0, to: Infinity, speed: SPEED };

function filled(
  count: number,
  replicas = 2,
  more: Partial<PointsHeader> = {}
): Series {
  const series = new Series();
  const fields = header(0, { replicas, ...more });
  series.take(fields, buffers(1, count, replicas + 1));
  return series;
}

test('a chart has a summary in words', () => {
  assert.equal(account(new Series(), 'loss', ALL, trans), 'No data yet.');
  const series = filled(40);
  assert.equal(
    account(series, 'loss', ALL, trans),
    'loss from 201 to 240, rising'
  );
  assert.equal(
    account(series, 'rate', ALL, trans),
    '1,791 examples per second, steady state; virtual replica 0 is 14% slower'
  );
  const unknown = { ...SPEED, examplesPerSecond: null };
  assert.equal(
    account(series, 'rate', { ...ALL, speed: unknown }, trans),
    'The speed is not known.'
  );
});

test('a trend is that of the part that is seen', () => {
  const seen = { ...ALL, from: 10, to: 20 };
  assert.equal(
    account(filled(40), 'loss', seen, trans),
    'loss from 211 to 220, rising'
  );
  assert.deepEqual(seenOf([1, 2, 4, 8], null), [0, 4]);
  assert.deepEqual(seenOf([1, 2, 4, 8], { min: 1.5, max: 4 }), [1, 3]);
  assert.deepEqual(seenOf([1, 2, 4, 8], { min: 9, max: 10 }), [0, 0]);
});

test('Resume names the step at which training goes on', () => {
  assert.equal(resumeWords(2800, trans)[0], 'Resume from step 2,800');
  assert.equal(resumeWords(0, trans)[0], 'Resume from step 0');
  assert.match(resumeWords(0, trans)[1], /^No checkpoint was saved/);
  assert.equal(resumeWords(null, trans)[0], 'Resume');
});

test('of the keys in the workbench, only shortcuts of the application are left to the page', () => {
  const key = (key: string, more: object = {}) => ({
    key,
    shiftKey: false,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    ...more
  });
  for (const letter of ['s', 'B', 'f']) {
    assert.ok(isOfApplication(key(letter, { ctrlKey: true })), letter);
    assert.ok(isOfApplication(key(letter, { metaKey: true })), letter);
    assert.ok(!isOfApplication(key(letter)), letter);
  }
  for (const name of ['Enter', 'ArrowUp', 'a', 'z', 'M', '-']) {
    assert.ok(!isOfApplication(key(name, { ctrlKey: true })), name);
  }
});

test('a loss that is not finite is reported', () => {
  const series = filled(3);
  series.nonfinite.add(1);
  assert.equal(
    account(series, 'loss', ALL, trans),
    'NaN or infinity at step 2. loss from 201 to 203, no clear trend'
  );
  assert.match(reading(series, 'loss', 1, trans), /NaN or infinity$/);
});

test('the reading of a point has the values of each replica and of all, as far as they count', () => {
  assert.equal(
    reading(filled(2), 'loss', 1, trans),
    'step 2: all 202, virtual replica 0 2.00, virtual replica 1 102'
  );
});

test('values are rounded to what they are worth', () => {
  assert.equal(VALUES.loss(0.033123), '0.0331');
  assert.equal(VALUES.accuracy(0.98377), '98.4%');
  assert.equal(VALUES.rate(158_683.4), '158,683');
  assert.equal(percent(0.985), '98.50%');
});

test('the bars of the time use one colour for a phase', () => {
  assert.equal(phaseOf('start (forked)'), phaseOf('start-up'));
  assert.equal(phaseOf('first step'), phaseOf('steps'));
  assert.equal(phaseOf('trace'), 'trace');
});

test('the bars of the time use one number for a phase, in the order of the first bar', () => {
  const numbers = numbersOf([
    ['start (forked)', 1],
    ['first step', 2],
    ['start-up', 1],
    ['steps', 5],
    ['evaluation', 1]
  ]);
  assert.deepEqual(
    [...numbers],
    [
      ['start', 1],
      ['steps', 2],
      ['evaluation', 3]
    ]
  );
});

test('of many replicas, only the least and the greatest value are read', () => {
  assert.equal(
    reading(filled(1, 64), 'loss', 0, trans),
    'step 1: all 6400, virtual replica 0 1.00, virtual replica 63 6300'
  );
});

test('replicas of several workers are named by worker and replica', () => {
  const names = (replicas: number, workers: number) => {
    const series = filled(1, replicas, { workers });
    return Array.from({ length: replicas }, (_, at) =>
      nameOf(series, at, trans)
    );
  };
  assert.deepEqual(names(2, 2), ['worker 0, replica 0', 'worker 1, replica 1']);
  assert.deepEqual(names(4, 2).slice(1, 3), [
    'worker 0, replica 1',
    'worker 1, replica 2'
  ]);
});

test('workers with their own steps are listed one by one', () => {
  const series = filled(40, 2, { workers: 2, synchronous: false });
  assert.equal(
    account(series, 'loss', ALL, trans),
    'worker 0, replica 0: loss from 1.00 to 40.0, rising; worker 1, replica 1: loss from 101 to 140, rising'
  );
  assert.match(reading(series, 'loss', 1, trans), /^own step 2: /);
  const many = filled(40, 12, { workers: 12, synchronous: false });
  assert.match(account(many, 'loss', ALL, trans), /rising; and 4 more$/);
  assert.match(account(many, 'rate', ALL, trans), /^1,791 examples per second/);
});

test('a mean is read with the least and the greatest of its steps', () => {
  const series = new Series();
  const many = header(0, { replicas: 1, spans: true, stepsAPoint: 4 });
  series.take(many, buffers(1, 1, 4));
  assert.equal(
    reading(series, 'loss', 0, trans),
    'step 1: virtual replica 0 1.00 (201 to 301)'
  );
});

test('numbers are as short as people read them', () => {
  assert.deepEqual([0, 0.4123, 12345, 0.000012, 2e7].map(short), [
    '0',
    '0.412',
    '12300',
    '1.20e-5',
    '2.00e+7'
  ]);
  assert.deepEqual([0.25, 3.14, 59, 80, 4000].map(duration), [
    '0.25 s',
    '3.1 s',
    '59 s',
    '1 min 20 s',
    '1 h 6 min'
  ]);
});

test('progress shows the time left while the run is in progress', () => {
  const progress = {
    step: 1200,
    totalSteps: 4800,
    epoch: 2,
    epochs: 8,
    stepsPerSecond: 123.4,
    etaSeconds: 29.2,
    phase: 'training',
    note: ''
  };
  assert.equal(
    progressText(progress, 0.25, true, trans),
    'Epoch 2 of 8, step 1,200 of 4,800 (25%), 123 steps per second, 29 s left, training'
  );
  const over = { ...progress, stepsPerSecond: null, etaSeconds: null };
  const early = { ...over, step: 0, epoch: 1, phase: 'tracing' };
  assert.equal(
    progressText(early, 0, true, trans),
    'Epoch 1 of 8, step 0 of 4,800 (0%), tracing'
  );
  assert.equal(
    progressText({ ...early, stage: 'Loading the data' }, 0, true, trans),
    'Epoch 1 of 8, step 0 of 4,800 (0%)'
  );
  assert.equal(
    progressText(over, 1, false, trans),
    'Epoch 2 of 8, step 1,200 of 4,800 (100%)'
  );
});
