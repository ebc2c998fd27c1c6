/** The speed of a run, as Python computes it; see `workbench/runs/records/speed.py`. */

import type { Translation } from './language.js';
import type { SnapshotParts } from './protocol.js';

/** A run's speed; null is unknown. */
export interface Speed {
  examplesPerSecond: number | null;
  /** Over which time it is. */
  note: string;
  /** The definition, as a tip. */
  tip: string;
}

/** Return the speed of a run: of the last ten seconds while it trains, else the steady state. */
export function speedOf(
  { head, progress, results }: Partial<SnapshotParts>,
  trans: Translation
): Speed {
  return head?.alive
    ? {
        examplesPerSecond: progress?.examplesPerSecond ?? null,
        note: trans.__('last 10 s'),
        tip: trans.__(
          'Over the last ten seconds of training, excluding the first call and evaluation'
        )
      }
    : {
        examplesPerSecond: results?.examplesPerSecond ?? null,
        note: trans.__('steady state'),
        tip: trans.__(
          'Steady state: excludes the first call of each attempt and evaluation'
        )
      };
}
