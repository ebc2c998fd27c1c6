/** The code that makes a new workbench as a person's settings say. Pure. */

/** The initial choices of a new workbench; empty: its own defaults. */
export interface Beginnings {
  /** Relative to the folder of the kernel. */
  runsFolder: string;
  preset: string;
}

export const NOTHING_CHOSEN: Beginnings = { runsFolder: '', preset: '' };

/** Return the lines that import what the call uses. */
export function importsOf({ preset }: Beginnings): string[] {
  return [
    'from workbench import Workbench',
    ...(preset ? ['from workbench.catalog import PRESETS'] : [])
  ];
}

/** Return the call that makes the workbench. */
export function callOf({ runsFolder, preset }: Beginnings): string {
  // JSON's text is Python's, too.
  const given = [
    ...(preset ? [`PRESETS[${JSON.stringify(preset)}].config`] : []),
    ...(runsFolder ? [`runs_dir=${JSON.stringify(runsFolder)}`] : [])
  ];
  return `Workbench(${given.join(', ')})`;
}

/** Return the source of a cell that opens a workbench. */
export function workbenchSource(beginnings: Beginnings): string {
  return [...importsOf(beginnings), '', callOf(beginnings)].join('\n');
}

/** Return the choices for a kernel in the folder of a file, given the path of the file. */
export function beside(
  path: string,
  { runsFolder, preset }: Beginnings
): Beginnings {
  const up = '../'.repeat(path.split('/').length - 1);
  return { preset, runsFolder: runsFolder && up + runsFolder };
}
