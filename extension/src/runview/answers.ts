/**
 * Sends what wants an answer, again until there is one, and tells where that takes long.
 *
 * A kernel answers when its cell ends. It can also lose a message without a word: of a page that
 * is loaded again, the first ones may be for a subshell that has gone with the old page.
 */

const LATE_MS = 800;
const AGAIN_MS = 2000;

/** An answer that is waited for. */
interface Wait {
  again: number;
  late: number;
}

export class Answers {
  private readonly _waiting = new Map<string, Wait>();
  private readonly _late = new Set<string>();
  private _count = 0;

  /** `changed` hears whether an answer is late. */
  constructor(
    private readonly _name: string,
    private readonly _changed: (late: boolean) => void
  ) {}

  /** Send a message under an id of its own, and again, ever less often, until it is heard; returns it. */
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

  /** The message with this id was heard; ids of other pages do no harm. */
  heard(id: string): void {
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
