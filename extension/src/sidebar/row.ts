/** One row of the list: status, title, make, and how far the run is or what it came to. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { make, say } from '../runview/elements.js';
import type { Row } from '../server/protocol.js';
import { rowWords, shareOf, signOf, statusWord, wrong } from './words.js';

/** How a row is in its list. */
export interface Place {
  at: number;
  count: number;
  selected: boolean;
  active: boolean;
}

let made = 0;

/** Is given one run after another as the list is scrolled. */
export class RowView {
  readonly node = make('div', 'jp-WorkbenchRuns-row');
  private readonly _title = make('span', 'jp-WorkbenchRuns-title');
  private readonly _pill = make('span', 'jp-WorkbenchRuns-pill');
  private readonly _about = make('div', 'jp-WorkbenchRuns-about');
  private readonly _done = make('div');
  private readonly _bar = make('div', 'jp-WorkbenchRuns-bar', this._done);
  private readonly _words = make('div', 'jp-WorkbenchRuns-words');
  private _row: Row | null = null;

  constructor(private readonly _trans: TranslationBundle) {
    this.node.id = `jp-WorkbenchRuns-row-${made++}`;
    this.node.setAttribute('role', 'option');
    this.node.append(
      make('div', 'jp-WorkbenchRuns-head', this._title, this._pill),
      this._about,
      this._words,
      this._bar
    );
  }

  show(row: Row, { at, count, selected, active }: Place, top: number): void {
    const { node } = this;
    node.style.top = `${top}px`;
    node.setAttribute('aria-posinset', String(at + 1));
    node.setAttribute('aria-setsize', String(count));
    node.setAttribute('aria-selected', String(selected));
    node.classList.toggle('jp-mod-active', active);
    if (row !== this._row) {
      this._row = row;
      this._tell(row);
    }
  }

  private _tell(row: Row): void {
    this.node.dataset.run = row.id;
    this.node.dataset.state = row.status;
    this.node.title = [row.title, row.about, wrong(row)]
      .filter(Boolean)
      .join('\n');
    say(this._title, row.title);
    say(this._pill, statusWord(row.status, this._trans));
    this._pill.dataset.sign = signOf(row.status);
    say(this._about, row.about || row.id);
    say(this._words, rowWords(row, this._trans));
    this._bar.hidden = !row.alive;
    this._done.style.width = `${(100 * shareOf(row)).toFixed(1)}%`;
  }
}
