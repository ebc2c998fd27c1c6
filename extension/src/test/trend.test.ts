/** The trend of a line: from its first to its last values, if chance does not explain it. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { endPoints, trendOf } from '../runview/trend.js';

test('a trend has the first and the last value of a line', () => {
  const falling = { first: 5, last: 1, way: 'falling' };
  assert.deepEqual(trendOf([5, 4, 3, 2, 1], 1), falling);
  assert.deepEqual(trendOf([null, 5, null, 4, 3, 2, 1, null], 1), falling);
  assert.deepEqual(trendOf([1, 1, 1], 1), { first: 1, last: 1, way: null });
});

test('a line that fell and then stayed is falling, not steady', () => {
  const flat = Array<number>(80).fill(0.305);
  const fall = Array.from({ length: 20 }, (_, at) => 0.701 - 0.0198 * at);
  assert.equal(trendOf([...fall, ...flat], 1)!.way, 'falling');
  assert.equal(trendOf(flat, 1)!.way, null);
});

test('two values are no trend, and no value is none', () => {
  assert.deepEqual(trendOf([1, 2], 1), { first: 1, last: 2, way: null });
  assert.deepEqual(trendOf([1], 1), { first: 1, last: 1, way: null });
  assert.equal(trendOf([null, null], 1), null);
});

test('scatter is no trend', () => {
  const noise = Array.from({ length: 400 }, (_, at) => Math.sin(at * at));
  const line = (slope: number) =>
    noise.map((each, at) => 9 + each - slope * at);
  assert.equal(trendOf(line(0), 8)!.way, null);
  assert.equal(trendOf(line(0.02), 8)!.way, 'falling');
});

test('the end of a line is about two hundredths of it', () => {
  assert.equal(endPoints(40, 1), 1);
  assert.equal(endPoints(1000, 1), 20);
  assert.equal(endPoints(10_000, 10), 20);
  assert.equal(endPoints(100, 50), 1);
});
