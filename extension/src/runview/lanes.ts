/** A lane for each task: its state, step and speed, and the end of its log. */

import { button, make, scrollToEnd, setText } from './elements.js';
import type { Translation } from './language.js';
import type { SnapshotParts, Lane } from './protocol.js';

export class Lanes {
  readonly node = make('div', 'wbv-lanes');
  private readonly _lanes = new Map<string, LaneView>();

  constructor(
    private readonly _kill: (task: string) => void,
    private readonly _trans: Translation
  ) {}

  show({ lanes, logs }: Partial<SnapshotParts>): void {
    for (const lane of lanes ?? []) {
      let view = this._lanes.get(lane.task);
      if (view === undefined) {
        view = new LaneView(lane.task, this._kill, this._trans);
        this._lanes.set(lane.task, view);
        this.node.append(view.node);
      }
      view.show(lane, logs?.[lane.task] ?? '');
    }
    for (const [task, view] of this._lanes) {
      if (!lanes?.some(lane => lane.task === task)) {
        view.node.remove();
        this._lanes.delete(task);
      }
    }
    const nodes = (lanes ?? []).map(({ task }) => this._lanes.get(task)!.node);
    if (nodes.some((node, at) => node !== this.node.children[at])) {
      this.node.append(...nodes);
    }
  }
}

class LaneView {
  readonly node = make('div', 'wbv-lane-row');
  private readonly _state = make('span', 'wbv-lane-state');
  private readonly _step = make('span', 'wbv-number');
  private readonly _speed = make('span', 'wbv-number');
  private readonly _last = make('span', 'wbv-lane-last');
  private readonly _log = make('pre', 'wbv-log');
  private readonly _config = make('p', 'wbv-config');
  private readonly _kill: HTMLButtonElement;

  constructor(
    task: string,
    kill: (task: string) => void,
    private readonly _trans: Translation
  ) {
    const name = make('span', 'wbv-lane-name', task);
    const { _state, _step, _speed, _last, _log } = this;
    const line = make('summary', '', name, _state, _step, _speed, _last);
    line.title = _trans.__('Show or hide the end of the log');
    this._kill = button(_trans.__('Kill'), '', () => kill(task));
    this._kill.setAttribute('aria-label', _trans.__('Kill %1', task));
    _log.tabIndex = 0;
    _log.setAttribute('role', 'region');
    _log.setAttribute('aria-label', _trans.__('End of the log of %1', task));
    const details = make('details', 'wbv-lane', line, this._config, _log);
    details.addEventListener('toggle', () => scrollToEnd(_log));
    this.node.append(details, this._kill);
  }

  show(lane: Lane, log: string): void {
    const { state, step, stepsPerSecond, note, tfConfig } = lane;
    setText(this._config, `TF_CONFIG ${tfConfig}`);
    this._config.hidden = tfConfig === '';
    this._kill.hidden = lane.killable !== true;
    this._kill.title = lane.restartsAlone
      ? this._trans.__(
          'Kill %1, as if its machine were lost: it restarts, and the others keep training',
          lane.task
        )
      : this._trans.__(
          'Kill %1, as if its machine were lost: all tasks restart from the checkpoint',
          lane.task
        );
    setText(this._state, state);
    setText(
      this._step,
      step === null ? '' : this._trans.__('step %1', step.toLocaleString('en'))
    );
    const speed =
      stepsPerSecond === null
        ? ''
        : this._trans.__(
            '%1 steps per second',
            Number(stepsPerSecond.toPrecision(3)).toLocaleString('en')
          );
    setText(this._speed, speed);
    setText(this._last, note || (log.trimEnd().split('\n').at(-1) ?? ''));
    const atEnd =
      this._log.scrollTop + this._log.clientHeight >=
      this._log.scrollHeight - 4;
    if (this._log.textContent !== log) {
      this._log.textContent = log || this._trans.__('The log is still empty.');
      if (atEnd) {
        this._log.scrollTop = this._log.scrollHeight;
      }
    }
  }
}
