/** The curves of the compared runs, asked for again as they grow, one at a time and never often. */

import type { Row, RunSeries } from '../../server/protocol.js';
import type { Requests } from '../../server/requests.js';

const REST_MS = 3000;
/** How many times as long as an answer took until the next request: long runs are much to read. */
const REST_TIMES = 10;

/** What was asked of a run, and what came. */
interface Known {
  /** What its row said when it was asked. */
  stamp: string;
  series: RunSeries | null;
  trouble: string;
}

export class Curves {
  private readonly _known = new Map<string, Known>();
  private _asking = false;
  private _timer = 0;
  private _wanted: Row[] = [];
  private _over = false;

  /** `changed` hears that there is something new. */
  constructor(
    private readonly _requests: Requests,
    private readonly _changed: () => void
  ) {}

  seriesOf(run: string): RunSeries | null {
    return this._known.get(run)?.series ?? null;
  }

  /** Why a run's curves cannot be had; empty where they can. */
  troubleOf(run: string): string {
    return this._known.get(run)?.trouble ?? '';
  }

  /** Keep up with these runs; of none there is no request. */
  follow(rows: Row[]): void {
    this._wanted = rows;
    if (!this._asking && this._timer === 0) {
      void this._turn();
    }
  }

  destroy(): void {
    this._over = true;
    window.clearTimeout(this._timer);
  }

  private async _turn(): Promise<void> {
    const due = this._wanted.filter(
      row => this._known.get(row.id)?.stamp !== stampOf(row)
    );
    if (due.length === 0 || this._over) {
      return;
    }
    this._asking = true;
    const began = performance.now();
    for (const row of due) {
      await this._ask(row);
    }
    this._asking = false;
    const rest = Math.max(REST_MS, REST_TIMES * (performance.now() - began));
    if (!this._over) {
      this._timer = window.setTimeout(() => {
        this._timer = 0;
        void this._turn();
      }, rest);
    }
  }

  private async _ask(row: Row): Promise<void> {
    const stamp = stampOf(row);
    try {
      const series = await this._requests.series(row.id);
      this._known.set(row.id, { stamp, series, trouble: '' });
    } catch (reason) {
      const trouble = reason instanceof Error ? reason.message : String(reason);
      const { series = null } = this._known.get(row.id) ?? {};
      this._known.set(row.id, { stamp, series, trouble });
    }
    if (!this._over) {
      this._changed();
    }
  }
}

function stampOf({ step, status, trouble }: Row): string {
  return JSON.stringify([step, status, trouble]);
}
