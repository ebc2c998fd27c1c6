/** Why the sidebar shows nothing or old values, and what to change. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { LinkState } from './link.js';

export interface Notice {
  text: string;
  /** A command for a terminal; may be empty. */
  command: string;
  /** Whether it waits for a person to try again. */
  again: boolean;
}

const ENABLE = 'jupyter server extension enable workbench.server';

/** Return a notice about the connection, else about the folder of runs; null if all is well. */
export function noticeOf(
  link: LinkState,
  error: string,
  trans: TranslationBundle
): Notice | null {
  const notice = (text: string, again = false, command = ''): Notice => ({
    text,
    command,
    again
  });
  switch (link) {
    case 'absent':
      return notice(
        trans.__(
          'The server answers, but its workbench extension is not enabled. Enable it in the environment of the server, then restart the server:'
        ),
        true,
        ENABLE
      );
    case 'forbidden':
      return notice(
        trans.__(
          'The server does not allow you to see runs and devices. Log in again, or ask its administrator for the permission “workbench”.'
        ),
        true
      );
    case 'mute':
      return notice(
        trans.__(
          'The server answers, but its live updates do not arrive. If there is a proxy, it must let WebSockets through. This page keeps trying.'
        )
      );
    case 'lost':
      return notice(
        trans.__(
          'The server does not answer, so the values here are out of date. Runs continue without it. Restart the server; this page keeps trying.'
        )
      );
    default:
      return error === '' ? null : notice(error, true);
  }
}
