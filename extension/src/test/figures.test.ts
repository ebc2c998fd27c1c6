/** The numbers at a glance: of the newest steps while a run trains, then of its last epoch. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { figuresOf } from '../runview/figures.js';
import { ENGLISH as trans } from '../runview/language.js';
import type { SnapshotParts, PointsHeader } from '../runview/protocol.js';
import { Series } from '../runview/series.js';
import { buffers, header, NO_EPOCHS } from './feeds.js';

const EPOCHS = {
  ...NO_EPOCHS,
  epoch: [1, 2],
  step: [50, 100],
  loss: [0.5, 0.03314],
  accuracy: [0.5, 0.9844],
  testLoss: [0.5, 0.25],
  testAccuracy: [0.985, null]
};
const RESULTS: SnapshotParts['results'] = {
  loss: 0.03314,
  accuracy: 0.9844,
  testAccuracy: 0.985,
  examplesPerSecond: 1790.6,
  seconds: 90
};

function series(count = 100, more: Partial<PointsHeader> = {}): Series {
  const made = new Series();
  made.take(header(0, more), buffers(1, count));
  return made;
}

function texts(known: object, of = series()): Record<string, string[]> {
  const figures = figuresOf(known, of, trans);
  return Object.fromEntries(
    figures.map(({ name, value, note }) => [name, [value, note]])
  );
}

test('while a run trains, they are means of its newest steps, with the time left', () => {
  const head = { alive: true };
  const progress = { examplesPerSecond: 2380.2, etaSeconds: 80 };
  assert.deepEqual(texts({ head, progress, epochs: NO_EPOCHS }), {
    Loss: ['300', 'last 2 steps'],
    Accuracy: ['59950.00%', 'last 2 steps'],
    'Test accuracy': ['–', ''],
    'Examples per second': ['2,380', 'last 10 s'],
    'Time left': ['1 min 20 s', 'at this speed']
  });
});

test('after the end, they are the results of the last epoch, with the duration', () => {
  const known = { head: { alive: false }, epochs: EPOCHS, results: RESULTS };
  assert.deepEqual(texts(known), {
    Loss: ['0.0331', 'epoch 2'],
    Accuracy: ['98.44%', 'epoch 2'],
    'Test accuracy': ['98.50%', 'epoch 2'],
    'Examples per second': ['1,791', 'steady state'],
    Duration: ['1 min 30 s', 'of the whole run']
  });
});

test('what is not known is a dash or left out, never zero', () => {
  const live = texts({ head: { alive: true } });
  assert.equal(live['Time left']![0], '–');
  const over = texts({ head: { alive: false } });
  assert.equal(over['Duration']![0], '–');
  assert.equal(over['Examples per second']![0], '–');
  assert.ok(!('Test accuracy' in over));
  const unknown = series(3);
  unknown.curve('accuracy').mean.forEach(row => row.fill(null));
  assert.ok(!('Accuracy' in texts({ head: { alive: true } }, unknown)));
});

test('a run without tests has no test accuracy while it trains, either', () => {
  const known = { head: { alive: true, tested: false }, epochs: NO_EPOCHS };
  assert.ok(!('Test accuracy' in texts(known)));
});

test('workers with their own steps have no common loss', () => {
  const apart = series(100, { workers: 2, synchronous: false });
  const { Loss } = texts({ head: { alive: true } }, apart);
  assert.deepEqual(Loss, ['–', '']);
});
