/** Several runs compared in the main area. */

import { MainAreaWidget } from '@jupyterlab/apputils';
import type { ITranslator } from '@jupyterlab/translation';
import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { workbenchIcon } from '../icon.js';
import type { IWorkbenchServer } from '../server/plugin.js';
import { ComparisonView, type Compared } from './comparison/view.js';

export class ComparePanel extends MainAreaWidget {
  private readonly _view: ComparisonView;
  private readonly _changed = new Signal<this, void>(this);

  /** `open` shows a run in its own panel. */
  constructor(
    server: IWorkbenchServer,
    private readonly _compared: Compared,
    translator: ITranslator,
    open: (run: string, title: string) => void
  ) {
    super({ content: new Widget(), translator });
    const trans = translator.load('tf-distribute-workbench');
    this._view = new ComparisonView(server, _compared, trans, {
      open,
      changed: () => this._changed.emit()
    });
    this.addClass('jp-WorkbenchComparePanel');
    this.toolbar.hide();
    this.content.addClass('jp-WorkbenchMain');
    this.content.node.append(this._view.node);
    this.title.icon = workbenchIcon;
    this.title.label = trans.__('Comparison of runs');
  }

  get compared(): Readonly<Compared> {
    return this._compared;
  }

  /** Emitted when a run was removed, or when the table has another order. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._view.destroy();
      Signal.clearData(this);
      super.dispose();
    }
  }
}
