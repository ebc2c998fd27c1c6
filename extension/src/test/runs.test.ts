/** The runs that a page knows, its notifications about them, and the text of its status bar. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Row, RunsUpdate } from '../server/protocol.js';
import { RunRows } from '../server/runs.js';
import { Ends } from '../status/ended.js';
import { noticeOf, resumedOrGone } from '../status/notices.js';
import { statusBarText } from '../status/words.js';
import { living, row } from './rows.js';
import { ENGLISH as trans } from '../runview/language.js';

const ALL = { notifyFinished: true, notifyFailed: true };

const update = (rows: Row[], more: Partial<RunsUpdate> = {}): RunsUpdate => ({
  channel: 'runs',
  folder: '',
  rows,
  ...more
});
const ids = (rows: Row[]): string[] => rows.map(({ id }) => id);

test('rows come in parts, change, and go', () => {
  const rows = new RunRows();
  rows.take(update([row('a')], { first: true }));
  assert.equal(rows.whole, false);
  rows.take(update([row('b')], { whole: true }));
  assert.ok(rows.whole);
  rows.take(update([living('b', { step: 3 })], { gone: ['a'], whole: true }));
  assert.deepEqual(ids(rows.all), ['b']);
  assert.equal(rows.of('b')?.step, 3);
});

test('a restarted server lists the runs again, and no run is removed before the end of the list', () => {
  const rows = new RunRows();
  rows.take(update([row('a'), row('b')], { first: true, whole: true }));
  rows.take(update([], { first: true, whole: false }));
  rows.take(update([row('b')], { whole: false }));
  assert.deepEqual(ids(rows.all), ['a', 'b']);
  rows.take(update([], { whole: true }));
  assert.deepEqual(ids(rows.all), ['b']);
});

test('the reason why runs cannot be listed is kept until they can be listed', () => {
  const rows = new RunRows();
  rows.take({ channel: 'runs', folder: 'x', error: 'no such folder' });
  assert.equal(rows.error, 'no such folder');
  rows.take(update([], { first: true, whole: true }));
  assert.equal(rows.error, '');
});

test('a run that ends while the page is open is reported once, an earlier end never', () => {
  const ends = new Ends();
  assert.deepEqual(ends.newlyEnded([row('old'), living('a')], true), []);
  assert.deepEqual(ids(ends.newlyEnded([row('old'), row('a')], true)), ['a']);
  assert.deepEqual(ends.newlyEnded([row('old'), row('a')], true), []);
});

test('a run that continues and ends again is reported again', () => {
  const ends = new Ends();
  for (const expected of [1, 1]) {
    ends.newlyEnded([living('a')], true);
    assert.equal(ends.newlyEnded([row('a')], true).length, expected);
  }
});

test('a new run that ends between two updates is reported, an old run that is copied there is not', () => {
  const ends = new Ends();
  ends.newlyEnded([row('a', { created: 1000 })], true);
  const now = [
    row('a'),
    row('new', { created: 1001 }),
    row('old', { created: 999 })
  ];
  assert.deepEqual(ids(ends.newlyEnded(now, true)), ['new']);
  assert.deepEqual(ends.newlyEnded(now, true), []);
});

test('runs of the first list are not reported', () => {
  const ends = new Ends();
  assert.deepEqual(ends.newlyEnded([row('a')], false), []);
  assert.deepEqual(ends.newlyEnded([row('a'), row('b')], true), []);
});

test('the notification about an end is as serious as the end', () => {
  const notice = (status: string, more: Partial<Row> = {}) =>
    noticeOf(row('a', { status, ...more }), ALL, trans);
  assert.deepEqual(notice('finished'), {
    kind: 'success',
    text: 'Title of a has finished.',
    autoClose: 15_000
  });
  assert.equal(notice('stopped')?.kind, 'info');
  assert.deepEqual(notice('failed', { note: 'Out of memory.' }), {
    kind: 'error',
    text: 'Title of a has failed. Out of memory.',
    autoClose: false
  });
  assert.equal(notice('lost')?.kind, 'warning');
  assert.equal(notice('unreadable'), null);
});

test('the notification about an end goes when its run is resumed or deleted', () => {
  const notified = new Map([
    ['failed', '1'],
    ['resumed', '2'],
    ['deleted', '3']
  ]);
  const now = [row('failed', { status: 'failed' }), living('resumed')];
  assert.deepEqual(resumedOrGone(notified.keys(), now), ['resumed', 'deleted']);
  const waits = [living('failed', { status: 'queued' })];
  assert.deepEqual(resumedOrGone(['failed'], waits), ['failed']);
});

test('a text that JupyterLab would cut silently ends with an ellipsis', () => {
  const text = noticeOf(
    row('a', { status: 'failed', note: 'x'.repeat(200) }),
    ALL,
    trans
  )!.text;
  assert.equal(text.length, 140);
  assert.ok(text.endsWith('x…'));
});

test('the settings switch notifications off', () => {
  const quiet = { notifyFinished: false, notifyFailed: false };
  for (const status of ['finished', 'stopped', 'failed', 'lost']) {
    assert.equal(noticeOf(row('a', { status }), quiet, trans), null);
  }
});

test('a run that waits in the queue is not counted as in progress', () => {
  const waits = living('b', { status: 'queued', stepsPerSecond: null });
  assert.equal(statusBarText([waits], trans), '1 run queued');
  const both = [living('a', { stepsPerSecond: 500 }), waits, waits];
  assert.equal(
    statusBarText(both, trans),
    '1 run in progress, 500 steps per second, 2 runs queued'
  );
});

test('the status bar counts the runs in progress and adds their known speeds', () => {
  assert.equal(statusBarText([row('a')], trans), '');
  assert.equal(statusBarText([living('a')], trans), '1 run in progress');
  const two = [
    living('a', { stepsPerSecond: 500.2 }),
    living('b', { stepsPerSecond: 12.3 }),
    living('c', { stepsPerSecond: null }),
    row('d', { stepsPerSecond: 9 })
  ];
  assert.equal(
    statusBarText(two, trans),
    '3 runs in progress, 513 steps per second'
  );
  const slow = [living('a', { stepsPerSecond: 0.123 })];
  assert.equal(
    statusBarText(slow, trans),
    '1 run in progress, 0.12 steps per second'
  );
});
