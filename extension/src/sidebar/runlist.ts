/** The runs of a list in their order: shown, waiting and deleted ones. Pure. */

import type { Row, RunsUpdate } from '../server/protocol.js';

/** The status of a row whose run was deleted while it was shown. */
export const DELETED = 'deleted';

/**
 * Rows keep their places until a person asks for another order: a new run waits, a deleted run
 * stays as `deleted`, and a filter is applied again only when it changes.
 */
export class RunList {
  /** Where the runs are on the server. */
  path = '';
  /** Why they cannot be listed. */
  error = '';
  /** Whether every run has been read. */
  whole = false;
  private readonly _rows = new Map<string, Row>();
  private _placed: string[] = [];
  private _waiting: string[] = [];
  private _visible: string[] = [];
  private _terms: string[] = [];
  /** Known before the server started a new list, and not listed again yet. */
  private _unconfirmed = new Set<string>();

  /** The ids that pass the filter, newest first. */
  get visible(): readonly string[] {
    return this._visible;
  }

  /** How many runs the list has, without the filter. */
  get count(): number {
    return this._placed.length;
  }

  /** How many runs wait to be shown. */
  get waiting(): number {
    return this._waiting.length;
  }

  row(id: string): Row | undefined {
    return this._rows.get(id);
  }

  /** Take in an update of the server; `calm`: rows may move, because nobody uses the list. */
  take(update: Omit<RunsUpdate, 'channel' | 'folder'>, calm: boolean): void {
    this.error = update.error ?? '';
    if (update.error !== undefined) {
      return;
    }
    this.path = update.path ?? this.path;
    this.whole = update.whole ?? this.whole;
    if (update.first) {
      this._unconfirmed = new Set(this._rows.keys());
    }
    update.rows?.forEach(row => this._put(row));
    update.gone?.forEach(id => this._lose(id));
    if (this.whole) {
      this._unconfirmed.forEach(id => this._lose(id));
      this._unconfirmed.clear();
    }
    if (this._waiting.length > 0) {
      this._place(calm);
    }
  }

  /** Show the waiting runs. */
  reveal(): void {
    this._place(true);
  }

  /** Show the waiting runs and hide the deleted ones. */
  refresh(): void {
    for (const [id, { status }] of this._rows) {
      if (status === DELETED) {
        this._rows.delete(id);
      }
    }
    this._placed = this._placed.filter(id => this._rows.has(id));
    this._place(true);
  }

  /** Show only rows that have every word of a text in their title, description, status or id. */
  filter(text: string): void {
    this._terms = text.toLowerCase().split(/\s+/).filter(Boolean);
    this._visible = this._placed.filter(id => this._passes(id));
  }

  private _put(row: Row): void {
    if (!this._rows.has(row.id)) {
      this._waiting.push(row.id);
    }
    this._rows.set(row.id, row);
    this._unconfirmed.delete(row.id);
  }

  private _lose(id: string): void {
    const row = this._rows.get(id);
    if (row === undefined) {
      return;
    }
    const at = this._waiting.indexOf(id);
    if (at >= 0) {
      this._waiting.splice(at, 1);
      this._rows.delete(id);
      return;
    }
    const gone = { status: DELETED, alive: false, actions: [], error: '' };
    this._rows.set(id, { ...row, ...gone });
  }

  /** Give waiting rows a place: all if rows may move, else only rows below all others. */
  private _place(calm: boolean): void {
    const waiting = [...this._waiting].sort(this._order);
    const last = this._placed.at(-1);
    const below = (id: string) =>
      last === undefined || this._order(last, id) < 0;
    const placed = calm ? waiting : waiting.filter(below);
    this._waiting = calm ? [] : waiting.filter(id => !below(id));
    this._placed.push(...placed);
    if (calm) {
      this._placed.sort(this._order);
      this._visible = this._placed.filter(id => this._passes(id));
    } else {
      this._visible.push(...placed.filter(id => this._passes(id)));
    }
  }

  private readonly _order = (one: string, other: string): number => {
    const [a, b] = [this._rows.get(one)!, this._rows.get(other)!];
    return b.created - a.created || (a.id < b.id ? 1 : -1);
  };

  private _passes(id: string): boolean {
    const row = this._rows.get(id)!;
    const text = `${row.title} ${row.about} ${row.status} ${id}`.toLowerCase();
    return this._terms.every(term => text.includes(term));
  }
}
