/** The protocol: the state of a page after each message, in every order. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { News } from '../runview/notes.js';
import type { Head, Progress } from '../runview/protocol.js';
import { RunState } from '../runview/state.js';
import { Series } from '../runview/series.js';
import { buffers, header, message } from './feeds.js';

const loss = (series: Series) => series.curve('loss').mean[0];

test('blocks in order build the lines up', () => {
  const state = new RunState();
  assert.ok(state.take(message(1, 0, true), buffers(1, 3)));
  assert.ok(state.take(message(2, 3), buffers(4, 2)));
  const { series } = state;
  assert.deepEqual(series.steps, [1, 2, 3, 4, 5]);
  assert.deepEqual(series.across('examples'), [64, 128, 192, 256, 320]);
  assert.deepEqual(series.across('time'), [0.1, 0.2, 0.3, 0.4, 0.5]);
  assert.deepEqual(loss(series), [1, 2, 3, 4, 5]);
  assert.deepEqual(series.curve('rate').joined, [801, 802, 803, 804, 805]);
});

test('a block replaces the points from its first one on', () => {
  const state = new RunState();
  state.take(message(1, 0, true), buffers(1, 4));
  state.take(message(2, 2), buffers(30, 1));
  assert.deepEqual(state.series.steps, [1, 2, 30]);
  assert.deepEqual(state.series.curve('accuracy').mean[1], [401, 402, 430]);
});

test('a lost block is noticed, and a whole message repairs the state', () => {
  const state = new RunState();
  state.take(message(1, 0, true), buffers(1, 2));
  assert.equal(state.take(message(3, 3), buffers(4, 1)), false);
  assert.deepEqual(state.series.steps, [1, 2]);
  assert.ok(state.take(message(4, 0, true), buffers(1, 4)));
  assert.ok(state.take(message(5, 4), buffers(5, 1)));
  assert.deepEqual(state.series.steps, [1, 2, 3, 4, 5]);
});

test('a view that opens during a run waits for a whole message', () => {
  assert.equal(new RunState().take(message(7, 5), buffers(6, 1)), false);
});

test('an old message changes nothing', () => {
  const state = new RunState();
  state.take(message(4, 0, true), buffers(1, 4));
  assert.ok(state.take(message(3, 2), buffers(9, 1)));
  assert.deepEqual(state.series.steps, [1, 2, 3, 4]);
});

test('a message of another feed is refused until a whole one', () => {
  const state = new RunState();
  state.take(message(9, 0, true), buffers(1, 4));
  assert.equal(state.take(message(10, 4, false, 'b'), buffers(5, 1)), false);
  assert.ok(state.take(message(2, 0, true, 'b'), buffers(1, 1)));
  assert.ok(state.take(message(3, 1, false, 'b'), buffers(2, 1)));
  assert.deepEqual(state.series.steps, [1, 2]);
});

test('parts come when they change and stay until then', () => {
  const state = new RunState();
  const parts = { actions: ['stop' as const], gone: '' };
  state.take({ ...message(1, 0, true), parts, points: undefined }, []);
  state.take({ ...message(2, 0), parts: { gone: 'x' }, points: undefined }, []);
  assert.deepEqual(state.parts, { actions: ['stop'], gone: 'x' });
});

test('NaN is a gap; infinity is one too, and marked', () => {
  const series = new Series();
  const [across, values] = buffers(1, 3) as [DataView, DataView];
  values.setFloat32(0, NaN, true);
  values.setFloat32(4, Infinity, true);
  series.take(header(0), [across, values]);
  assert.deepEqual(loss(series), [null, null, 3]);
  assert.deepEqual([...series.nonfinite], [1]);
  series.take(header(1), buffers(2, 2));
  assert.equal(series.nonfinite.size, 0);
});

test('points of many steps have a least and a greatest value', () => {
  const series = new Series();
  const many = header(0, { spans: true, stepsAPoint: 8 });
  series.take(many, buffers(1, 2, 7));
  assert.ok(series.spans);
  assert.deepEqual(series.curve('loss').low[0], [301, 302]);
  assert.deepEqual(series.curve('loss').high[1], [601, 602]);
});

const head = (status: string) => ({ head: { status } as Head });
const said = (note: string) => ({ progress: { note } as Progress });

test('the result of an action stands until the state or the note of the run changes', () => {
  const news = new News();
  assert.ok(news.overtake({ ...head('running'), ...said('') }, 'info'));
  assert.equal(news.overtake(said(''), 'info'), false);
  assert.ok(news.overtake(said('worker-1: Killed on request.'), 'info'));
  assert.equal(
    news.overtake(said('worker-1: Killed on request.'), 'info'),
    false
  );
  assert.equal(news.overtake({ logs: {} }, 'info'), false);
  assert.ok(news.overtake(head('starting'), 'info'));
  assert.ok(news.overtake({ actions: ['resume'] }, 'info'));
});

test('a failed action stands until the run begins again', () => {
  const news = new News();
  for (const status of ['failed', 'stopping', 'lost']) {
    const parts = { ...head(status), ...said(status), actions: [] };
    assert.equal(news.overtake(parts, 'error'), false);
  }
  for (const status of ['queued', 'starting', 'running']) {
    assert.ok(news.overtake(head(status), 'error'));
  }
});
