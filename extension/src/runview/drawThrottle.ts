/** Draws at most once a frame, and rarely enough to leave time for the rest of the page. */

const REST_TIMES = 2;

export class DrawThrottle {
  private _frame = 0;
  private _restUntil = 0;

  constructor(private readonly _draw: () => void) {}

  /** Draw at the next frame, or as soon as the page has rested. */
  drawSoon(): void {
    this._frame ||= requestAnimationFrame(() => this._drawOrRest());
  }

  destroy(): void {
    cancelAnimationFrame(this._frame);
  }

  private _drawOrRest(): void {
    this._frame = 0;
    const began = performance.now();
    if (began < this._restUntil) {
      this.drawSoon();
      return;
    }
    this._draw();
    const took = performance.now() - began;
    this._restUntil = began + (1 + REST_TIMES) * took;
  }
}
