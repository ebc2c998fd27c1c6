/** Which runs came to their end while a page looked. Pure. */

import type { Row } from '../server/protocol.js';

export class Ends {
  private readonly _alive = new Set<string>();
  private readonly _known = new Set<string>();
  /** When the newest run was made that was there at the first look; null before that. */
  private _newest: number | null = null;

  /**
   * The runs that are over since the look before; with `whole`, these are all there are. Of those
   * that were over at the first look there is no news, nor of older ones that are put there later.
   */
  look(rows: Row[], whole: boolean): Row[] {
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
