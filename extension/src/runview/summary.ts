/** The summary of a run: title, state, progress with the time left, reason of a failure. */

import { button, make, scrollToEnd, setText } from './elements.js';
import type { Translation } from './language.js';
import type { SnapshotParts, Failure, Progress } from './protocol.js';
import { duration } from './words.js';

export class Summary {
  readonly node = make('div', 'wbv-summary');
  private readonly _title = make('span', 'wbv-title');
  private readonly _id = make('span', 'wbv-quiet');
  private readonly _status = make('span', 'wbv-pill');
  private readonly _about = make('p', 'wbv-quiet');
  private readonly _bar = make('div', 'wbv-bar', make('div'));
  private readonly _progress = make('p', 'wbv-progress');
  private readonly _stage = make('p', 'wbv-stage');
  private readonly _note = make('p', 'wbv-notice');
  private readonly _waits = make('div', 'wbv-actions');
  private readonly _failure = make('div', 'wbv-failure');
  private _shownWaits = '';
  private _shownFailure = '';

  /** `_open` shows another run, given its id. */
  constructor(
    private readonly _open: (run: string) => void,
    private readonly _trans: Translation
  ) {
    const head = make('div', 'wbv-head', this._title, this._status, this._id);
    head.setAttribute('role', 'status');
    this._bar.setAttribute('role', 'progressbar');
    this._bar.setAttribute('aria-label', _trans.__('Steps done'));
    this._bar.setAttribute('aria-valuemin', '0');
    this._stage.setAttribute('role', 'status');
    const { _about, _bar, _stage, _progress } = this;
    this.node.append(head, _about, _bar, _stage, _progress);
    this.node.append(this._note, this._waits, this._failure);
    this._stage.hidden = this._note.hidden = true;
  }

  show({ head, progress, failure }: Partial<SnapshotParts>): void {
    if (!head || !progress) {
      return;
    }
    setText(this._title, head.title);
    setText(this._status, head.status);
    this._status.dataset.state = head.status;
    setText(this._id, head.title === head.id ? '' : head.id);
    setText(this._about, head.about);
    const share = progress.totalSteps ? progress.step / progress.totalSteps : 0;
    (this._bar.firstElementChild as HTMLElement).style.width =
      `${100 * share}%`;
    this._bar.setAttribute('aria-valuemax', String(progress.totalSteps));
    this._bar.setAttribute('aria-valuenow', String(progress.step));
    setText(
      this._progress,
      progressText(progress, share, head.alive, this._trans)
    );
    const stage = head.alive ? (progress.stage ?? '') : '';
    setText(this._stage, stage && `${stage} …`);
    this._stage.hidden = stage === '';
    setText(this._note, progress.note);
    this._note.hidden = progress.note === '';
    this._linkWaits(progress.waitsFor ?? []);
    this._fail(failure ?? null);
  }

  private _linkWaits(runs: string[]): void {
    const shown = runs.join();
    if (shown !== this._shownWaits) {
      this._shownWaits = shown;
      const tip = this._trans.__('Open the run that this run waits for');
      this._waits.replaceChildren(
        ...runs.map(run =>
          button(this._trans.__('Show %1', run), tip, () => this._open(run))
        )
      );
    }
  }

  /** A link to what is known about an error, where a server shows it. */
  private _more(cause: string): (string | HTMLElement)[] {
    const page = document.body.dataset.wbErrors;
    if (page === undefined) {
      return [];
    }
    const link = make('a', '', this._trans.__('More about this error'));
    link.href = `${page}?about=${encodeURIComponent(cause)}`;
    link.target = '_blank';
    link.rel = 'noopener';
    return [' ', link];
  }

  private _fail(failure: Failure | null): void {
    const shown = JSON.stringify(failure);
    if (shown === this._shownFailure) {
      return;
    }
    this._shownFailure = shown;
    if (failure === null) {
      this._failure.replaceChildren();
      return;
    }
    const { cause, task, fix, log_tail } = failure;
    const parts: HTMLElement[] = [
      make(
        'p',
        'wbv-notice wbv-error',
        make('b', '', `${this._trans.__('Problem:')} `),
        cause,
        ` ${this._trans.__('(task: %1)', task)}`
      ),
      make(
        'p',
        'wbv-notice',
        make('b', '', `${this._trans.__('What to change:')} `),
        fix,
        ...this._more(cause)
      )
    ];
    if (log_tail) {
      const log = make('pre', 'wbv-log', log_tail);
      log.tabIndex = 0;
      log.setAttribute('role', 'region');
      log.setAttribute(
        'aria-label',
        this._trans.__("End of the failed task's log")
      );
      parts.push(log);
      scrollToEnd(log);
    }
    this._failure.replaceChildren(...parts);
  }
}

/** Return epoch, step, speed, time left and, without a stage, the phase in a line. */
export function progressText(
  progress: Progress,
  share: number,
  alive: boolean,
  trans: Translation
): string {
  const { step, totalSteps, epoch, epochs, stepsPerSecond, etaSeconds } =
    progress;
  const parts = [
    trans.__('Epoch %1 of %2', epoch, epochs),
    trans.__(
      'step %1 of %2 (%3)',
      step.toLocaleString('en'),
      totalSteps.toLocaleString('en'),
      `${Math.floor(100 * share)}%`
    ),
    ...(stepsPerSecond === null
      ? []
      : [
          trans.__(
            '%1 steps per second',
            Number(stepsPerSecond.toPrecision(3)).toLocaleString('en')
          )
        ]),
    ...(etaSeconds === null ? [] : [trans.__('%1 left', duration(etaSeconds))]),
    ...(alive && !progress.stage ? [progress.phase] : [])
  ];
  return parts.join(', ');
}
