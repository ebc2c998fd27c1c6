/** What a kernel's status and connection mean for the workbench that lives in it. Pure. */

import type { Kernel } from '@jupyterlab/services';

import { isGone } from '../state.js';

/** `restarted` and `ended` are for ever: the kernel may live again, but what it held does not. */
export type Condition = 'well' | 'unreachable' | 'restarted' | 'ended';

/**
 * Judge a kernel.
 *
 * @param status - Its status; undefined if the session has no kernel.
 * @param live - Whether its workbench was on screen: a kernel that starts after that is another.
 */
export function conditionOf(
  status: Kernel.Status | undefined,
  connection: Kernel.ConnectionStatus | undefined,
  live: boolean
): Condition {
  if (status === undefined || status === 'dead' || status === 'terminating') {
    return 'ended';
  }
  if (isGone(status) || (live && status === 'starting')) {
    return 'restarted';
  }
  return connection === 'connected' ? 'well' : 'unreachable';
}

/** Whether it can never be well again. */
export function isLost(
  condition: Condition
): condition is 'restarted' | 'ended' {
  return condition === 'restarted' || condition === 'ended';
}
