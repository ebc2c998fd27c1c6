/** A run in the main area, over the server: no kernel is needed. */

import { MainAreaWidget } from '@jupyterlab/apputils';
import type { ITranslator } from '@jupyterlab/translation';
import { Signal, type ISignal } from '@lumino/signaling';
import { Widget } from '@lumino/widgets';

import { agree } from '../agree.js';
import { workbenchIcon } from '../icon.js';
import { RunView, type Head } from '../runview/index.js';
import type { IWorkbenchServer } from '../server/plugin.js';
import { Requests } from '../server/requests.js';
import { RunSource } from '../server/source.js';
import { ofTheServer } from './wording.js';

/** Which run a panel shows. */
export interface RunArguments {
  run: string;
  folder: string;
  title: string;
}

export class RunPanel extends MainAreaWidget {
  private readonly _source: RunSource;
  private readonly _view: RunView;
  private readonly _changed = new Signal<this, void>(this);

  constructor(
    server: IWorkbenchServer,
    private _shown: RunArguments,
    translator: ITranslator,
    open: (run: string) => void
  ) {
    super({ content: new Widget(), translator });
    const { run, folder } = _shown;
    const trans = translator.load('tf-distribute-workbench');
    const requests = new Requests(server.requests.settings, folder, trans);
    this._source = new RunSource(
      server.stream,
      requests,
      run,
      (_, code) => agree(run, code, trans),
      open
    );
    this._view = new RunView(this._source, trans, ofTheServer(trans));
    this._source.listen(message => {
      if (message.kind === 'run' && message.parts.head) {
        this._name(message.parts.head);
      }
    });
    this.addClass('jp-WorkbenchRun');
    this.toolbar.hide();
    this.content.addClass('jp-WorkbenchMain');
    this.content.node.append(this._view.node);
    this.title.icon = workbenchIcon;
    this.title.label = _shown.title || run;
    this.title.caption = run;
  }

  get shown(): RunArguments {
    return this._shown;
  }

  /** Emitted when the run has another title. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  override dispose(): void {
    if (!this.isDisposed) {
      this._view.destroy();
      this._source.dispose();
      Signal.clearData(this);
      super.dispose();
    }
  }

  private _name({ title, about }: Head): void {
    this.title.caption = `${this._shown.run}\n${about}`;
    if (title !== this._shown.title) {
      this._shown = { ...this._shown, title };
      this.title.label = title;
      this._changed.emit();
    }
  }
}
