/** Watches a channel of the server while it is wanted. */
export class Watch {
  private _stop: (() => void) | null = null;

  /** `start` starts watching, and returns the function that stops it. */
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
