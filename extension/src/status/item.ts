/** The runs in progress as a button of the status bar. */

import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { make, setText } from '../runview/elements.js';

export class ProgressItem extends Widget {
  private readonly _button = make('button', 'jp-WorkbenchStatus');
  private readonly _activeChanged = new Signal<this, void>(this);

  constructor(tip: string, clicked: () => void) {
    super();
    this._button.type = 'button';
    this._button.title = tip;
    this._button.addEventListener('click', clicked);
    this.node.append(this._button);
  }

  /** Whether there is a text to show. */
  get active(): boolean {
    return this._button.textContent !== '';
  }

  get activeChanged(): ISignal<this, void> {
    return this._activeChanged;
  }

  /** Show a text; an empty one hides the item. */
  setText(text: string): void {
    const was = this.active;
    setText(this._button, text);
    if (was !== this.active) {
      this._activeChanged.emit();
    }
  }
}
