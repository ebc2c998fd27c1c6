/** The buttons above the list: the actions on the selected runs. */

import type { LabIcon } from '@jupyterlab/ui-components';
import { ellipsesIcon } from '@jupyterlab/ui-components';
import type { TranslationBundle } from '@jupyterlab/translation';
import type { CommandRegistry } from '@lumino/commands';
import { Menu } from '@lumino/widgets';

import { make } from '../runview/elements.js';

/** A named button with an icon; a disabled one keeps its place and the focus. */
export function iconButton(
  icon: LabIcon,
  label: string,
  clicked: () => void
): HTMLButtonElement {
  const node = make('button', 'jp-WorkbenchRuns-button');
  node.type = 'button';
  node.title = label;
  node.setAttribute('aria-label', label);
  icon.element({ container: node });
  node.addEventListener('click', () => {
    if (node.getAttribute('aria-disabled') !== 'true') {
      clicked();
    }
  });
  return node;
}

export class Toolbar {
  readonly node = make('div', 'jp-WorkbenchRuns-toolbar');
  private readonly _buttons = new Map<string, HTMLButtonElement>();

  /** `shown` are commands that have a button each, `more` those of the menu at the end. */
  constructor(
    private readonly _commands: CommandRegistry,
    shown: string[],
    more: string[],
    trans: TranslationBundle
  ) {
    this.node.setAttribute('role', 'toolbar');
    this.node.setAttribute('aria-label', trans.__('Selected runs'));
    for (const id of shown) {
      const key = iconButton(
        _commands.icon(id) as LabIcon,
        _commands.label(id),
        () => void _commands.execute(id)
      );
      key.dataset.command = id;
      this._buttons.set(id, key);
    }
    this.node.append(...this._buttons.values(), this._more(more, trans));
    this.node.addEventListener('keydown', event => this._onKey(event));
    this._stopAt(0);
    this.update();
  }

  /** Enable the actions that are possible now. */
  update(): void {
    this._buttons.forEach((key, id) => {
      key.setAttribute('aria-disabled', String(!this._commands.isEnabled(id)));
    });
  }

  /** Arrows go from button to button; Tab stops at one of them. */
  private _onKey({ key }: KeyboardEvent): void {
    const keys = [...this.node.children];
    const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (by !== undefined) {
      const at = keys.indexOf(document.activeElement!) + by;
      this._stopAt((at + keys.length) % keys.length).focus();
    }
  }

  private _stopAt(stop: number): HTMLElement {
    const keys = [...this.node.children] as HTMLElement[];
    keys.forEach((key, at) => (key.tabIndex = at === stop ? 0 : -1));
    return keys[stop]!;
  }

  private _more(
    commands: string[],
    trans: TranslationBundle
  ): HTMLButtonElement {
    const menu = new Menu({ commands: this._commands });
    commands.forEach(command => menu.addItem({ command }));
    const key = iconButton(ellipsesIcon, trans.__('Script and cell'), () => {
      const { left, bottom } = key.getBoundingClientRect();
      menu.open(left, bottom);
    });
    menu.aboutToClose.connect(() => key.focus());
    key.setAttribute('aria-haspopup', 'menu');
    return key;
  }
}
