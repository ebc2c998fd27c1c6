/** The state of a run on a page: its account and its points, built up from numbered messages. */

import type { SnapshotParts, RunMessage } from './protocol.js';
import { Series } from './series.js';

export class RunState {
  readonly parts: Partial<SnapshotParts> = {};
  readonly series = new Series();
  /** The feed of the messages. */
  feed = '';
  private _sequence = -1;

  /** Take in a message; return false if an earlier one was lost, so that a whole one is needed. */
  take(message: RunMessage, buffers: DataView[]): boolean {
    const { feed, sequence, whole, parts, points } = message;
    if (!whole) {
      if (feed !== this.feed) {
        return false;
      }
      if (sequence <= this._sequence) {
        return true;
      }
      if (sequence !== this._sequence + 1) {
        return false;
      }
    }
    if (points && !this.series.take(points, buffers)) {
      return false;
    }
    this.feed = feed;
    this._sequence = sequence;
    Object.assign(this.parts, parts);
    return true;
  }
}
