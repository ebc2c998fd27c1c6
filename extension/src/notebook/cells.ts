/** Which cells the workbench may run by itself. Pure: no Jupyter, no page. */

import { callOf, importsOf, type Beginnings } from '../beginnings.js';

/** Return the source of a cell that opens a workbench. */
export function workbenchSource(beginnings: Beginnings): string {
  return [...importsOf(beginnings), '', callOf(beginnings)].join('\n');
}

/** The cell tag that asks for a cell to be run when its notebook is opened by `?workbench=`. */
export const AUTORUN_TAG = 'workbench-autorun';

/** A call of `Workbench` with nothing, or with what the settings choose. */
const OPENS =
  /^(\w+ = )?Workbench\((PRESETS\["\w+"\]\.config)?(, )?(runs_dir="[^"\\\n]+")?\)$/;
const HARMLESS_LINES = [
  /^from workbench import \w+(, \w+)*$/,
  /^from workbench\.catalog import PRESETS$/,
  OPENS,
  /^\w+$/
];

/**
 * Whether a cell asks to be run at opening and does nothing but show a workbench.
 *
 * An address can come from anywhere and a notebook can be a stranger's, so the tag alone must
 * never run code: every line has to be one of the few that open a workbench.
 */
export function runsAtOpening(source: string, tags: unknown): boolean {
  if (!Array.isArray(tags) || !tags.includes(AUTORUN_TAG)) {
    return false;
  }
  const lines = source
    .split('\n')
    .map(line => line.replace(/#.*$/, '').trim())
    .filter(line => line !== '');
  return (
    lines.some(line => OPENS.test(line)) &&
    lines.every(line => HARMLESS_LINES.some(pattern => pattern.test(line)))
  );
}
