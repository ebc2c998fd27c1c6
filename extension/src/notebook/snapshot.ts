/**
 * Shows the saved view of a workbench until the live view is there.
 *
 * Without this, a notebook opened without its kernel shows "Loading widget..." for ever, and one
 * whose kernel was restarted shows "model not found": the picture and table that were saved with
 * the widget are never shown. An output that carries our marker is rendered here instead: it holds
 * the saved view and the live view, and shows one of them.
 */

import type {
  JupyterFrontEnd,
  JupyterFrontEndPlugin
} from '@jupyterlab/application';
import type { ISessionContext } from '@jupyterlab/apputils';
import { INotebookTracker, type NotebookPanel } from '@jupyterlab/notebook';
import { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import {
  ITranslator,
  nullTranslator,
  type TranslationBundle
} from '@jupyterlab/translation';
import { MessageLoop, type Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Panel, Widget } from '@lumino/widgets';

import { waitForKernel } from './kernel.js';
import { HTML_MIME, WIDGET_MIME } from '../mime.js';
import { keepKeys } from '../runview/hostKeys.js';
import { isGone, noteFor } from '../state.js';

const SNAPSHOT_MIME = 'application/vnd.tf-distribute-workbench.snapshot+json';

/** How long the live view may take before the saved one shows: less would flicker at each run. */
const PATIENCE_MS = 300;
const POLL_MS = 100;

type WidgetFactory = IRenderMime.IRendererFactory | undefined;

/** The saved and the live view of one output. */
class WorkbenchOutput extends Panel implements IRenderMime.IRenderer {
  private readonly _note = new Widget();
  private readonly _saved = new Panel();
  private _html: Widget | null = null;
  private _live: (Widget & IRenderMime.IRenderer) | null = null;
  private _alive = false;
  private _modelId = '';

  /**
   * @param rendermime - The notebook's own, into which the widget manager puts its renderer.
   * @param placeholder - The renderer factory that is there before the widget manager comes.
   */
  constructor(
    private readonly rendermime: IRenderMimeRegistry,
    private readonly session: ISessionContext,
    private readonly placeholder: WidgetFactory,
    private readonly trans: TranslationBundle
  ) {
    super();
    this._note.addClass('jp-WorkbenchSnapshot-note');
    this._note.node.setAttribute('role', 'note');
    this._saved.addWidget(this._note);
    this._saved.hide();
    this.addWidget(this._saved);
    session.statusChanged.connect(this._followKernel, this);
    session.kernelChanged.connect(this._showSaved, this);
    setTimeout(() => this._alive || this._showSaved(), PATIENCE_MS);
  }

  /** Keeps the live view where the same widget comes again with a newer snapshot. */
  async renderModel(model: IRenderMime.IMimeModel): Promise<void> {
    await this._renderSaved(model);
    const view = model.data[WIDGET_MIME] as { model_id?: string } | undefined;
    const modelId = view?.model_id ?? '';
    if (model.trusted && modelId !== '' && modelId !== this._modelId) {
      this._modelId = modelId;
      void this._renderLive(model);
    }
  }

  override dispose(): void {
    Signal.clearData(this);
    super.dispose();
  }

  private async _renderSaved(model: IRenderMime.IMimeModel): Promise<void> {
    const html = this.rendermime.createRenderer(HTML_MIME);
    await html.renderModel(
      this.rendermime.createModel({
        data: { [HTML_MIME]: model.data[HTML_MIME] ?? '' },
        trusted: model.trusted
      })
    );
    this._html?.dispose();
    this._html = html;
    this._saved.addWidget(html);
  }

  private async _renderLive(model: IRenderMime.IMimeModel): Promise<void> {
    await waitForKernel(this.session);
    while (this._widgetFactory() === this.placeholder) {
      await new Promise(resolve => setTimeout(resolve, POLL_MS));
    }
    if (this.isDisposed || this._widgetFactory() === undefined) {
      return;
    }
    this._live?.dispose();
    const live = this.rendermime.createRenderer(WIDGET_MIME);
    live.hide();
    MessageLoop.installMessageHook(live, this._onLiveMessage);
    this._live = live;
    this.addWidget(live);
    await live.renderModel(model);
  }

  private _widgetFactory(): WidgetFactory {
    return this.isDisposed
      ? undefined
      : this.rendermime.getFactory(WIDGET_MIME);
  }

  /** The widget manager's renderer holds a child exactly while the live view exists. */
  private readonly _onLiveMessage = (_: unknown, message: Message): boolean => {
    if (message.type === 'child-added') {
      this._alive = true;
      this._saved.hide();
      this._live?.show();
    } else if (message.type === 'child-removed') {
      this._showSaved();
    }
    return true;
  };

  private _followKernel(): void {
    if (isGone(this._kernelStatus())) {
      this._showSaved();
    }
    this._note.node.textContent = noteFor(this._kernelStatus(), this.trans);
  }

  private _showSaved(): void {
    if (this.isDisposed) {
      return;
    }
    this._alive = false;
    this._note.node.textContent = noteFor(this._kernelStatus(), this.trans);
    this._live?.hide();
    this._saved.show();
  }

  private _kernelStatus(): string | undefined {
    return this.session.session?.kernel?.status;
  }
}

export const snapshotPlugin: JupyterFrontEndPlugin<void> = {
  id: 'tf-distribute-workbench:snapshot',
  description: 'Shows the saved view of a workbench that is not live.',
  autoStart: true,
  requires: [INotebookTracker, IRenderMimeRegistry],
  optional: [ITranslator],
  activate: (
    _app: JupyterFrontEnd,
    tracker: INotebookTracker,
    rendermime: IRenderMimeRegistry,
    translator: ITranslator | null
  ) => {
    const trans = (translator ?? nullTranslator).load(
      'tf-distribute-workbench'
    );
    keepKeys(window);
    const prepare = ({ content, sessionContext }: NotebookPanel) => {
      content.rendermime.addFactory(
        {
          safe: true,
          mimeTypes: [SNAPSHOT_MIME],
          createRenderer: () =>
            new WorkbenchOutput(
              content.rendermime,
              sessionContext,
              rendermime.getFactory(WIDGET_MIME),
              trans
            )
        },
        -20
      );
    };
    tracker.forEach(prepare);
    tracker.widgetAdded.connect((_, panel) => prepare(panel));
  }
};
