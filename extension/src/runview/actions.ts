/** The actions on the run: stop, resume, train on, and delete after a question. */

import { button, make } from './elements.js';
import type { Account, ActionName, ActionRequest } from './protocol.js';

const LABELS: Record<ActionName, [string, string]> = {
  stop: ['Stop', 'Finish the step, save, and end'],
  resume: ['Resume', 'Continue from the last checkpoint'],
  train_on: ['Continue to epoch', 'Train on to this total number of epochs'],
  delete: ['Delete ...', "Delete the run's folder"]
};

/** The label and tip of Resume: they say at which step training goes on. */
export function resumeWords(step: number | null): [string, string] {
  if (step === null) {
    return LABELS.resume;
  }
  return step === 0
    ? [
        'Resume from step 0',
        'No checkpoint was saved, so training begins again at the first step'
      ]
    : [
        `Resume from step ${step.toLocaleString('en')}`,
        'Continue from the last checkpoint'
      ];
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
    private readonly _form: boolean
  ) {
    this._epochs.type = 'number';
    this._epochs.min = '1';
    this._epochs.setAttribute('aria-label', 'Total epochs');
    this.node.setAttribute('role', 'group');
    this.node.setAttribute('aria-label', 'Actions on the run');
  }

  show({ actions, progress, gone, head, resume }: Partial<Account>): void {
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
    const tip = 'Fill the form with the settings of this run, for a new run';
    return button('Use these settings', tip, () =>
      this._act({ name: 'settings' })
    );
  }

  private _button(name: ActionName): HTMLElement[] {
    const [label, tip] =
      name === 'resume' ? resumeWords(this._resumeStep) : LABELS[name];
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
    const yes = button('Delete it', "Delete the run's folder", () => {
      yes.disabled = true;
      this._act({ name: 'delete' });
    });
    yes.dataset.action = 'delete';
    const no = button('Keep it', 'Do not delete the run', () => this.offer());
    const text = `Delete ${this._dir} with its records, checkpoints and model? This cannot be undone.`;
    this.node.replaceChildren(
      make('p', 'wbv-notice wbv-warning', text),
      yes,
      no
    );
    no.focus();
  }
}
