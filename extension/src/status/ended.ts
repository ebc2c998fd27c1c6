/** The runs that end while a page is open. Pure. */

import type { Row } from '../server/protocol.js';

export class Ends {
  private readonly _alive = new Set<string>();
  private readonly _known = new Set<string>();
  /** When the newest run of the first complete list was made; null before that list. */
  private _newest: number | null = null;

  /**
   * Return the runs that have ended since the previous call; with `whole`, `rows` are all runs.
   * Runs that had ended before the first list, and older runs that are copied there later, are not
   * returned.
   */
  newlyEnded(rows: Row[], whole: boolean): Row[] {
    const newest = this._newest;
    const ended = rows.filter(
      row =>
        !row.alive &&
        (this._alive.has(row.id) ||
          (newest !== null && !this._known.has(row.id) && row.created > newest))
    );
    for (const { id, alive } of rows) {
      this._known.add(id);
      if (alive) {
        this._alive.add(id);
      } else {
        this._alive.delete(id);
      }
    }
    if (whole) {
      this._newest ??= Math.max(...rows.map(({ created }) => created), 0);
    }
    return ended;
  }
}
