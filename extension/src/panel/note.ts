/** The note of a panel, above its form or instead of it, with a button for the remedy. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { button, make, named } from '../runview/elements.js';
import type { KernelChoice } from './host.js';
import {
  explain,
  remedyFor,
  type Remedy,
  type PanelError
} from './panelErrors.js';

/** The remedies of clicks; `kernel` is the name of the chosen kernel. */
export interface Remedies {
  start(kernel: string | undefined): void;
  connect(): void;
  reload(): void;
}

export class Note extends Widget {
  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _remedies: Remedies
  ) {
    super();
    this.addClass('jp-WorkbenchPanel-note');
  }

  /** Show what is under way, and offer a new start if it takes long. */
  progress(text: string): void {
    const late = this._trans.__(
      'This is taking longer than usual. You can start again.'
    );
    this._showParts(
      'status',
      make('p', '', text),
      make(
        'div',
        'jp-WorkbenchPanel-late',
        make('p', '', late),
        this._actions('start', [], undefined)
      )
    );
  }

  /** Show an error; `kernels` are the choices for a new start. */
  error(error: PanelError, kernels: KernelChoice[], chosen?: string): void {
    const { rule, found, fix, detail } = explain(error, this._trans);
    const details = make('details', '');
    details.hidden = !detail;
    details.append(
      make('summary', '', this._trans.__('Details')),
      make('pre', '', detail ?? '')
    );
    this._showParts(
      'alert',
      make('p', 'jp-WorkbenchPanel-found', found),
      make('p', '', rule),
      make('p', '', fix),
      this._actions(remedyFor(error), kernels, chosen),
      details
    );
  }

  private _showParts(role: 'status' | 'alert', ...parts: HTMLElement[]): void {
    this.node.setAttribute('role', role);
    this.node.replaceChildren(...parts);
    this.show();
  }

  private _actions(
    remedy: Remedy,
    kernels: KernelChoice[],
    chosen: string | undefined
  ): HTMLElement {
    const choice = make('select');
    choice.append(...kernels.map(({ name, label }) => new Option(label, name)));
    choice.value = chosen ?? kernels[0]?.name ?? '';
    const label = {
      start: this._trans.__('Start a new workbench'),
      connect: this._trans.__('Connect now'),
      reload: this._trans.__('Reload the page')
    }[remedy];
    const act = button(label, '', () => {
      const kernel = choice.value === '' ? undefined : choice.value;
      remedy === 'start'
        ? this._remedies.start(kernel)
        : this._remedies[remedy]();
    });
    act.className = 'jp-mod-styled jp-mod-accept';
    const several = remedy === 'start' && kernels.length > 1;
    const parts = several ? [named(this._trans.__('Kernel'), choice)] : [];
    return make('div', 'jp-WorkbenchPanel-actions', ...parts, act);
  }
}
