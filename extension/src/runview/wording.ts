/** The texts of a view about its source: a kernel in a notebook, a server in a panel. */

import type { Translation } from './language.js';
export interface Wording {
  /** Whether a form is next to the view, which can take the run's settings. */
  form: boolean;
  /** There is no run yet. */
  nothing: string;
  /** It does not answer in time. */
  late: string;
  /** There is no connection. */
  disconnected: string;
  /** It has another version of the messages. */
  old: string;
}

export function ofTheKernel(trans: Translation): Wording {
  return {
    form: true,
    nothing: trans.__(
      'No run is open. Click Train to start one; it appears here.'
    ),
    late: trans.__(
      'No answer yet: the kernel is running a cell and answers when the cell ends. The charts keep updating. If you restarted the kernel, run the cell again.'
    ),
    disconnected: trans.__('No connection to the kernel.'),
    old: trans.__(
      'This page and its kernel have different versions of the workbench. Save the notebook and reload the page.'
    )
  };
}
