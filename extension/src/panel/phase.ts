/** The phases of a workbench on one kernel. Pure. */

import type { PanelError } from './panelErrors.js';

export type Phase =
  { kind: 'starting' } | { kind: 'returning' } | { kind: 'live' } | PanelError;

const PASSING = ['starting', 'returning', 'live', 'unreachable'];

/** Whether only a new start can follow it. */
export function isFinal({ kind }: Phase): boolean {
  return !PASSING.includes(kind);
}
