/** The list of runs: a listbox with only the visible rows on the page. */

import type { TranslationBundle } from '@jupyterlab/translation';

import { make } from '../runview/elements.js';
import { intentOf, type Intent } from './keys.js';
import { RowView } from './row.js';
import type { Runs } from './runs.js';
import { scrolledTo, windowOf, type Sighted } from './window.js';

const SPARE_ROWS = 4;

/** The actions that a person can start in the list. */
export interface Callbacks {
  open: () => void;
  remove: () => void;
  /** The context menu is about to open; `over` is to be called when it closes. */
  menu: (over: () => void) => void;
  /** Rows are dragged away, from an event on. */
  drag: (event: PointerEvent, ids: string[]) => void;
}

export class ListView {
  readonly node = make('div', 'jp-WorkbenchRuns-list');
  private readonly _inner = make('div', 'jp-WorkbenchRuns-rows');
  private readonly _views = new Map<string, RowView>();
  private _rowHeight = 0;

  constructor(
    private readonly _runs: Runs,
    private readonly _callbacks: Callbacks,
    private readonly _trans: TranslationBundle
  ) {
    this._inner.setAttribute('role', 'presentation');
    this.node.append(this._inner);
    this.node.tabIndex = 0;
    this.node.setAttribute('role', 'listbox');
    this.node.setAttribute('aria-multiselectable', 'true');
    this.node.setAttribute('aria-label', _trans.__('Runs'));
    this._listen();
  }

  /** Draw the visible rows and the active row of the keyboard. */
  draw(): void {
    const order = this._runs.list.visible;
    const { selection } = this._runs;
    const sighted = this._sighted();
    const { first, end } = windowOf(sighted, order.length, SPARE_ROWS);
    const active = order.indexOf(selection.active);
    const wanted = Array.from({ length: end - first }, (_, at) => first + at);
    if (active >= 0 && active < first) {
      wanted.unshift(active);
    } else if (active >= end) {
      wanted.push(active);
    }
    this._inner.style.height = `${order.length * sighted.rowHeight}px`;
    this._provide(wanted.map(at => order[at]!));
    wanted.forEach(at => {
      const id = order[at]!;
      const place = {
        at,
        count: order.length,
        selected: selection.has(id),
        active: at === active
      };
      const top = at * sighted.rowHeight;
      this._views.get(id)!.show(this._runs.list.row(id)!, place, top);
    });
    this._point(order[active]);
  }

  /** Scroll so that the active row of the keyboard is visible. */
  reveal(): void {
    const at = this._runs.list.visible.indexOf(this._runs.selection.active);
    if (at >= 0) {
      this.node.scrollTop = scrolledTo(at, this._sighted());
    }
  }

  /** Measure again, for example after a change of the font size. */
  fit(): void {
    this._rowHeight = 0;
    this.draw();
  }

  private _sighted(): Sighted {
    this._rowHeight ||= this._measured();
    const { scrollTop: top, clientHeight: height } = this.node;
    return { top, height, rowHeight: this._rowHeight };
  }

  /** The height of a styled row; a default if the list is not on the page. */
  private _measured(): number {
    const { node } = new RowView(this._trans);
    this._inner.append(node);
    const height = node.offsetHeight;
    node.remove();
    return height || 64;
  }

  /**
   * Have a view for each id, in the order of the list for screen readers: rows that leave the
   * visible part give their views to rows that enter it.
   */
  private _provide(ids: string[]): void {
    const wanted = new Set(ids);
    const free: RowView[] = [];
    this._views.forEach((view, id) => {
      if (!wanted.has(id)) {
        this._views.delete(id);
        view.node.remove();
        free.push(view);
      }
    });
    ids.forEach((id, at) => {
      const view =
        this._views.get(id) ?? free.pop() ?? new RowView(this._trans);
      this._views.set(id, view);
      const there = this._inner.children[at] ?? null;
      if (there !== view.node) {
        this._inner.insertBefore(view.node, there);
      }
    });
  }

