/** The messages between a run view and its source, over a comm or a socket. */

import type { Source as AnySource } from './comm.js';

/** The version of the messages; the kernel or server may have another one. */
export const VERSION = 2;

/** The numbers at the end of each epoch, in order; null where one is not known. */
export interface Epochs {
  epoch: number[];
  step: number[];
  loss: (number | null)[];
  accuracy: (number | null)[];
  testLoss: (number | null)[];
  testAccuracy: (number | null)[];
  /** Further metrics of the compiled model, by their names; an older kernel sends none. */
  metrics?: Record<string, (number | null)[]>;
}

export interface Head {
  id: string;
  /** The name that the user gave it; may be empty. */
  name: string;
  /** The name, else model, strategy and start. */
  title: string;
  about: string;
  dir: string;
  status: string;
  alive: boolean;
  /** Whether there is data to test on; an older kernel does not send it. */
  tested?: boolean;
}

export interface Progress {
  step: number;
  totalSteps: number;
  epoch: number;
  epochs: number;
  stepsPerSecond: number | null;
  /** Of the same seconds of training; an older kernel does not send it. */
  examplesPerSecond?: number | null;
  etaSeconds: number | null;
  phase: string;
  /** What a run that starts does before its first step; empty if unknown; older kernels lack it. */
  stage?: string;
  note: string;
  /** The ids of the runs that hold its devices; an older kernel does not send them. */
  waitsFor?: string[];
}

/** A task: one process of the run. */
export interface Lane {
  task: string;
  state: string;
  /** The worker's own steps; null for a task that does not step. */
  step: number | null;
  stepsPerSecond: number | null;
  note: string;
  /** Its TF_CONFIG, as JSON; empty for a single task. */
  tfConfig: string;
  /** Whether it can be killed, because it restarts then; an older kernel does not send it. */
  killable?: boolean;
  /** Whether the others go on while it restarts; else all tasks restart from the checkpoint. */
  restartsAlone?: boolean;
}

/** The parts of a duration: names with seconds. */
export type Spans = [string, number][];

/** The use of a run's time; null is unknown, and an older kernel sends only the parts. */
export interface Ledger {
  firstStep: Spans;
  whole: Spans;
  /** From start to end in all attempts, without the queue. */
  seconds?: number | null;
  queueSeconds?: number | null;
}

/** The results of a run that is over: of its last epoch, and of the whole run; null is unknown. */
export interface Ended {
  loss: number | null;
  accuracy: number | null;
  testAccuracy: number | null;
  /** In the steady state. */
  examplesPerSecond: number | null;
  /** How long it took. */
  seconds: number | null;
}

export interface Failure {
  cause: string;
  task: string;
  log_tail: string;
  fix: string;
}

export type ActionName = 'stop' | 'resume' | 'train_on' | 'delete';

/** An action on a run. */
export interface ActionRequest {
  name: ActionName | 'kill' | 'settings';
  /** The total number of epochs, for `train_on`. */
  epochs?: number;
  /** The task to kill. */
  task?: string;
}

export interface Resume {
  /** 0 without a checkpoint; null if it is not known or the run cannot be resumed. */
  resumeStep: number | null;
}

/** Everything about a run except its curves. */
export interface SnapshotParts {
  head: Head;
  progress: Progress;
  lanes: Lane[];
  logs: Record<string, string>;
  ledger: Ledger;
  /** The results of a run that is over; an older kernel does not send them. */
  results?: Ended | null;
  failure: Failure | null;
  epochs: Epochs;
  actions: ActionName[];
  /** Where a resume goes on; an older kernel does not send it. */
  resume?: Resume;
  /** Why the run can no longer be shown: its folder was deleted. */
  gone: string;
}

/**
 * Has two buffers: float64 [3, points], the steps, examples and training seconds; and
 * float32 [curve, line, points], the lines being the replicas, all together, and, with `spans`,
 * the least and the greatest of each replica. NaN is a gap, infinity a loss that is not finite.
 */
export interface PointsHeader {
  /** The first point of this message; earlier versions of this and later points are replaced. */
  from: number;
  replicas: number;
  /** The number of worker processes; each has the same number of replicas. */
  workers: number;
  /** Whether all replicas take a step together; else each worker has its own steps and examples. */
  synchronous: boolean;
  virtual: boolean;
  stepsAPoint: number;
  spans: boolean;
}

/** The changes of a run, or everything if `whole` is true. */
export interface RunMessage {
  kind: 'run';
  version: number;
  /** The feed that counts the messages: each opening of a run has its own. */
  feed: string;
  /** Counts the messages of a feed. */
  sequence: number;
  whole: boolean;
  parts: Partial<SnapshotParts>;
  points?: PointsHeader;
}

/** A requested part of the run in more detail. */
export interface WindowMessage {
  kind: 'window';
  request: string;
  points: PointsHeader;
}

/** The kernel has handled the message of this page with this id. */
export interface AcknowledgedMessage {
  kind: 'heard';
  id: string;
}

/** The result of an action, for the person who started it. */
export interface NoteMessage {
  kind: 'note';
  level: 'info' | 'error';
  text: string;
}

/** Whether there is a connection; the source itself makes this message. */
export interface LinkMessage {
  kind: 'link';
  up: boolean;
}

/** A person has opened this run in a list: its head must be in sight. */
export interface RevealMessage {
  kind: 'reveal';
}

export type Incoming =
  | RunMessage
  | WindowMessage
  | AcknowledgedMessage
  | NoteMessage
  | LinkMessage
  | RevealMessage;

/** A request to show another run: one that this run waits for. */
export interface OpenRequest {
  kind: 'open';
  id: string;
  run: string;
}

export type Outgoing =
  | OpenRequest
  | { kind: 'ready'; id: string; view: string; version: number }
  | { kind: 'shown'; view: string; shown: boolean }
  | { kind: 'looking'; view: string }
  | {
      kind: 'window';
      request: string;
      firstStep: number;
      lastStep: number;
      mostPoints: number;
    }
  | (ActionRequest & {
      kind: 'action';
      id: string;
      /** The folder of the run that the page showed. */
      dir: string;
    });

/** The source of a run view: a kernel or a server. */
export type Source = AnySource<Outgoing, Incoming>;
