/** The texts of a run view about the server. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Wording } from '../runview/index.js';

export function ofTheServer(trans: TranslationBundle): Wording {
  return {
    form: false,
    nothing: trans.__('Reading the run ...'),
    late: trans.__(
      'No answer yet: the server is busy. This view continues when it answers.'
    ),
    disconnected: trans.__(
      'No connection to the server. Training continues without it, and this view updates when the server is back.'
    ),
    old: trans.__(
      'This page and its server have different versions of the workbench. Restart the server and reload the page.'
    )
  };
}
