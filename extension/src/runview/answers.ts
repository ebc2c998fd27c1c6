/** Waits for answers, and says so where they take long: a kernel answers when its cell ends. */

const PATIENCE_MS = 800;

export class Answers {
  private readonly _waiting = new Map<string, number>();
  private _late = new Set<string>();
  private _count = 0;

  /** `changed` hears whether an answer is late. */
  constructor(
    private readonly _name: string,
    private readonly _changed: (late: boolean) => void
  ) {}

  /** An id for a message that is about to be sent. */
  expect(): string {
    const id = `${this._name}-${this._count++}`;
    const timer = window.setTimeout(() => {
      this._late.add(id);
      this._changed(true);
    }, PATIENCE_MS);
    this._waiting.set(id, timer);
    return id;
  }

  /** The message with this id was answered; ids of other pages do no harm. */
  heard(id: string): void {
    window.clearTimeout(this._waiting.get(id));
    this._waiting.delete(id);
    if (this._late.delete(id) && this._late.size === 0) {
      this._changed(false);
    }
  }

  destroy(): void {
    this._waiting.forEach(timer => window.clearTimeout(timer));
  }
}
