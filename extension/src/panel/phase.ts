/** Where a workbench on one kernel stands. Pure. */

import type { Trouble } from './trouble.js';

export type Phase =
  { kind: 'starting' } | { kind: 'returning' } | { kind: 'live' } | Trouble;

const PASSING = ['starting', 'returning', 'live', 'unreachable'];

/** Whether nothing comes after it but a new start. */
export function isFinal({ kind }: Phase): boolean {
  return !PASSING.includes(kind);
}
