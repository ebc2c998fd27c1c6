/** Why the sidebar shows nothing or what is old, with what to change. */

import type { TranslationBundle } from '@jupyterlab/translation';

import type { Hearing } from './link.js';

export interface Notice {
  text: string;
  /** To be typed in a terminal; empty: nothing. */
  command: string;
  /** Whether it waits until a person asks to try again. */
  again: boolean;
}

const ENABLE = 'jupyter server extension enable workbench.server';

/** What is to be said of the connection, else of the folder of runs; null: nothing. */
export function noticeOf(
  hearing: Hearing,
  trouble: string,
  trans: TranslationBundle
): Notice | null {
  const say = (text: string, again = false, command = ''): Notice => ({
    text,
    command,
    again
  });
  switch (hearing) {
    case 'absent':
      return say(
        trans.__(
          'The server answers, but its half of the workbench is not enabled. Enable it in the environment of the server, and start the server again:'
        ),
        true,
        ENABLE
      );
    case 'forbidden':
      return say(
        trans.__(
          'The server does not let you see runs and devices. Log in again, or ask who runs it to allow you “workbench”.'
        ),
        true
      );
    case 'mute':
      return say(
        trans.__(
          'The server answers, but what is live does not come through. Where there is a proxy between, have it pass WebSockets. It is tried again by itself.'
        )
      );
    case 'lost':
      return say(
        trans.__(
          'The server does not answer, so nothing here is of now. Runs go on without it. Start it again; it is tried again by itself.'
        )
      );
    default:
      return trouble === '' ? null : say(trouble, true);
  }
}
