/** What a page is told of a run and what it may ask for, over a comm or a socket alike. */

import type { Source as AnySource } from './comm.js';

/** Of the messages; the kernel or server half may speak another one. */
export const VERSION = 2;

/** The numbers at the end of each epoch, in order; null where one is not known. */
export interface Epochs {
  epoch: number[];
  step: number[];
  loss: (number | null)[];
  accuracy: (number | null)[];
  testLoss: (number | null)[];
  testAccuracy: (number | null)[];
  /** What the model was compiled with beside them, by its names; an older kernel has none. */
  metrics?: Record<string, (number | null)[]>;
}

export interface Head {
  id: string;
  title: string;
  about: string;
  dir: string;
  status: string;
  alive: boolean;
}

export interface Progress {
  step: number;
  totalSteps: number;
  epoch: number;
  epochs: number;
  stepsPerSecond: number | null;
  etaSeconds: number | null;
  phase: string;
  note: string;
}

/** A task: one process of the run. */
export interface Lane {
  task: string;
  state: string;
  /** The worker's own steps; null for a task that does not step. */
  step: number | null;
  stepsPerSecond: number | null;
  note: string;
  /** What it was told of the other tasks, as JSON; empty where it is alone. */
  tfConfig: string;
  /** Whether it can be killed, for all are started again then; an older kernel does not tell. */
  killable?: boolean;
}

/** Where time went: names with seconds. */
export type Spans = [string, number][];

export interface Failure {
  cause: string;
  task: string;
  log_tail: string;
  fix: string;
}

export type ActionName = 'stop' | 'resume' | 'train_on' | 'delete';

/** What is to be done with a run. */
export interface Deed {
  name: ActionName | 'kill';
  /** In all, where it is trained on. */
  epochs?: number;
  /** That is to be killed. */
  task?: string;
}

/** All that is told of a run but its curves. */
export interface Account {
  head: Head;
  progress: Progress;
  lanes: Lane[];
  logs: Record<string, string>;
  ledger: { firstStep: Spans; whole: Spans };
  failure: Failure | null;
  epochs: Epochs;
  actions: ActionName[];
  /** Why the run can be told of no more: its folder is gone. */
  gone: string;
}

/**
 * Comes with two buffers: float64 [3, points], the steps, examples and training seconds; and
 * float32 [curve, line, points], the lines being the replicas, all together, and, with `spans`,
 * the least and the greatest of each replica. NaN is a gap, infinity a loss that is no number.
 */
export interface PointsHeader {
  /** The first point that it holds; later ones known before are replaced. */
  from: number;
  replicas: number;
  /** Processes that the replicas are in, the same number in each. */
  workers: number;
  /** Whether all take a step together; else steps and examples are each worker's own. */
  together: boolean;
  virtual: boolean;
  stepsAPoint: number;
  spans: boolean;
}

/** What changed, or, where it is `whole`, everything. */
export interface RunMessage {
  kind: 'run';
  version: number;
  /** Who counts: each opening of a run has a feed of its own. */
  feed: string;
  /** Counts the messages of a feed. */
  sequence: number;
  whole: boolean;
  parts: Partial<Account>;
  points?: PointsHeader;
}

/** A part of the run in more detail, as it was asked for. */
export interface WindowMessage {
  kind: 'window';
  request: string;
  points: PointsHeader;
}

/** The kernel has handled what this page sent under this id. */
export interface HeardMessage {
  kind: 'heard';
  id: string;
}

/** What became of an action, for the person who asked for it. */
export interface NoteMessage {
  kind: 'note';
  level: 'info' | 'error';
  text: string;
}

/** Whether the other half is heard; a source tells it by itself. */
export interface LinkMessage {
  kind: 'link';
  up: boolean;
}

export type Told =
  RunMessage | WindowMessage | HeardMessage | NoteMessage | LinkMessage;

export type Asked =
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
  | (Deed & {
      kind: 'action';
      id: string;
      /** The folder of the run that the page showed. */
      dir: string;
    });

/** The other half, wherever it is. */
export type Source = AnySource<Asked, Told>;
