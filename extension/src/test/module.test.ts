/** The run view as a module: it does not depend on Jupyter, so that any page can show it. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { RunView, VERSION } from '../runview/index.js';

const FOLDER = new URL('../runview/', import.meta.url);

test('the module exports the view and the version', () => {
  assert.equal(typeof RunView, 'function');
  assert.ok(VERSION >= 2);
});

test('the module imports only itself and uPlot; only its notebook part imports styles', () => {
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