  private _point(active: string | undefined): void {
    const view = active === undefined ? undefined : this._views.get(active);
    if (view) {
      this.node.setAttribute('aria-activedescendant', view.node.id);
    } else {
      this.node.removeAttribute('aria-activedescendant');
    }
  }

  private _listen(): void {
    const { node } = this;
    node.addEventListener('scroll', () => this.draw(), { passive: true });
    node.addEventListener('keydown', event => this._onKey(event));
    node.addEventListener('click', event => this._onClick(event));
    node.addEventListener('dblclick', event => {
      if (idAt(event) !== undefined) {
        this._callbacks.open();
      }
    });
    node.addEventListener('contextmenu', event => this._onMenu(event));
    node.addEventListener('pointerdown', event => this._onPointer(event));
    node.addEventListener('focus', () => this._onFocus());
  }

  private _onFocus(): void {
    const [first] = this._runs.list.visible;
    if (this._runs.selection.active === '' && first !== undefined) {
      this._runs.select(first, 'walk');
    }
  }

  private _onClick(event: MouseEvent): void {
    const id = idAt(event);
    if (id !== undefined) {
      const control = event.ctrlKey || event.metaKey;
      const how = event.shiftKey ? 'range' : control ? 'toggle' : 'only';
      this._runs.select(id, how);
    }
  }

  private _onMenu(event: MouseEvent): void {
    const id = idAt(event);
    if (id !== undefined && !this._runs.selection.has(id)) {
      this._runs.select(id, 'only');
    }
    if (!event.shiftKey) {
      this._callbacks.menu(() => this.node.focus());
    }
  }

  private _onPointer(event: PointerEvent): void {
    const id = idAt(event);
    if (
      id === undefined ||
      event.button !== 0 ||
      event.pointerType === 'touch'
    ) {
      return;
    }
    const { list, selection } = this._runs;
    const ids = selection.has(id) ? selection.within(list.visible) : [id];
    this._callbacks.drag(event, ids);
  }

  private _onKey(event: KeyboardEvent): void {
    const order = this._runs.list.visible;
    const { active } = this._runs.selection;
    const { height, rowHeight } = this._sighted();
    const page = Math.max(1, Math.floor(height / rowHeight) - 1);
    const at = order.indexOf(active);
    const intent = intentOf(event, at, order.length, page);
    if (intent === null) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    if (typeof intent === 'object') {
      this._runs.select(order[intent.to]!, intent.how);
      this.reveal();
      return;
    }
    this._meant(intent);
  }

  /** Do the action of a key, except moving; without a selected row, act on the active row. */
  private _meant(intent: Exclude<Intent, object>): void {
    const { active } = this._runs.selection;
    const ofChosen = (action: () => void) => () => {
      if (this._runs.chosen.length === 0 && active !== '') {
        this._runs.select(active, 'only');
      }
      action();
    };
    const actions = {
      toggle: () => active && this._runs.select(active, 'toggle'),
      open: ofChosen(this._callbacks.open),
      delete: ofChosen(this._callbacks.remove),
      menu: () => this._menuByKey(),
      all: () => this._runs.selectAll(),
      none: () => this._runs.selectNone()
    };
    actions[intent]();
  }

  /** Open the context menu at the active row of the keyboard. */
  private _menuByKey(): void {
    const view = this._views.get(this._runs.selection.active);
    if (view) {
      this.reveal();
      this.draw();
      const { left, top, height } = view.node.getBoundingClientRect();
      const where = { clientX: left + 16, clientY: top + height / 2 };
      view.node.dispatchEvent(
        new MouseEvent('contextmenu', {
          bubbles: true,
          cancelable: true,
          ...where
        })
      );
    }
  }
}

/** The run whose row an event is at. */
function idAt({ target }: Event): string | undefined {
  const row = (target as Element).closest<HTMLElement>('.jp-WorkbenchRuns-row');
  return row?.dataset.run;
}
