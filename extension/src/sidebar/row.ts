/** One row of the list: title, description, status, and the progress or result of the run. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { make, setText } from '../runview/elements.js';
import type { Row } from '../server/protocol.js';
import { rowText, shareOf, signOf, statusWord, wrong } from './words.js';

/** The place of a row in its list. */
export interface Place {
  at: number;
  count: number;
  selected: boolean;
  active: boolean;
}

let made = 0;

/** Shows one run after another while the list is scrolled. */
export class RowView {
  readonly node = make('div', 'jp-WorkbenchRuns-row');
  private readonly _title = make('div', 'jp-WorkbenchRuns-title');
  private readonly _pill = make('span', 'jp-WorkbenchRuns-pill');
  private readonly _about = make('div', 'jp-WorkbenchRuns-about');
  private readonly _done = make('div');
  private readonly _bar = make('div', 'jp-WorkbenchRuns-bar', this._done);
  private readonly _text = make('div', 'jp-WorkbenchRuns-words');
  private _row: Row | null = null;

  constructor(private readonly _trans: TranslationBundle) {
    this.node.id = `jp-WorkbenchRuns-row-${made++}`;
    this.node.setAttribute('role', 'option');
    this.node.append(
      this._title,
      make('div', 'jp-WorkbenchRuns-state', this._about, this._pill),
      this._text,
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
      this._fill(row);
    }
  }

  private _fill(row: Row): void {
    this.node.dataset.run = row.id;
    this.node.dataset.state = row.status;
    this.node.title = [row.title, row.id, row.about, wrong(row)]
      .filter((text, at, all) => text && all.indexOf(text) === at)
      .join('\n');
    setText(this._title, row.title);
    setText(this._pill, statusWord(row.status, this._trans));
    this._pill.dataset.sign = signOf(row.status);
    setText(this._about, row.about || row.id);
    setText(this._text, rowText(row, this._trans));
    this._bar.hidden = !row.alive;
    this._done.style.width = `${(100 * shareOf(row)).toFixed(1)}%`;
  }
}
