/** The runs in the sidebar: filter, buttons, the list, and its status texts. */

import { refreshIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';

import { button, make, setText } from '../runview/elements.js';
import { ListView, type Callbacks } from './list.js';
import type { ActionReport, Runs } from './runs.js';
import { iconButton, type Toolbar } from './toolbar.js';
import { wrong } from './words.js';

export class RunsView {
  readonly node = make('div', 'jp-WorkbenchRuns');
  readonly list: ListView;
  private readonly _filter = make('input', 'jp-WorkbenchRuns-filter');
  private readonly _count = make('span', 'jp-WorkbenchRuns-count');
  private readonly _waiting: HTMLButtonElement;
  private readonly _empty: HTMLElement;
  private readonly _where = make('p');
  /** The problem of the selected run: its row has no room for the complete text. */
  private readonly _error = make('p', 'jp-WorkbenchRuns-status');
  private readonly _status = make('p', 'jp-WorkbenchRuns-status');
  /** The list and its headline: rows may move while nobody uses them. */
  private readonly _body: HTMLElement;

  constructor(
    private readonly _runs: Runs,
    private readonly _toolbar: Toolbar,
    callbacks: Callbacks & { start: () => void },
    private readonly _trans: TranslationBundle
  ) {
    this.list = new ListView(_runs, callbacks, _trans);
    this._waiting = this._key('', () => this._reveal());
    this._empty = this._emptiness(callbacks.start);
    this._body = make('div', 'jp-WorkbenchRuns-body');
    this._body.append(this._headline(), this.list.node, this._empty);
    this._status.setAttribute('role', 'status');
    this._error.dataset.level = 'error';
    this.node.append(
      this._filterBox(),
      _toolbar.node,
      this._body,
      this._error,
      this._status
    );
    _runs.calm = () => this._calm();
    _runs.changed.connect(() => this.update());
    _runs.reported.connect((_, report) => this._showReport(report));
  }

  /** Show the present state. */
  update(): void {
    const { list } = this._runs;
    const nothing = list.count === 0;
    setText(this._count, this._counted());
    const { waiting } = list;
    this._waiting.hidden = waiting === 0;
    setText(
      this._waiting,
      this._trans._n('Show %1 new run', 'Show %1 new runs', waiting)
    );
    this.list.node.hidden = nothing;
    this._empty.hidden = !nothing || !list.whole || list.error !== '';
    setText(this._where, this._trans.__('No runs in %1 yet.', list.path));
    const [row, ...more] = this._runs.chosen;
    setText(
      this._error,
      row !== undefined && more.length === 0 ? wrong(row) : ''
    );
    this._toolbar.update();
    if (!nothing) {
      this.list.draw();
    }
  }

  /** Take the focus, but not into the list: rows may move until a person uses it. */
  focus(): void {
    this._filter.focus();
  }

  private _counted(): string {
    const { list } = this._runs;
    const [all, seen] = [list.count, list.visible.length];
    const number = all.toLocaleString('en');
    if (!list.whole) {
      return list.error === ''
        ? this._trans.__('Reading … %1', all === 0 ? '' : number)
        : '';
    }
    return seen === all
      ? this._trans._n('%1 run', '%2 runs', all, number)
      : this._trans.__('%1 of %2 runs', seen.toLocaleString('en'), number);
  }

  private _calm(): boolean {
    const { _body, list } = this;
    const there =
      _body.matches(':hover') || _body.contains(document.activeElement);
    return !there && list.node.scrollTop === 0;
  }

  private _reveal(): void {
    this._runs.reveal();
    this.list.node.scrollTop = 0;
    this.list.node.focus();
  }

  private _showReport({ level, text }: ActionReport): void {
    this._status.dataset.level = level;
    setText(this._status, text);
  }

  private _filterBox(): HTMLElement {
    const { _filter, _trans } = this;
    _filter.type = 'search';
    _filter.placeholder = _trans.__('Search runs');
    _filter.setAttribute(
      'aria-label',
      _trans.__(
        'Show runs with these words in title, description, status or id'
      )
    );
    _filter.addEventListener('input', () => this._search());
    _filter.addEventListener('keydown', event => {
      if (event.key === 'ArrowDown') {
        event.preventDefault();
        this.list.node.focus();
      } else if (event.key === 'Escape' && _filter.value !== '') {
        event.preventDefault();
        event.stopPropagation();
        _filter.value = '';
        this._search();
      }
    });
    return _filter;
  }

  private _search(): void {
    this._runs.filter(this._filter.value);
    this.list.node.scrollTop = 0;
  }

  private _headline(): HTMLElement {
    const refresh = iconButton(
      refreshIcon,
      this._trans.__('Show new runs and hide deleted ones'),
      () => this._runs.refresh()
    );
    return make(
      'div',
      'jp-WorkbenchRuns-headline',
      this._count,
      this._waiting,
      refresh
    );
  }

  private _emptiness(start: () => void): HTMLElement {
    const { _trans } = this;
    const key = this._key(_trans.__('New workbench'), start);
    const next = _trans.__(
      'Click Train in a workbench, or type “workbench run” in a terminal: the run appears here. You can choose another folder of runs in the settings.'
    );
    return make(
      'div',
      'jp-WorkbenchRuns-empty',
      this._where,
      make('p', '', next),
      key
    );
  }

  private _key(label: string, clicked: () => void): HTMLButtonElement {
    const key = button(label, '', clicked);
    key.className = 'jp-WorkbenchSidebar-key';
    return key;
  }
}
