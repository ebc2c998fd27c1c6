/** The curves of the compared runs, requested again as they grow, several at a time, not often. */

import type { Row, RunSeries } from '../../server/protocol.js';
import type { Requests } from '../../server/requests.js';
import type { SeriesAnswer } from '../../server/series.js';

const REST_MS = 3000;
/** The rest after an answer, in multiples of its duration: long runs take long to read. */
const REST_TIMES = 10;
/** While there are answers to come, the curves are drawn no more often: each time all lines are. */
const DRAW_EVERY_MS = 1000;
/** As many requests as there are threads that read long runs for one page. */
const REQUESTS_AT_ONCE = 3;
/** A browser needs more time for a request than the server needs for a kept curve. */
const RUNS_A_REQUEST = 16;

/** The last request for a run, and its answer. */
interface Known {
  /** The state of its row at the request. */
  stamp: string;
  series: RunSeries | null;
  error: string;
}

export class Curves {
  private readonly _known = new Map<string, Known>();
  private _asking = false;
  private _timer = 0;
  private _drawnAt = 0;
  private _wanted: Row[] = [];
  private _over = false;

  /** `changed` is called when there is something new. */
  constructor(
    private readonly _requests: Pick<Requests, 'series'>,
    private readonly _changed: () => void
  ) {}

  seriesOf(run: string): RunSeries | null {
    return this._known.get(run)?.series ?? null;
  }

  /** Why a run's curves are unavailable; empty if they are available. */
  troubleOf(run: string): string {
    return this._known.get(run)?.error ?? '';
  }

  /** Keep the curves of these runs up to date; without runs there is no request. */
  follow(rows: Row[]): void {
    this._wanted = rows;
    if (this._timer !== 0 && this._unknown().length > 0) {
      this._endRest(); // the rest is for runs that are drawn
    }
    if (!this._asking && this._timer === 0) {
      void this._turn();
    }
  }

  destroy(): void {
    this._over = true;
    this._endRest();
  }

  private async _turn(): Promise<void> {
    let due = this._wanted.filter(
      row => this._known.get(row.id)?.stamp !== stampOf(row)
    );
    if (due.length === 0 || this._over) {
      return;
    }
    this._asking = true;
    const began = (this._drawnAt = performance.now());
    while (due.length > 0 && !this._over) {
      const left = [...due];
      await Promise.all(
        Array.from({ length: REQUESTS_AT_ONCE }, () => this._askEach(left))
      );
      this._draw();
      due = this._unknown(); // a server lists many runs in parts
    }
    this._asking = false;
    const rest = Math.max(REST_MS, REST_TIMES * (performance.now() - began));
    if (!this._over) {
      this._timer = window.setTimeout(() => {
        this._endRest();
        void this._turn();
      }, rest);
    }
  }

  /** The wanted runs that were never requested. */
  private _unknown(): Row[] {
    return this._wanted.filter(row => !this._known.has(row.id));
  }

  private _endRest(): void {
    window.clearTimeout(this._timer);
    this._timer = 0;
  }

  /** Request these runs, several at a time; the server may answer only the first of them. */
  private async _askEach(left: Row[]): Promise<void> {
    while (left.length > 0 && !this._over) {
      const asked = left.splice(0, RUNS_A_REQUEST);
      const answered = await this._ask(asked);
      left.unshift(...asked.slice(answered));
    }
  }

  /** Request these runs, and return how many were answered. */
  private async _ask(rows: Row[]): Promise<number> {
    const stamps = rows.map(stampOf);
    const answers = await this._answersOf(rows.map(({ id }) => id));
    answers.forEach((answer, at) => {
      const { id } = rows[at]!;
      const failed = 'error' in answer;
      this._known.set(id, {
        stamp: stamps[at]!,
        series: failed ? this.seriesOf(id) : answer,
        error: failed ? answer.error : ''
      });
    });
    if (performance.now() - this._drawnAt >= DRAW_EVERY_MS) {
      this._draw();
    }
    return answers.length;
  }

  private async _answersOf(runs: string[]): Promise<SeriesAnswer[]> {
    try {
      return await this._requests.series(runs);
    } catch (reason) {
      const error = reason instanceof Error ? reason.message : String(reason);
      return runs.map(() => ({ error }));
    }
  }

  private _draw(): void {
    this._drawnAt = performance.now();
    if (!this._over) {
      this._changed();
    }
  }
}

function stampOf({ step, status, error }: Row): string {
  return JSON.stringify([step, status, error]);
}
