/** The sidebar's list: its order, waiting runs, visible rows, selection and texts. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Row } from '../server/protocol.js';
import { intentOf } from '../sidebar/keys.js';
import { noticeOf } from '../sidebar/notices.js';
import { RunList } from '../sidebar/runlist.js';
import { Selection } from '../sidebar/selection.js';
import { scrolledTo, windowOf } from '../sidebar/window.js';
import { named, rowText, statusWord } from '../sidebar/words.js';

const fill = (text: string, values: unknown[]): string =>
  text.replace(/%(\d)/g, (_, at: string) => String(values[Number(at) - 1]));
const trans = {
  __: (text: string, ...values: unknown[]) => fill(text, values),
  _n: (one: string, many: string, n: number, ...values: unknown[]) =>
    fill(n === 1 ? one : many, [n, ...values])
} as unknown as TranslationBundle;

function row(created: number, more: Partial<Row> = {}): Row {
  return {
    id: `run-${created}`,
    name: '',
    title: `title ${created}`,
    about: 'Mirrored on 2 virtual replicas, Keras fit, MLP, synthetic',
    created,
    status: 'finished',
    alive: false,
    actions: ['train_on', 'delete'],
    error: '',
    step: 4800,
    totalSteps: 4800,
    ...more
  };
}

const rows = (...created: number[]) => created.map(at => row(at));

function listOf(...created: number[]): RunList {
  const list = new RunList();
  list.take({ rows: rows(...created), whole: true, first: true }, true);
  return list;
}

test('runs are listed newest first, runs of the same second by their ids', () => {
  assert.deepEqual(listOf(1, 3, 2).visible, ['run-3', 'run-2', 'run-1']);
  const list = new RunList();
  const twins = ['a', 'c', 'b'].map(id => row(1, { id }));
  list.take({ rows: twins, whole: true }, true);
  assert.deepEqual(list.visible, ['c', 'b', 'a']);
});

test('a new run waits while a person uses the list', () => {
  const list = listOf(1, 2);
  list.take({ rows: rows(3, 4) }, false);
  assert.deepEqual(list.visible, ['run-2', 'run-1']);
  assert.equal(list.waiting, 2);
  list.take({ rows: [row(3, { status: 'failed' })] }, false);
  assert.equal(list.waiting, 2);
  list.reveal();
  assert.deepEqual(list.visible, ['run-4', 'run-3', 'run-2', 'run-1']);
  assert.equal(list.row('run-3')?.status, 'failed');
  assert.equal(list.waiting, 0);
});

test('a new run and the waiting ones appear immediately if nobody uses the list', () => {
  const list = listOf(1);
  list.take({ rows: rows(2) }, false);
  list.take({ rows: rows(3) }, true);
  assert.deepEqual(list.visible, ['run-3', 'run-2', 'run-1']);
});

test('while runs are still being read, older runs are added below the shown ones', () => {
  const list = new RunList();
  list.take({ rows: rows(9, 8), first: true, whole: false }, false);
  list.take({ rows: rows(7, 6), whole: false }, false);
  assert.deepEqual(list.visible, ['run-9', 'run-8', 'run-7', 'run-6']);
  assert.ok(!list.whole);
});

test('a run that changes stays where it is', () => {
  const list = listOf(1, 2, 3);
  const before = [...list.visible];
  list.take({ rows: [row(2, { status: 'running', alive: true })] }, true);
  assert.deepEqual(list.visible, before);
  assert.equal(list.row('run-2')?.status, 'running');
});

test('a deleted run stays in the list as deleted until the list is refreshed', () => {
  const list = listOf(1, 2, 3);
  list.take({ gone: ['run-2'] }, true);
  assert.deepEqual(list.visible, ['run-3', 'run-2', 'run-1']);
  assert.equal(list.row('run-2')?.status, 'deleted');
  assert.deepEqual(list.row('run-2')?.actions, []);
  list.refresh();
  assert.deepEqual(list.visible, ['run-3', 'run-1']);
  assert.equal(list.row('run-2'), undefined);
});

test('a run that is deleted while it waits is never shown', () => {
  const list = listOf(1);
  list.take({ rows: rows(2) }, false);
  list.take({ gone: ['run-2'] }, false);
  assert.equal(list.waiting, 0);
  list.reveal();
  assert.deepEqual(list.visible, ['run-1']);
});

test('after a restart of the server, runs that are not listed again are deleted', () => {
  const list = listOf(1, 2, 3);
  list.take({ rows: rows(3), first: true, whole: false }, false);
  assert.equal(list.row('run-1')?.status, 'finished');
  list.take({ rows: rows(2), whole: true }, false);
  assert.equal(list.row('run-1')?.status, 'deleted');
  assert.deepEqual(list.visible, ['run-3', 'run-2', 'run-1']);
});

test('error is kept until the server sends runs again', () => {
  const list = listOf(1);
  list.take({ error: 'no such folder' }, true);
  assert.equal(list.error, 'no such folder');
  assert.deepEqual(list.visible, ['run-1']);
  list.take({ rows: [] }, true);
  assert.equal(list.error, '');
});

test('a row must have all words of a filter, which is not applied again when a run changes', () => {
  const list = listOf(1, 2, 3);
  list.filter('MIRRORED title');
  assert.equal(list.visible.length, 3);
  list.filter('2 finished');
  assert.equal(list.visible.length, 3, 'of 2 replicas');
  list.filter('run-2 finished');
  assert.deepEqual(list.visible, ['run-2']);
  list.take({ rows: [row(2, { status: 'running' })] }, true);
  assert.deepEqual(list.visible, ['run-2']);
  assert.equal(list.count, 3);
});

test('of many rows, the visible ones and some spare ones are drawn', () => {
  const at = (top: number) =>
    windowOf({ top, height: 500, rowHeight: 50 }, 1000, 2);
  assert.deepEqual(at(0), { first: 0, end: 12 });
  assert.deepEqual(at(1025), { first: 18, end: 33 });
  assert.deepEqual(at(49_500), { first: 988, end: 1000 });
  const short = windowOf({ top: 0, height: 500, rowHeight: 50 }, 3, 2);
  assert.deepEqual(short, { first: 0, end: 3 });
});

test('the list scrolls to a row by as little as needed', () => {
  const sighted = { top: 100, height: 200, rowHeight: 50 };
  assert.equal(scrolledTo(3, sighted), 100);
  assert.equal(scrolledTo(1, sighted), 50);
  assert.equal(scrolledTo(9, sighted), 300);
});

test('rows are selected alone, one by one, and from one to another', () => {
  const order = ['a', 'b', 'c', 'd'];
  const selection = new Selection();
  selection.go(order, 'b', 'only');
  selection.go(order, 'd', 'range');
  assert.deepEqual(selection.within(order), ['b', 'c', 'd']);
  selection.go(order, 'a', 'range');
  assert.deepEqual(selection.within(order), ['a', 'b']);
  selection.go(order, 'd', 'toggle');
  selection.go(order, 'a', 'toggle');
  assert.deepEqual(selection.within(order), ['b', 'd']);
  selection.go(order, 'c', 'walk');
  assert.equal(selection.active, 'c');
  assert.deepEqual(selection.within(order), ['b', 'd']);
});

test('a row that leaves the list is no longer selected', () => {
  const selection = new Selection();
  selection.go(['a', 'b'], 'b', 'only');
  selection.keep(['a']);
  assert.equal(selection.active, '');
  assert.deepEqual(selection.within(['a', 'b']), []);
  selection.go(['a', 'c'], 'c', 'range');
  assert.deepEqual(selection.within(['a', 'c']), ['c']);
});

test('keys move, select, open, delete and show the menu', () => {
  const key = (name: string, held: Partial<KeyboardEvent> = {}, at = 4) =>
    intentOf(
      {
        key: name,
        shiftKey: false,
        ctrlKey: false,
        metaKey: false,
        altKey: false,
        ...held
      },
      at,
      100,
      10
    );
  assert.deepEqual(key('ArrowDown'), { to: 5, how: 'only' });
  assert.deepEqual(key('ArrowUp', { shiftKey: true }), { to: 3, how: 'range' });
  assert.deepEqual(key('End', { ctrlKey: true }), { to: 99, how: 'walk' });
  assert.deepEqual(key('PageDown', {}, 95), { to: 99, how: 'only' });
  assert.deepEqual(key('PageUp'), { to: 0, how: 'only' });
  assert.deepEqual(key('ArrowDown', {}, -1), { to: 0, how: 'only' });
  assert.deepEqual(
    [' ', 'Enter', 'Delete', 'ContextMenu', 'x'].map(name => key(name)),
    ['toggle', 'open', 'delete', 'menu', null]
  );
  assert.equal(key('F10', { shiftKey: true }), 'menu');
  assert.equal(key('a', { metaKey: true }), 'all');
  assert.equal(key('ArrowDown', { altKey: true }), null);
});

test('a run in progress shows its progress', () => {
  const living = row(1, {
    alive: true,
    status: 'running',
    step: 1200,
    etaSeconds: 29.2,
    stepsPerSecond: 123.4
  });
  assert.equal(rowText(living, trans), '25%, 29 s left, 123 steps/s');
  const early = { ...living, step: 0, phase: 'tracing' };
  assert.equal(rowText(early, trans), 'tracing');
  const stage = 'Importing TensorFlow';
  assert.equal(rowText({ ...early, stage }, trans), stage);
  const again = { ...early, stage, note: 'worker-1 was killed.' };
  assert.equal(rowText(again, trans), `${stage}. worker-1 was killed.`);
  const behind = { ...living, note: 'worker-1 is behind' };
  assert.equal(rowText(behind, trans), 'worker-1 is behind');
  const unknown = { ...living, etaSeconds: null, stepsPerSecond: null };
  assert.equal(rowText(unknown, trans), '25%');
});

test('an ended run shows its result without unknown values, or its error instead', () => {
  const results = {
    loss: 0.1,
    accuracy: 0.9,
    test_loss: 0.2,
    test_accuracy: 0.9123,
    examples_per_second: null
  };
  assert.equal(rowText(row(1), trans), '4,800 steps');
  assert.equal(
    rowText(row(1, { results, step: 20 }), trans),
    'test accuracy 91.23%, 20 of 4,800 steps'
  );
  assert.equal(
    rowText(row(1, { error: 'plan.json is cut' }), trans),
    'plan.json is cut'
  );
  const failed = { status: 'failed', note: 'Out of memory.', step: 20 };
  assert.equal(
    rowText(row(1, failed), trans),
    '20 of 4,800 steps: Out of memory.'
  );
});

test('a status that is new to the page is shown as it is', () => {
  assert.equal(statusWord('paused', trans), 'paused');
});

test('one run is called by its title, more by their number', () => {
  assert.equal(named(rows(1), trans), '“title 1”');
  assert.equal(named(rows(1, 2), trans), '2 runs');
});

test('without the server half, the notice names the command that enables it', () => {
  const notice = noticeOf('absent', '', trans);
  assert.equal(
    notice?.command,
    'jupyter server extension enable workbench.server'
  );
  assert.ok(notice.again);
  assert.equal(noticeOf('connected', '', trans), null);
  assert.equal(
    noticeOf('connected', 'no such folder', trans)?.text,
    'no such folder'
  );
});
