/** The messages between pages and the server half. See `workbench/server`. */

import type { Meter } from '../meters.js';
import type { ActionName, Incoming, Outgoing } from '../runview/protocol.js';

export type { Meter };

/** The results of a run's last epoch; null where a value is unknown. */
export interface Results {
  loss: number | null;
  accuracy: number | null;
  test_loss: number | null;
  test_accuracy: number | null;
  examples_per_second: number | null;
}

/** The work of a step, in words. */
export interface Work {
  model: string;
  data: string;
  /** The examples of a step: of all replicas, or of each worker by itself. */
  batch: string;
}

/** A run in a list. An unreadable run has only its error. */
export interface Row {
  id: string;
  /** The name that the user gave it; may be empty. */
  name: string;
  /** The name, else model, strategy and start. */
  title: string;
  /** Model, strategy, replicas, batch, loop and data in a line. */
  about: string;
  /** What a step works on; runs are ranked only if theirs is equal. */
  work?: Work;
  /** Seconds since 1970. */
  created: number;
  status: string;
  alive: boolean;
  actions: ActionName[];
  /** Why the run cannot be read; empty if it can. */
  error: string;
  step?: number;
  totalSteps?: number;
  epoch?: number;
  epochs?: number;
  stepsPerSecond?: number | null;
  etaSeconds?: number | null;
  phase?: string;
  /** What a run that starts does before its first step; empty if that is unknown. */
  stage?: string;
  note?: string;
  results?: Results;
  /** The step at which a resume goes on; null if unknown. */
  resumeStep?: number | null;
}

export interface DevicesUpdate {
  channel: 'devices';
  meters?: Meter[];
  /** Why they cannot be measured. */
  error?: string;
}

/** New or changed rows, and the ids of removed runs. */
export interface RunsUpdate {
  channel: 'runs';
  folder: string;
  /** The path of the folder on the server. */
  path?: string;
  rows?: Row[];
  gone?: string[];
  /** Whether the server starts a new list, so that all earlier rows are outdated. */
  first?: boolean;
  /** Whether every run has been read by now. */
  whole?: boolean;
  /** Why the runs cannot be listed. */
  error?: string;
}

export interface RunUpdate {
  channel: 'run';
  folder: string;
  run: string;
  message?: Incoming;
  /** Why the run cannot be shown. */
  error?: string;
}

export type StreamUpdate = DevicesUpdate | RunsUpdate | RunUpdate;

export type StreamRequest =
  | { channel: 'devices' | 'runs'; folder: string; kind: 'unwatch' }
  | {
      channel: 'devices' | 'runs';
      folder: string;
      kind: 'watch';
      /** Between two updates; of several watchers, the shortest interval holds. */
      seconds: number;
    }
  | { channel: 'run'; folder: string; run: string; message: Outgoing };

/** A run's script to save: a file, a notebook, or the cell that opens the run. */
export interface Script {
  /** The name of the file; empty for a cell. */
  name: string;
  text: string;
  sha256?: string;
}

/** A run's curves over all replicas, a column each; null where a value is unknown. */
export interface RunSeries {
  step: number[];
  examples: (number | null)[];
  training_seconds: (number | null)[];
  loss: (number | null)[];
  accuracy: (number | null)[];
  examples_per_second: (number | null)[];
  steps_a_point: number;
}

/** The code that a resume of a run executes, although this machine did not start it. */
export interface ForeignCode {
  interpreter: string;
  working_dir: string;
  script: string;
  /** The sha256 of all of this. */
  digest: string;
}

/** Why the server refused a request. */
export interface Refusal {
  message: string;
  reason?: string;
  code?: ForeignCode;
}
