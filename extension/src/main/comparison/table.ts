/** The compared runs as a table that can be sorted, with the best of each column marked. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { button, make } from '../../runview/elements.js';
import { sampleOf } from '../../runview/legend.js';
import type { Row } from '../../server/protocol.js';
import { columnsOf, differencesOf, type Column } from './columns.js';
import { lineOf } from './drawing.js';
import { heading, sortHead } from './heads.js';
import { afterClick, inOrder, type Order, type Sorting } from './order.js';

/** A run of the comparison. */
export interface Member {
  run: string;
  name: string;
  number: number;
  /** Its row in the list of runs; undefined if it is not listed. */
  row: Row | undefined;
  /** Why its curves are unavailable; empty if they are available. */
  error: string;
}

interface Callbacks {
  open: (member: Member) => void;
  remove: (member: Member) => void;
  /** Called with the new order after a click on a head; null: as listed. */
  sorted: (order: Order | null) => void;
}

export class ComparisonTable {
  readonly node = make('div', 'jp-WorkbenchCompare-table');
  private _members: Member[] = [];
  private _shown = '';

  /** `_order` is the first order; null: as listed. */
  constructor(
    private _order: Order | null,
    private readonly _trans: TranslationBundle,
    private readonly _callbacks: Callbacks
  ) {
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _trans.__('Table of the runs'));
  }

  /** Show these runs; the same ones leave the focus where it is. */
  show(members: Member[]): void {
    this._members = members;
    const columns = columnsOf(
      members.map(({ row }) => row),
      this._trans
    );
    const shown = JSON.stringify([members, columns, this._order]);
    if (shown === this._shown) {
      return;
    }
    this._shown = shown;
    const focused = (document.activeElement as HTMLElement | null)?.dataset.key;
    this.node.replaceChildren(
      ...this._differences(members),
      this._table(members, columns)
    );
    this._focus(focused);
  }

  /** Say why no run is marked as the best, if they do different work. */
  private _differences(members: Member[]): HTMLElement[] {
    const names = {
      model: this._trans.__('model'),
      data: this._trans.__('data'),
      batch: this._trans.__('batch')
    };
    const found = differencesOf(members.map(({ row }) => row));
    const text = this._trans.__(
      'The runs differ in %1, so no value is marked as the best.',
      found.map(name => names[name]).join(', ')
    );
    return found.length > 0 ? [make('p', 'wbv-quiet', text)] : [];
  }

  private _table(members: Member[], columns: Column[]): HTMLElement {
    const texts: Sorting[] = [
      { name: this._trans.__('Run'), values: members.map(({ name }) => name) },
      {
        name: this._trans.__('State'),
        values: members.map(({ row }) => row?.status ?? null)
      }
    ];
    const table = make('table', 'wbv-table');
    table.createCaption().textContent = this._trans.__('The compared runs');
    table
      .createTHead()
      .insertRow()
      .append(
        ...texts.map(each => this._head(each)),
        ...columns.map(each => this._head(each, 'wbv-number')),
        make('td')
      );
    const body = table.createTBody();
    const sortings = [...texts, ...columns];
    for (const at of inOrder(members.length, sortings, this._order)) {
      body.append(this._row(members[at]!, columns, at));
    }
    return table;
  }

  private _head(sorting: Sorting, className = ''): HTMLElement {
    const { name } = sorting;
    const order = this._order?.column === name ? this._order : null;
    return sortHead(sorting, className, order, this._trans, () => {
      this._order = afterClick(this._order, name);
      this.show(this._members);
      this._callbacks.sorted(this._order);
    });
  }

  private _row(member: Member, columns: Column[], at: number): HTMLElement {
    const { name, row, error } = member;
    const open = this._button(
      member,
      'open',
      name,
      this._trans.__('Open this run')
    );
    open.className = 'jp-WorkbenchCompare-open';
    const note = error || row?.error || row?.about || '';
    const title = heading('', '', 'row');
    title.append(
      make('div', 'jp-WorkbenchCompare-name', sampleOf(lineOf(member)), open),
      make('div', 'wbv-quiet', note)
    );
    const status = row?.status ?? this._trans.__('missing');
    const pill = make('span', 'wbv-pill', status);
    pill.dataset.state = status;
    const remove = this._button(
      member,
      'remove',
      this._trans.__('Remove'),
      this._trans.__('Remove %1 from the comparison', name)
    );
    remove.setAttribute('aria-label', remove.title);
    return make(
      'tr',
      '',
      title,
      make('td', '', pill),
      ...columns.map(column => this._cell(column, at)),
      make('td', '', remove)
    );
  }

  private _cell({ texts, best }: Column, at: number): HTMLElement {
    const cell = make('td', 'wbv-number', texts[at]!);
    if (best[at]) {
      cell.classList.add('jp-mod-best');
      cell.append(
        ' ',
        make('span', 'jp-WorkbenchCompare-best', this._trans.__('best'))
      );
    }
    return cell;
  }

  private _button(
    member: Member,
    does: 'open' | 'remove',
    label: string,
    tip: string
  ): HTMLButtonElement {
    const made = button(label, tip, () => this._callbacks[does](member));
    made.dataset.key = `${does}-${member.run}`;
    return made;
  }

  /** Give the focus back to the button that had it. */
  private _focus(key: string | undefined): void {
    if (key !== undefined) {
      [...this.node.querySelectorAll('button')]
        .find(({ dataset }) => dataset.key === key)
        ?.focus();
    }
  }
}
