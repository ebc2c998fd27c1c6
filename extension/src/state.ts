/** What a kernel's status means for a widget that lives in it. Pure. */

import type { Translation } from './runview/language.js';

const GONE = ['restarting', 'autorestarting', 'terminating', 'dead'];

/** Whether a kernel in this status has lost the widgets it held. */
export function isGone(status: string | undefined): boolean {
  return status !== undefined && GONE.includes(status);
}

/** Return the line above a saved view, with what to do. */
export function noteFor(
  status: string | undefined,
  trans: Translation
): string {
  return status === 'busy'
    ? trans.__('Saved view. The kernel is busy.')
    : trans.__('Saved view. Run the cell for the live workbench.');
}
