/** Whether an element is visible: it is on the page, scrolled to, and the page is in front. */

const SETTLE_MS = 500;

export class Sight {
  private readonly _observer: IntersectionObserver;
  private _within: boolean;
  private _timer = 0;
  private readonly _judge = (): void => {
    window.clearTimeout(this._timer);
    this._timer = window.setTimeout(
      () => this._report(),
      this._now() ? 0 : SETTLE_MS
    );
  };

  /** `changed` is called when the element becomes visible or hidden; `_seen` is the initial state. */
  constructor(
    node: Element,
    private readonly _changed: (seen: boolean) => void,
    private _seen = true
  ) {
    this._within = _seen;
    this._observer = new IntersectionObserver(entries => {
      this._within = entries.at(-1)!.isIntersecting;
      this._judge();
    });
    this._observer.observe(node);
    document.addEventListener('visibilitychange', this._judge);
  }

  destroy(): void {
    window.clearTimeout(this._timer);
    this._observer.disconnect();
    document.removeEventListener('visibilitychange', this._judge);
  }

  private _now(): boolean {
    return this._within && document.visibilityState === 'visible';
  }

  private _report(): void {
    const seen = this._now();
    if (seen !== this._seen) {
      this._seen = seen;
      this._changed(seen);
    }
  }
}
