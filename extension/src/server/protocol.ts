/** What pages and the server half tell each other. See `workbench/server`. */

import type { Meter } from '../meters.js';
import type { ActionName, Asked, Told } from '../runview/protocol.js';

export type { Meter };

/** What the last epoch of a run came to; null where it is not known. */
export interface Results {
  loss: number | null;
  accuracy: number | null;
  test_loss: number | null;
  test_accuracy: number | null;
  examples_per_second: number | null;
}

/** A run in a list. Of one that cannot be read there is only the trouble. */
export interface Row {
  id: string;
  title: string;
  /** Strategy, replicas, loop, model and data in a line. */
  about: string;
  /** Seconds since 1970. */
  created: number;
  status: string;
  alive: boolean;
  actions: ActionName[];
  /** Why the run cannot be read; empty where it can. */
  trouble: string;
  step?: number;
  totalSteps?: number;
  epoch?: number;
  epochs?: number;
  stepsPerSecond?: number | null;
  etaSeconds?: number | null;
  phase?: string;
  note?: string;
  results?: Results;
}

export interface DevicesTold {
  channel: 'devices';
  meters?: Meter[];
  /** Why they cannot be measured. */
  trouble?: string;
}

/** Rows that are new or changed, and the ids of those that are gone. */
export interface RunsTold {
  channel: 'runs';
  folder: string;
  /** Where the folder is on the server. */
  path?: string;
  rows?: Row[];
  gone?: string[];
  /** Whether what was known before is to be forgotten. */
  first?: boolean;
  /** Whether every run has been read by now. */
  whole?: boolean;
  /** Why the runs cannot be listed. */
  trouble?: string;
}

export interface RunTold {
  channel: 'run';
  folder: string;
  run: string;
  message?: Told;
  /** Why the run cannot be shown. */
  trouble?: string;
}

export type StreamTold = DevicesTold | RunsTold | RunTold;

export type StreamAsked =
  | { channel: 'devices' | 'runs'; folder: string; kind: 'unwatch' }
  | {
      channel: 'devices' | 'runs';
      folder: string;
      kind: 'watch';
      /** Between two looks; of several who watch, the shortest holds. */
      seconds: number;
    }
  | { channel: 'run'; folder: string; run: string; message: Asked };

/** A run's script, to be kept: a file, a notebook, or the cell that opens the run. */
export interface Script {
  /** Of a file; empty for a cell. */
  name: string;
  text: string;
  sha256?: string;
}

/** A run's curves over all replicas, a column each; null where a value is not known. */
export interface RunSeries {
  step: number[];
  examples: (number | null)[];
  training_seconds: (number | null)[];
  loss: (number | null)[];
  accuracy: (number | null)[];
  examples_per_second: (number | null)[];
  steps_a_point: number;
}

/** Why the server did not do what it was asked. */
export interface Refusal {
  message: string;
  reason?: string;
  script_sha256?: string;
}
