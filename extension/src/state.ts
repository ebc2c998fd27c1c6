/** What a kernel's status means for a widget that lives in it. Pure. */

const GONE = ['restarting', 'autorestarting', 'terminating', 'dead'];

/** Whether a kernel in this status has lost the widgets it held. */
export function isGone(status: string | undefined): boolean {
  return status !== undefined && GONE.includes(status);
}

/** The line above a saved view: what it is, and what to do. */
export function noteFor(status: string | undefined): string {
  return status === 'busy'
    ? 'As saved; the kernel is busy.'
    : 'As saved; run the cell to go on.';
}
