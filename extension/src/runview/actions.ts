/** The actions on the run: stop, resume, train on, and delete after a question. */

import { button, make } from './elements.js';
import type { Translation } from './language.js';
import type { SnapshotParts, ActionName, ActionRequest } from './protocol.js';

/** Return the label and tip of an action; `step` is where a resumed training goes on. */
function wordsOf(
  name: ActionName,
  step: number | null,
  trans: Translation
): [string, string] {
  switch (name) {
    case 'stop':
      return [
        trans.__('Stop'),
        trans.__('Finish the step, save a checkpoint and stop')
      ];
    case 'resume':
      return resumeWords(step, trans);
    case 'train_on':
      return [
        trans.__('Continue to epoch'),
        trans.__('Continue training up to this total number of epochs')
      ];
    case 'delete':
      return [trans.__('Delete ...'), trans.__("Delete the run's folder")];
  }
}

/** The label and tip of Resume: they say at which step training goes on. */
export function resumeWords(
  step: number | null,
  trans: Translation
): [string, string] {
  const label =
    step === null
      ? trans.__('Resume')
      : trans.__('Resume from step %1', step.toLocaleString('en'));
  const tip =
    step === 0
      ? trans.__(
          'No checkpoint was saved, so training starts over from the first step'
        )
      : trans.__('Continue from the last checkpoint');
  return [label, tip];
}

/** Requests an action; its button is disabled until the run's actions change or it fails. */
export class Actions {
  readonly node = make('div', 'wbv-actions');
  private readonly _epochs = make('input');
  private _offered: ActionName[] = [];
  private _dir = '';
  private _resumeStep: number | null = null;
  private _shown = '';

  /** With `_form`, a form is next to the view, and takes the run's settings. */
  constructor(
    private readonly _act: (request: ActionRequest) => void,
    private readonly _form: boolean,
    private readonly _trans: Translation
  ) {
    this._epochs.type = 'number';
    this._epochs.min = '1';
    this._epochs.setAttribute('aria-label', _trans.__('Total epochs'));
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', _trans.__('Actions on the run'));
  }

  show({
    actions,
    progress,
    gone,
    head,
    resume
  }: Partial<SnapshotParts>): void {
    this._offered = gone ? [] : (actions ?? []);
    this._dir = gone ? '' : (head?.dir ?? '');
    this._resumeStep = resume?.resumeStep ?? null;
    const shown = `${this._dir} ${this._offered.join()} ${this._resumeStep}`;
    if (shown !== this._shown) {
      this._shown = shown;
      this._epochs.value = String(2 * (progress?.epochs ?? 1));
      this.offer();
    }
  }

  /** Offer the possible actions, including one that failed. */
  offer(): void {
    this.node.replaceChildren(
      ...this._offered.flatMap(name => this._button(name)),
      ...(this._form && this._dir !== '' ? [this._settings()] : [])
    );
  }

  private _settings(): HTMLElement {
    const tip = this._trans.__(
      'Fill the form with the settings of this run, for a new run'
    );
    return button(this._trans.__('Use these settings'), tip, () =>
      this._act({ name: 'settings' })
    );
  }

  private _button(name: ActionName): HTMLElement[] {
    const [label, tip] = wordsOf(name, this._resumeStep, this._trans);
    const key = button(label, tip, () => {
      if (name === 'delete') {
        this._ask();
        return;
      }
      key.disabled = true;
      const epochs = this._epochs.valueAsNumber;
      this._act(name === 'train_on' ? { name, epochs } : { name });
    });
    key.dataset.action = name;
    return name === 'train_on' ? [key, this._epochs] : [key];
  }

  private _ask(): void {
    const trans = this._trans;
    const tip = trans.__("Delete the run's folder");
    const yes = button(trans.__('Delete it'), tip, () => {
      yes.disabled = true;
      this._act({ name: 'delete' });
    });
    yes.dataset.action = 'delete';
    const no = button(
      trans.__('Keep it'),
      trans.__('Do not delete the run'),
      () => this.offer()
    );
    const text = trans.__(
      'Delete %1 with its records, checkpoints and model? This cannot be undone.',
      this._dir
    );
    this.node.replaceChildren(
      make('p', 'wbv-notice wbv-warning', text),
      yes,
      no
    );
    no.focus();
  }
}
