/** The selected rows of a list, and the active row of the keyboard. Pure. */

/**
 * What happens to the selection at a move to a row: only this row is selected (`only`), it joins or
 * leaves the selection (`toggle`), all rows from the last one to it are selected (`range`), or the
 * selection stays (`walk`).
 */
export type How = 'only' | 'toggle' | 'range' | 'walk';

export class Selection {
  private _active = '';
  private _anchor = '';
  private _chosen = new Set<string>();

  /** The active row of the keyboard; empty: none. */
  get active(): string {
    return this._active;
  }

  has(id: string): boolean {
    return this._chosen.has(id);
  }

  /** The selected rows in the order of the list. */
  within(order: readonly string[]): string[] {
    return order.filter(id => this._chosen.has(id));
  }

  go(order: readonly string[], id: string, how: How): void {
    this._active = id;
    if (how === 'walk') {
      return;
    }
    if (how === 'range' && order.includes(this._anchor)) {
      const ends = [order.indexOf(this._anchor), order.indexOf(id)];
      const [first, last] = [Math.min(...ends), Math.max(...ends)];
      this._chosen = new Set(order.slice(first, last + 1));
      return;
    }
    this._anchor = id;
    if (how !== 'toggle') {
      this._chosen = new Set([id]);
    } else if (!this._chosen.delete(id)) {
      this._chosen.add(id);
    }
  }

  all(order: readonly string[]): void {
    this._chosen = new Set(order);
  }

  none(): void {
    this._chosen.clear();
  }

  /** Forget rows that are no longer in the list. */
  keep(order: readonly string[]): void {
    const there = new Set(order);
    this._chosen.forEach(id => there.has(id) || this._chosen.delete(id));
    this._active = there.has(this._active) ? this._active : '';
  }
}
