/** Every text that a page shows goes through a translation, so that JupyterLab can translate it. */

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import ts from 'typescript';

import { ENGLISH } from '../runview/language.js';

const SOURCES = new URL('../../src/', import.meta.url);
/** Widgets of a kernel, among its English texts: no translator reaches them. */
const OF_KERNELS = [
  'colors.ts',
  'copy.ts',
  'gauge.ts',
  'heads.ts',
  'download/'
];
/** Words of a person's language: one beside another or a value, or one with a capital letter. */
const WORDS =
  /[A-Za-z]{2}[,;:]? ([A-Za-z]{2}|1)|1 [A-Za-z]{2}|^\s?[A-Z][a-z]+( \.\.\.)?$/;
/** What looks like words: markup, classes, fonts, Python, a shell's commands, symbols of units. */
const CODE =
  /^<|\b(wbv|jp)\b|sans-serif|^from workbench|^display\(|^jupyter server |^TF_CONFIG |^1 (min|h) 1/;
/** Names that programs use: of states, keys and factories. */
const NAMES = [
  'no widgets',
  'no kernels',
  'not started',
  'first step',
  'Escape',
  'Notebook'
];

/** Return the texts of a module that people could read and that are not translated. */
function untranslated(name: string, code: string): string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (isForPrograms(node)) {
      return;
    }
    const text = textOf(node);
    if (text !== null && isShown(text)) {
      found.push(`${name}: ${text}`);
    }
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile(name, code, ts.ScriptTarget.ES2022, true));
  return found;
}

function isShown(text: string): boolean {
  return WORDS.test(text) && !CODE.test(text) && !NAMES.includes(text);
}

/** Return a text; 1 stands for each value in it. */
function textOf(node: ts.Node): string | null {
  if (ts.isTemplateExpression(node)) {
    const spans = node.templateSpans.map(({ literal }) => literal.text);
    return [node.head.text, ...spans].join('1');
  }
  return ts.isStringLiteralLike(node) ? node.text : null;
}

/** Whether a part of a module has no text for people, or is a translation itself. */
function isForPrograms(node: ts.Node): boolean {
  if (ts.isCallExpression(node)) {
    return /\.(__|_n)$|^console\./.test(node.expression.getText());
  }
  return (
    (ts.isNewExpression(node) && node.expression.getText() === 'Token') ||
    (ts.isPropertyAssignment(node) && node.name.getText() === 'description') ||
    ts.isTypeNode(node) ||
    ts.isImportDeclaration(node)
  );
}

test('no module shows a text that is not translated', () => {
  const names = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
  const shown = names.filter(
    name =>
      name.endsWith('.ts') &&
      !['test/', ...OF_KERNELS].some(start => name.startsWith(start))
  );
  assert.ok(shown.length > 80);
  const found = shown.flatMap(name =>
    untranslated(name, readFileSync(new URL(name, SOURCES), 'utf8'))
  );
  assert.deepEqual(found, []);
});

test('a text that is not translated is found, also in a template', () => {
  const code = "a.title = 'Stop'; b(trans.__('Stop'), `step ${1} of ${2}`);";
  assert.deepEqual(untranslated('a.ts', code), [
    'a.ts: Stop',
    'a.ts: step 1 of 1'
  ]);
});

test('without a translator a text is English, with its values in their places', () => {
  assert.equal(ENGLISH.__('%2 of %1', 10, 'a'), 'a of 10');
  assert.equal(ENGLISH._n('%1 run', '%1 runs', 1), '1 run');
  assert.equal(
    ENGLISH._n('%2 (%1 step)', '%2 (%1 steps)', 3, 'a'),
    'a (3 steps)'
  );
});
