/** The runs of a folder as the server told of them, a message at a time. Pure. */

import type { Row, RunsTold } from './protocol.js';

export class RunRows {
  private readonly _known = new Map<string, Row>();
  /** The ids told of since all was told again; null while that is not under way. */
  private _anew: Set<string> | null = null;
  private _whole = false;
  private _trouble = '';

  get all(): Row[] {
    return [...this._known.values()];
  }

  /** Whether every run is known. */
  get whole(): boolean {
    return this._whole;
  }

  /** Why the runs cannot be listed; empty where they can. */
  get trouble(): string {
    return this._trouble;
  }

  of(run: string): Row | undefined {
    return this._known.get(run);
  }

  /** A server that was started again reads the runs one by one: none is forgotten until it has. */
  take({ rows, gone, first, whole, trouble }: RunsTold): void {
    this._trouble = trouble ?? '';
    if (first) {
      this._anew = new Set();
    }
    for (const row of rows ?? []) {
      this._known.set(row.id, row);
      this._anew?.add(row.id);
    }
    gone?.forEach(run => this._known.delete(run));
    if (whole && this._anew !== null) {
      const { _anew, _known } = this;
      [..._known.keys()]
        .filter(run => !_anew.has(run))
        .forEach(run => _known.delete(run));
      this._anew = null;
      this._whole = true;
    }
  }
}
