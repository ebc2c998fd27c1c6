/**
 * Sends a message again and again until it is acknowledged, and reports a late acknowledgement.
 *
 * A kernel answers when its cell ends. It can also lose a message silently: the first messages of
 * a page that is loaded again may go to a subshell that ended with the old page.
 */

const LATE_MS = 800;
const AGAIN_MS = 2000;

/** The timers of a message that waits for its acknowledgement. */
interface Wait {
  again: number;
  late: number;
}

export class Answers {
  private readonly _waiting = new Map<string, Wait>();
  private readonly _late = new Set<string>();
  private _count = 0;

  /** `changed` is called with whether an acknowledgement is late. */
  constructor(
    private readonly _name: string,
    private readonly _changed: (late: boolean) => void
  ) {}

  /** Send a message with a new id, less and less often, until it is acknowledged; return the id. */
  ask(send: (id: string) => void): string {
    const id = `${this._name}-${this._count++}`;
    const wait = { again: 0, late: 0 };
    const attempt = (pause: number): void => {
      send(id);
      wait.again = window.setTimeout(() => attempt(2 * pause), pause);
    };
    wait.late = window.setTimeout(() => {
      this._late.add(id);
      this._changed(true);
    }, LATE_MS);
    this._waiting.set(id, wait);
    attempt(AGAIN_MS);
    return id;
  }

  /** Stop sending the message with this id; ids of other pages have no effect. */
  acknowledge(id: string): void {
    this._forget(this._waiting.get(id));
    this._waiting.delete(id);
    if (this._late.delete(id) && this._late.size === 0) {
      this._changed(false);
    }
  }

  destroy(): void {
    this._waiting.forEach(wait => this._forget(wait));
  }

  private _forget(wait: Wait | undefined): void {
    window.clearTimeout(wait?.again);
    window.clearTimeout(wait?.late);
  }
}
