/** What a view says of its other half: a kernel in a notebook, a server in a panel. */
export interface Wording {
  /** No run is told of yet. */
  nothing: string;
  /** It does not answer in time. */
  late: string;
  /** It is not heard at all. */
  unheard: string;
  /** It speaks another version. */
  old: string;
}

export const OF_A_KERNEL: Wording = {
  nothing: 'No run is open. Train starts one; it appears here.',
  late: 'Not answered yet: a cell is running, and the kernel answers when it ends. The charts go on meanwhile. After a restart of the kernel, run the cell again.',
  unheard: 'The kernel is not heard.',
  old: 'This page and its kernel are of different versions of the workbench. Save the notebook and load the page again.'
};
