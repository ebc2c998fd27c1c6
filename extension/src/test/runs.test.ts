/** What a page knows of all runs, and what it tells of them by itself. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Row, RunsTold } from '../server/protocol.js';
import { RunRows } from '../server/runs.js';
import { Ends } from '../status/ended.js';
import { noticeOf } from '../status/notices.js';
import { progressWords } from '../status/words.js';
import { living, row } from './rows.js';
import { untranslated as trans } from './untranslated.js';

const ALL = { notifyFinished: true, notifyFailed: true };

const told = (rows: Row[], more: Partial<RunsTold> = {}): RunsTold => ({
  channel: 'runs',
  folder: '',
  rows,
  ...more
});
const ids = (rows: Row[]): string[] => rows.map(({ id }) => id);

test('rows come in parts, change, and go', () => {
  const rows = new RunRows();
  rows.take(told([row('a')], { first: true }));
  assert.equal(rows.whole, false);
  rows.take(told([row('b')], { whole: true }));
  assert.ok(rows.whole);
  rows.take(told([living('b', { step: 3 })], { gone: ['a'], whole: true }));
  assert.deepEqual(ids(rows.all), ['b']);
  assert.equal(rows.of('b')?.step, 3);
});

test('a server that was started again reads again, and nothing is forgotten until it has', () => {
  const rows = new RunRows();
  rows.take(told([row('a'), row('b')], { first: true, whole: true }));
  rows.take(told([], { first: true, whole: false }));
  rows.take(told([row('b')], { whole: false }));
  assert.deepEqual(ids(rows.all), ['a', 'b']);
  rows.take(told([], { whole: true }));
  assert.deepEqual(ids(rows.all), ['b']);
});

test('why runs cannot be listed is known until they can', () => {
  const rows = new RunRows();
  rows.take({ channel: 'runs', folder: 'x', trouble: 'no such folder' });
  assert.equal(rows.trouble, 'no such folder');
  rows.take(told([], { first: true, whole: true }));
  assert.equal(rows.trouble, '');
});

test('a run that ends while one looks is news once; one that was over before is none', () => {
  const ends = new Ends();
  assert.deepEqual(ends.look([row('old'), living('a')], true), []);
  assert.deepEqual(ids(ends.look([row('old'), row('a')], true)), ['a']);
  assert.deepEqual(ends.look([row('old'), row('a')], true), []);
});

test('a run that goes on and ends again is news again', () => {
  const ends = new Ends();
  for (const expected of [1, 1]) {
    ends.look([living('a')], true);
    assert.equal(ends.look([row('a')], true).length, expected);
  }
});

test('a new run that ends between two looks is news; an old one that is put there is none', () => {
  const ends = new Ends();
  ends.look([row('a', { created: 1000 })], true);
  const now = [
    row('a'),
    row('new', { created: 1001 }),
    row('old', { created: 999 })
  ];
  assert.deepEqual(ids(ends.look(now, true)), ['new']);
  assert.deepEqual(ends.look(now, true), []);
});

test('runs that are still being read at first are no news', () => {
  const ends = new Ends();
  assert.deepEqual(ends.look([row('a')], false), []);
  assert.deepEqual(ends.look([row('a'), row('b')], true), []);
});

test('what is said of an end is as serious as the end', () => {
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

test('what JupyterLab would cut off without a sign is cut with one', () => {
  const text = noticeOf(
    row('a', { status: 'failed', note: 'x'.repeat(200) }),
    ALL,
    trans
  )!.text;
  assert.equal(text.length, 140);
  assert.ok(text.endsWith('x…'));
});

test('nothing is said that nobody wishes', () => {
  const quiet = { notifyFinished: false, notifyFailed: false };
  for (const status of ['finished', 'stopped', 'failed', 'lost']) {
    assert.equal(noticeOf(row('a', { status }), quiet, trans), null);
  }
});

test('the status bar counts what is in progress and adds up the speeds it knows', () => {
  assert.equal(progressWords([row('a')], trans), '');
  assert.equal(progressWords([living('a')], trans), '1 run in progress');
  const two = [
    living('a', { stepsPerSecond: 500.2 }),
    living('b', { stepsPerSecond: 12.3 }),
    living('c', { stepsPerSecond: null }),
    row('d', { stepsPerSecond: 9 })
  ];
  assert.equal(progressWords(two, trans), '3 runs in progress, 513 steps/s');
  const slow = [living('a', { stepsPerSecond: 0.123 })];
  assert.equal(progressWords(slow, trans), '1 run in progress, 0.12 steps/s');
});
