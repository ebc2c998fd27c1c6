/** The run view as a module: it stands on nothing of Jupyter's, so that any page can hold it. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { RunView, VERSION } from '../runview/index.js';

const FOLDER = new URL('../runview/', import.meta.url);

test('it is there as a module', () => {
  assert.equal(typeof RunView, 'function');
  assert.ok(VERSION >= 2);
});

test('it imports itself and uPlot only; the notebook half alone brings styles', () => {
  const modules = readdirSync(FOLDER).filter(name => name.endsWith('.js'));
  assert.ok(modules.length > 10);
  for (const name of modules) {
    const text = readFileSync(new URL(name, FOLDER), 'utf8');
    const imported = [...text.matchAll(/(?:from|import) '([^']+)'/g)].map(
      found => found[1]!
    );
    const others = imported.filter(
      from => !from.startsWith('./') && from !== 'uplot'
    );
    const styles = name === 'anywidget.js';
    assert.ok(
      others.every(from => styles && from.endsWith('.css')),
      `${name}: ${others.join()}`
    );
  }
});
