/** What a panel says above its form, or in its place, and what a click does about it. */

import type { TranslationBundle } from '@jupyterlab/translation';
import { Widget } from '@lumino/widgets';

import { button, make, named } from '../runview/elements.js';
import type { KernelChoice } from './host.js';
import { remedyFor, tell, type Remedy, type Trouble } from './trouble.js';

/** What clicks ask for; `kernel` is the name of the chosen one. */
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

  /** Say that something is under way, and offer to start again where that takes long. */
  progress(text: string): void {
    const late = this._trans.__(
      'This takes long. You can start again instead.'
    );
    this._say(
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

  /** Say what stands in the way; `kernels` are offered where a new one is started. */
  trouble(trouble: Trouble, kernels: KernelChoice[], chosen?: string): void {
    const { rule, found, fix, detail } = tell(trouble, this._trans);
    const details = make('details', '');
    details.hidden = !detail;
    details.append(
      make('summary', '', this._trans.__('Details')),
      make('pre', '', detail ?? '')
    );
    this._say(
      'alert',
      make('p', 'jp-WorkbenchPanel-found', found),
      make('p', '', rule),
      make('p', '', fix),
      this._actions(remedyFor(trouble), kernels, chosen),
      details
    );
  }

  private _say(role: 'status' | 'alert', ...parts: HTMLElement[]): void {
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
