/** How long the result of an action is news. Pure. */

import type { SnapshotParts, NoteMessage } from './protocol.js';

/** The states with which a run begins, or begins again. */
const BEGINS = ['queued', 'starting', 'running'];

export class News {
  private _said = '';

  /**
   * Whether changed parts of a run overtake the result of an earlier action: a new state, or a new
   * note of the run itself. An error stands until the run begins again.
   */
  overtake(
    { head, progress, actions }: Partial<SnapshotParts>,
    level: NoteMessage['level']
  ): boolean {
    const said = progress?.note ?? this._said;
    const changed = Boolean(head ?? actions) || said !== this._said;
    this._said = said;
    return level === 'error' ? BEGINS.includes(head?.status ?? '') : changed;
  }
}
