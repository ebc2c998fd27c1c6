/** The live form: a widget that the kernel holds, shown by Jupyter's widget manager. */

/** What the widget manager's renderer is marked with once it shows something: also an error. */
const RENDERED = 'jupyter-widgets';

import type { IRenderMimeRegistry } from '@jupyterlab/rendermime';
import type { IRenderMime } from '@jupyterlab/rendermime-interfaces';
import type { Session } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { MessageLoop, type Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import type { Panel } from '@lumino/widgets';

import { WIDGET_MIME } from '../mime.js';
import { documentOf, type Context, type Manager } from './document.js';

type WidgetRenderer = InstanceType<Manager['WidgetRenderer']>;

export class Form implements IDisposable {
  /** What to put on the page once the live view is there. */
  readonly view: Panel;
  /** Emits true when the live view is there, and false when the kernel closed it. */
  readonly shown = new Signal<this, boolean>(this);
  /** Emitted if the manager asked the kernel for its widgets and did not get this one. */
  readonly missed = new Signal<this, void>(this);
  private readonly _manager: IDisposable;
  private readonly _document: Context;
  /** Receives the manager as a renderer does, because renderers do not expose it. */
  private readonly _managerHolder: {
    manager?: InstanceType<Manager['WidgetManager']>;
  } = {};
  private readonly _marks = new MutationObserver(() => this._lookForError());
  private _disposed = false;

  /** From here on the kernel's widgets are known to the page, those that it has already too. */
  constructor(
    manager: Manager,
    session: Session.ISessionConnection,
    private readonly _rendermime: IRenderMimeRegistry
  ) {
    const options = { mimeType: WIDGET_MIME } as IRenderMime.IRendererOptions;
    const view = new manager.WidgetRenderer(options);
    MessageLoop.installMessageHook(view, this._onMessage);
    this.view = view;
    this._marks.observe(view.node, { attributeFilter: ['class'] });
    this._render = model => view.renderModel(model);
    this._document = documentOf(session);
    this._manager = manager.registerWidgetManager(
      this._document,
      // The manager puts its own renderer of widgets there, which is not meant for others.
      _rendermime.clone(),
      ([view, this._managerHolder] as WidgetRenderer[]).values()
    );
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  /** Show one of the kernel's widgets; `again` has the manager ask the kernel for all first. */
  async show(modelId: string, again = false): Promise<void> {
    if (again) {
      const from = { loadKernel: true, loadNotebook: false };
      await this._managerHolder.manager?.restoreWidgets(
        this._document.model,
        from
      );
    }
    const data = { [WIDGET_MIME]: { model_id: modelId } };
    return this._render(this._rendermime.createModel({ data, trusted: true }));
  }

  dispose(): void {
    if (this._disposed) {
      return;
    }
    this._disposed = true;
    this._marks.disconnect();
    Signal.clearData(this);
    this.view.dispose();
    this._manager.dispose();
  }

  private _lookForError(): void {
    const { node, widgets } = this.view;
    if (widgets.length === 0 && node.classList.contains(RENDERED)) {
      this.missed.emit();
    }
  }

  private readonly _render: (model: IRenderMime.IMimeModel) => Promise<void>;

  private readonly _onMessage = (_: unknown, message: Message): boolean => {
    if (message.type === 'child-added') {
      this.shown.emit(true);
    } else if (message.type === 'child-removed' && !this._disposed) {
      this.shown.emit(false);
    }
    return true;
  };
}
