/** Hears a channel of the server while it is wanted. */
export class Watch {
  private _stop: (() => void) | null = null;

  /** `start` begins to hear, and returns what ends it. */
  constructor(private readonly _start: () => () => void) {}

  want(wanted: boolean): void {
    if (wanted && this._stop === null) {
      this._stop = this._start();
    } else if (!wanted) {
      this._stop?.();
      this._stop = null;
    }
  }
}
