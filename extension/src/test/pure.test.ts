import assert from 'node:assert/strict';
import { test } from 'node:test';

import { beside, NOTHING_CHOSEN, workbenchSource } from '../beginnings.js';
import { savedViewOf } from '../notebook/savedView.js';
import { bytes } from '../download/download.js';
import { ENGLISH as trans } from '../runview/language.js';
import { isGone, noteFor } from '../state.js';

const WORKBENCH_SOURCE = workbenchSource(NOTHING_CHOSEN);

const RUN_IT = 'Saved view. Run the cell for the live workbench.';

test('a new notebook opens a workbench with the preset and the folder of the settings', () => {
  assert.equal(
    WORKBENCH_SOURCE,
    'from workbench import Workbench\n\nWorkbench()'
  );
  const chosen = { preset: 'cnn', runsFolder: 'my runs' };
  const source = workbenchSource(beside('a/b/Untitled.ipynb', chosen));
  assert.equal(
    source,
    'from workbench import Workbench\nfrom workbench.catalog import PRESETS\n\nWorkbench(PRESETS["cnn"].config, runs_dir="../../my runs")'
  );
  assert.deepEqual(beside('Untitled.ipynb', chosen), chosen);
  assert.deepEqual(beside('a/b.ipynb', NOTHING_CHOSEN), NOTHING_CHOSEN);
});

test('the note above a saved view names the next step', () => {
  assert.equal(noteFor(undefined, trans), RUN_IT);
  assert.equal(noteFor('idle', trans), RUN_IT);
  assert.equal(noteFor('busy', trans), 'Saved view. The kernel is busy.');
  assert.ok(isGone('restarting') && isGone('dead'));
  assert.ok(!isGone('busy') && !isGone(undefined));
});

test('a saved view is found by the name in its HTML', () => {
  const html =
    '<div class="wb-snapshot wb-snapshot-0a1b2c3d"><p>loss</p></div>';
  assert.equal(savedViewOf(html), 'wb-snapshot-0a1b2c3d');
  assert.equal(savedViewOf('<p>wb-snapshot-0a1b2c3d</p>'), null);
  assert.equal(savedViewOf(undefined), null);
});

test('sizes have the unit that is easiest to read', () => {
  assert.deepEqual(
    [0, 1023, 1024, 12_900_000, 3 * 2 ** 30, 2 ** 43].map(bytes),
    ['0 bytes', '1023 bytes', '1 KiB', '12.3 MiB', '3 GiB', '8192 GiB']
  );
});
