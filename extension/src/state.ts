/** What a kernel's status means for a widget that lives in it. Pure. */

const GONE = ['restarting', 'autorestarting', 'terminating', 'dead'];

/** Whether a kernel in this status has lost the widgets it held. */
export function isGone(status: string | undefined): boolean {
  return status !== undefined && GONE.includes(status);
}

/** Return the line above a saved view, with what to do. */
export function noteFor(status: string | undefined): string {
  return status === 'busy'
    ? 'Saved view. The kernel is busy.'
    : 'Saved view. Run the cell for the live workbench.';
}
