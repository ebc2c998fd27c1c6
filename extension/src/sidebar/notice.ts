/** The place of a notice. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { button, make, setText } from '../runview/elements.js';
import type { Notice } from './notices.js';

export class NoticeView {
  readonly node = make('div', 'jp-WorkbenchNotice');
  private readonly _text = make('p');
  private readonly _command = make('code');
  private readonly _again: HTMLButtonElement;

  constructor(trans: TranslationBundle, again: () => void) {
    this._again = button(
      trans.__('Try again'),
      trans.__('Ask the server again'),
      again
    );
    this._again.className = 'jp-WorkbenchSidebar-key';
    this.node.setAttribute('role', 'alert');
    this.node.hidden = true;
    this.node.append(this._text, this._command, this._again);
  }

  show(notice: Notice | null): void {
    this.node.hidden = notice === null;
    if (notice !== null) {
      setText(this._text, notice.text);
      setText(this._command, notice.command);
      this._command.hidden = notice.command === '';
      this._again.hidden = !notice.again;
    }
  }
}
