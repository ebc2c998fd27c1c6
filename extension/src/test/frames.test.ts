/** Frames of the server: the files that the server's own tests write and compare. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import type { RunMessage, WindowMessage } from '../runview/protocol.js';
import { Series } from '../runview/series.js';
import { RunState } from '../runview/state.js';
import { unpacked, type Frame } from '../server/frames.js';
import type { RunsUpdate, RunUpdate } from '../server/protocol.js';
import { RunRows } from '../server/runs.js';
import { seriesIn } from '../server/series.js';

const FOLDER = new URL('../../../tests/fixtures/messages/', import.meta.url);
const RUN = '20261101-120000-abcd';

function read<Content>(name: string): Frame<Content> {
  const bytes = readFileSync(new URL(name, FOLDER));
  return unpacked(
    name.endsWith('.json') ? bytes.toString() : Uint8Array.from(bytes).buffer
  );
}

function take(state: RunState, name: string): boolean {
  const { content, buffers } = read<RunUpdate>(name);
  assert.equal(content.run, RUN);
  return state.take(content.message as RunMessage, buffers);
}

test('the curves of compared runs have a column each, with null for an unknown value', () => {
  const bytes = readFileSync(new URL('series.bin', FOLDER));
  const [series, ...others] = seriesIn(Uint8Array.from(bytes).buffer);
  assert.ok(series !== undefined && 'step' in series);
  assert.equal(series.steps_a_point, 1);
  assert.deepEqual([series.step[0], series.step.at(-1)], [1, 120]);
  assert.equal(series.examples.at(-1), 120 * 128);
  assert.ok(Math.abs(series.loss[0]! - 1.5) < 1e-6);
  assert.equal(series.accuracy[0], 0.5);
  assert.equal(series.loss.indexOf(null), 109);
  assert.equal(series.examples_per_second.length, 120);
  assert.deepEqual(others, []);
});

test('a whole message has the account and the lines of a run', () => {
  const state = new RunState();
  assert.ok(take(state, 'whole.bin'));
  const { parts, series } = state;
  assert.equal(parts.head?.title, 'The <b>same</b> run');
  assert.equal(parts.logs?.['worker-0'], 'first line\n<b>last line</b>');
  assert.deepEqual(parts.epochs?.testAccuracy, [0.75]);
  assert.equal(series.length, 100);
  assert.deepEqual([series.steps[0], series.steps.at(-1)], [1, 100]);
  assert.equal(series.across('examples').at(-1), 100 * 128);
  const { mean, joined } = series.curve('loss');
  assert.deepEqual([mean[0]![7], mean[1]![7], joined[7]], [1, 2, 1.5]);
  assert.equal(series.curve('accuracy').joined[7], 0.5);
});

test('a later message continues after the whole one; a loss that is not finite is a marked gap', () => {
  const state = new RunState();
  take(state, 'whole.bin');
  assert.ok(take(state, 'news.bin'));
  const { series } = state;
  assert.equal(series.length, 120);
  assert.equal(series.curve('loss').joined[119], 0.75);
  assert.equal(series.curve('loss').mean[1]![109], null);
  assert.deepEqual([...series.nonfinite], [109]);
});

test('a later message is refused without a whole one before it', () => {
  assert.equal(take(new RunState(), 'news.bin'), false);
});

test('a part in more detail has the id of its request', () => {
  const { content, buffers } = read<RunUpdate>('window.bin');
  const message = content.message as WindowMessage;
  assert.equal(message.request, 'a-1');
  const series = new Series();
  series.take({ ...message.points, from: 0 }, buffers);
  assert.deepEqual(
    series.steps,
    Array.from({ length: 10 }, (_, at) => 11 + at)
  );
});

test('the last message of a deleted run is text only', () => {
  const state = new RunState();
  take(state, 'whole.bin');
  take(state, 'news.bin');
  assert.ok(take(state, 'ended.json'));
  assert.equal(state.parts.gone, 'The run was deleted.');
  assert.equal(state.series.length, 120);
});

test('a list of runs has a row for each run', () => {
  const rows = new RunRows();
  rows.take(read<RunsUpdate>('rows.json').content);
  assert.ok(rows.whole);
  const row = rows.of(RUN)!;
  assert.deepEqual([row.step, row.totalSteps, row.alive], [120, 156, false]);
  assert.equal(row.results?.test_accuracy, 0.75);
});
