/** What a run view says of the server. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Wording } from '../runview/index.js';

export function ofTheServer(trans: TranslationBundle): Wording {
  return {
    nothing: trans.__('Reading the run ...'),
    late: trans.__(
      'Not answered yet: the server is busy. This view goes on when it answers.'
    ),
    unheard: trans.__(
      'The server is not heard. Training does not need it; this view goes on when the server is back.'
    ),
    old: trans.__(
      'This page and its server are of different versions of the workbench. Restart the server and load the page again.'
    )
  };
}
