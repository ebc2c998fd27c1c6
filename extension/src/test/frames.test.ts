/** Frames as the server packs them: the files that the server's own tests write and compare. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import type { RunMessage, WindowMessage } from '../runview/protocol.js';
import { Series } from '../runview/series.js';
import { RunState } from '../runview/state.js';
import { unpacked, type Frame } from '../server/frames.js';
import type { RunsTold, RunTold } from '../server/protocol.js';
import { RunRows } from '../server/runs.js';

const FOLDER = new URL('../../../tests/fixtures/messages/', import.meta.url);
const RUN = '20261101-120000-abcd';

function read<Content>(name: string): Frame<Content> {
  const bytes = readFileSync(new URL(name, FOLDER));
  return unpacked(
    name.endsWith('.json') ? bytes.toString() : Uint8Array.from(bytes).buffer
  );
}

function take(state: RunState, name: string): boolean {
  const { content, buffers } = read<RunTold>(name);
  assert.equal(content.run, RUN);
  return state.take(content.message as RunMessage, buffers);
}

test('the whole of a run is its account and its lines', () => {
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

test('news goes on where the whole ends; a loss that is no number is a gap, and marked', () => {
  const state = new RunState();
  take(state, 'whole.bin');
  assert.ok(take(state, 'news.bin'));
  const { series } = state;
  assert.equal(series.length, 120);
  assert.equal(series.curve('loss').joined[119], 0.75);
  assert.equal(series.curve('loss').mean[1]![109], null);
  assert.deepEqual([...series.broken], [109]);
});

test('news without the whole is not taken', () => {
  assert.equal(take(new RunState(), 'news.bin'), false);
});

test('a part in more detail comes under the name it was asked for', () => {
  const { content, buffers } = read<RunTold>('window.bin');
  const message = content.message as WindowMessage;
  assert.equal(message.request, 'a-1');
  const series = new Series();
  series.take({ ...message.points, from: 0 }, buffers);
  assert.deepEqual(
    series.steps,
    Array.from({ length: 10 }, (_, at) => 11 + at)
  );
});

test('the end of what can be told comes as text alone', () => {
  const state = new RunState();
  take(state, 'whole.bin');
  take(state, 'news.bin');
  assert.ok(take(state, 'ended.json'));
  assert.equal(state.parts.gone, 'The run was deleted.');
  assert.equal(state.series.length, 120);
});

test('a list of runs is its rows', () => {
  const rows = new RunRows();
  rows.take(read<RunsTold>('rows.json').content);
  assert.ok(rows.whole);
  const row = rows.of(RUN)!;
  assert.deepEqual([row.step, row.totalSteps, row.alive], [120, 156, false]);
  assert.equal(row.results?.test_accuracy, 0.75);
});
