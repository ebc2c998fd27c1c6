/** How the panel judges kernels, sessions and the outcome of its code, and explains error. */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Session } from '@jupyterlab/services';
import type { TranslationBundle } from '@jupyterlab/translation';

import { conditionOf, isLost } from '../panel/condition.js';
import { isFinal } from '../panel/phase.js';
import { lostSessions, pathOf } from '../panel/sessions.js';
import { outcomeOf, showWorkbench } from '../panel/source.js';
import { explain, remedyFor, type PanelError } from '../panel/panelErrors.js';
import { WIDGET_MIME } from '../mime.js';

const UUID = '0a1b2c3d-4e5f-4a6b-8c7d-9e0f1a2b3c4d';
const PATH = pathOf(UUID);

const trans = {
  __: (text: string, ...values: string[]) =>
    text.replace(/%(\d)/g, (_, at) => values[Number(at) - 1]!)
} as unknown as TranslationBundle;

function session(path: string, kernel: object | null, id = path) {
  return { id, path, kernel } as unknown as Session.IModel;
}

test('a kernel that is connected is well, else unreachable', () => {
  assert.equal(conditionOf('idle', 'connected', true), 'well');
  assert.equal(conditionOf('busy', 'connected', false), 'well');
  assert.equal(conditionOf('unknown', 'connecting', true), 'unreachable');
  assert.equal(conditionOf('unknown', 'disconnected', true), 'unreachable');
});

test('a kernel that restarts or is gone has lost its workbench', () => {
  for (const status of ['restarting', 'autorestarting'] as const) {
    assert.equal(conditionOf(status, 'connected', false), 'restarted');
  }
  assert.equal(conditionOf('dead', 'disconnected', true), 'ended');
  assert.equal(conditionOf(undefined, undefined, false), 'ended');
  assert.ok(isLost('ended') && isLost('restarted') && !isLost('unreachable'));
});

test('a starting kernel is well, but after its workbench was live it counts as restarted', () => {
  assert.equal(conditionOf('starting', 'connected', false), 'well');
  assert.equal(conditionOf('starting', 'connected', true), 'restarted');
});

test('sessions of panels that no page shows are lost; the last used one is first', () => {
  const lost = (id: string, day: number) =>
    session(PATH, { connections: 0, last_activity: `2026-11-0${day}` }, id);
  const found = lostSessions([
    session('workbench-notes.ipynb', { connections: 0 }),
    session(PATH, { connections: 1 }),
    session(PATH, {}),
    session(PATH, null),
    lost('older', 1),
    lost('newer', 2)
  ]);
  assert.deepEqual(
    found.map(({ id }) => id),
    ['newer', 'older']
  );
});

test('the code shows an existing workbench before it makes a new one', () => {
  const usual = showWorkbench({ runsFolder: '', preset: '' });
  assert.match(usual, /newest\(\) or Workbench\(\)/);
});

test('values of the settings are in the code as strings, never as code', () => {
  const chosen = showWorkbench({ runsFolder: 'my "runs"', preset: 'cnn' });
  assert.match(
    chosen,
    /Workbench\(PRESETS\["cnn"\]\.config, runs_dir="my \\"runs\\""\)/
  );
});

test('an outcome is a shown widget or a failure; other messages give none', () => {
  const message = (msg_type: string, content: unknown) => ({
    header: { msg_type },
    content
  });
  const data = { [WIDGET_MIME]: { model_id: 'm' }, 'text/plain': '' };
  assert.deepEqual(outcomeOf(message('display_data', { data })), [
    { modelId: 'm' }
  ]);
  const html = { data: { 'text/html': '' } };
  assert.deepEqual(outcomeOf(message('display_data', html)), []);
  assert.deepEqual(outcomeOf(message('stream', { text: 'x' })), []);
  const error = { ename: 'E', evalue: 'why', traceback: ['\x1b[31mat\x1b[0m'] };
  assert.deepEqual(outcomeOf(message('error', error)), [
    { failure: { name: 'E', message: 'why', traceback: 'at' } }
  ]);
});

test('every error has an explanation of three parts and a button with a remedy', () => {
  const failure = { name: 'ValueError', message: 'why', traceback: 'at' };
  const errors: PanelError[] = [
    { kind: 'ended' },
    { kind: 'restarted' },
    { kind: 'closed' },
    { kind: 'unreachable' },
    { kind: 'no kernels' },
    { kind: 'silent', kernel: 'R' },
    { kind: 'not started', error: 'full' },
    { kind: 'raised', kernel: 'Python', failure },
    { kind: 'no widgets', disabled: true },
    { kind: 'no widgets', disabled: false }
  ];
  for (const error of errors) {
    const { rule, found, fix } = explain(error, trans);
    assert.ok(rule && found && fix, error.kind);
    assert.ok(remedyFor(error));
    assert.equal(isFinal(error), error.kind !== 'unreachable');
  }
});

test('a kernel without the workbench is distinguished from one that fails otherwise', () => {
  const raised = (name: string, message: string) =>
    explain(
      {
        kind: 'raised',
        kernel: 'Other',
        failure: { name, message, traceback: 'at' }
      },
      trans
    );
  const without = raised('ModuleNotFoundError', "No module named 'workbench'");
  assert.match(without.found, /"Other" does not have it: No module named/);
  assert.match(without.fix, /pip install tf-distribute-workbench$/);
  assert.equal(without.detail, undefined);
  const other = raised('ModuleNotFoundError', "No module named 'pandas'");
  assert.match(other.found, /raised ModuleNotFoundError: No module named/);
  assert.equal(other.detail, 'at');
});
