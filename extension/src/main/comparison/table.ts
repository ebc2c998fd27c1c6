/** The compared runs as a table: a row each, with the best of each column marked. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { button, make } from '../../runview/elements.js';
import { sampleOf } from '../../runview/legend.js';
import type { Row } from '../../server/protocol.js';
import { columnsOf, type Column } from './columns.js';
import { lineOf } from './drawing.js';

/** A run of the comparison. */
export interface Member {
  run: string;
  name: string;
  number: number;
  /** Its row in the list of runs; undefined if it is not listed. */
  row: Row | undefined;
  /** Why its curves are unavailable; empty if they are available. */
  trouble: string;
}

interface Asks {
  open: (member: Member) => void;
  remove: (member: Member) => void;
}

export class ComparisonTable {
  readonly node = make('div', 'jp-WorkbenchCompare-table');
  private _shown = '';

  constructor(
    private readonly _trans: TranslationBundle,
    private readonly _asks: Asks
  ) {
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'region');
    this.node.setAttribute('aria-label', _trans.__('Table of the runs'));
  }

  /** Show these runs; the same ones leave the focus where it is. */
  show(members: Member[]): void {
    const columns = columnsOf(
      members.map(({ row }) => row),
      this._trans
    );
    const shown = JSON.stringify([members, columns]);
    if (shown === this._shown) {
      return;
    }
    this._shown = shown;
    const focused = (document.activeElement as HTMLElement | null)?.dataset;
    this.node.replaceChildren(this._table(members, columns));
    this._focus(focused?.run, focused?.does);
  }

  private _table(members: Member[], columns: Column[]): HTMLElement {
    const table = make('table', 'wbv-table');
    table.createCaption().textContent = this._trans.__('The compared runs');
    const head = table.createTHead().insertRow();
    head.append(
      heading(this._trans.__('Run')),
      heading(this._trans.__('State')),
      ...columns.map(({ name }) => heading(name, 'wbv-number')),
      make('td')
    );
    const body = table.createTBody();
    members.forEach((member, at) =>
      body.append(this._row(member, columns, at))
    );
    return table;
  }

  private _row(member: Member, columns: Column[], at: number): HTMLElement {
    const { name, row, trouble } = member;
    const open = this._button(
      member,
      'open',
      name,
      this._trans.__('Open this run')
    );
    open.className = 'jp-WorkbenchCompare-open';
    const note = trouble || row?.trouble || row?.about || '';
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
    does: keyof Asks,
    label: string,
    tip: string
  ): HTMLButtonElement {
    const made = button(label, tip, () => this._asks[does](member));
    made.dataset.run = member.run;
    made.dataset.does = does;
    return made;
  }

  /** Give the focus back to the button that had it. */
  private _focus(run: string | undefined, does: string | undefined): void {
    if (run !== undefined) {
      [...this.node.querySelectorAll('button')]
        .find(({ dataset }) => dataset.run === run && dataset.does === does)
        ?.focus();
    }
  }
}

function heading(
  text: string,
  className = '',
  scope: 'col' | 'row' = 'col'
): HTMLTableCellElement {
  const cell = make('th', className, text);
  cell.scope = scope;
  return cell;
}
