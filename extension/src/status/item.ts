/** The runs in progress as a button of the status bar. */

import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { make, say } from '../runview/elements.js';

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

  /** Whether there is anything to say. */
  get active(): boolean {
    return this._button.textContent !== '';
  }

  get activeChanged(): ISignal<this, void> {
    return this._activeChanged;
  }

  /** Say this; with no words the item hides. */
  tell(words: string): void {
    const was = this.active;
    say(this._button, words);
    if (was !== this.active) {
      this._activeChanged.emit();
    }
  }
}
