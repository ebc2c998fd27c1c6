/** The runs of a folder, built up from the messages of the server. Pure. */

import type { Row, RunsUpdate } from './protocol.js';

export class RunRows {
  private readonly _known = new Map<string, Row>();
  /** The ids listed since the server started a new list; null if no list is under way. */
  private _relisted: Set<string> | null = null;
  private _whole = false;
  private _error = '';

  get all(): Row[] {
    return [...this._known.values()];
  }

  /** Whether every run is known. */
  get whole(): boolean {
    return this._whole;
  }

  /** Why the runs cannot be listed; empty if they can. */
  get error(): string {
    return this._error;
  }

  of(run: string): Row | undefined {
    return this._known.get(run);
  }

  /** Take in an update. A restarted server reads runs one by one: none is removed before the end. */
  take({ rows, gone, first, whole, error }: RunsUpdate): void {
    this._error = error ?? '';
    if (first) {
      this._relisted = new Set();
    }
    for (const row of rows ?? []) {
      this._known.set(row.id, row);
      this._relisted?.add(row.id);
    }
    gone?.forEach(run => this._known.delete(run));
    if (whole && this._relisted !== null) {
      const { _relisted, _known } = this;
      [..._known.keys()]
        .filter(run => !_relisted.has(run))
        .forEach(run => _known.delete(run));
      this._relisted = null;
      this._whole = true;
    }
  }
}
