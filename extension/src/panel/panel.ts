/** The workbench as a panel of the main area, on its own kernel. */

import { UUID } from '@lumino/coreutils';
import type { Message } from '@lumino/messaging';
import { Signal } from '@lumino/signaling';
import { Panel } from '@lumino/widgets';

import { workbenchIcon } from '../icon.js';
import type { Host } from './host.js';
import { Life, type Memory } from './life.js';
import { Note } from './note.js';
import type { Phase } from './phase.js';
import { pathOf } from './sessions.js';
import type { PanelError } from './panelErrors.js';

export class WorkbenchPanel extends Panel {
  /** Emitted when `memory` has changed. */
  readonly remembered = new Signal<this, void>(this);
  private readonly _note: Note;
  private _life: Life;
  private _resumed: Promise<void> = Promise.resolve();

  constructor(
    private readonly _host: Host,
    memory: Memory = { path: newPath() }
  ) {
    super();
    this.id = 'tf-distribute-workbench-panel';
    this.addClass('jp-WorkbenchPanel');
    this.node.tabIndex = -1;
    this.title.label = _host.trans.__('Distributed training');
    this.title.icon = workbenchIcon;
    this.title.closable = true;
    this._note = new Note(_host.trans, {
      start: kernel => void this._restart(kernel),
      connect: () => void this._life.connect(),
      reload: () => location.reload()
    });
    this.addWidget(this._note);
    this._life = this._begin(memory);
  }

  /** What another page needs to return to this panel. */
  get memory(): Memory {
    return this._life.memory;
  }

  /** Show the workbench that an earlier page lost, or else a new one. */
  async open(): Promise<void> {
    const lost = await this._host.adopt().catch(() => undefined);
    if (this.isDisposed) {
      return;
    }
    if (lost === undefined) {
      return this._life.start();
    }
    this._life = this._begin({ path: lost.path });
    return this._life.resume();
  }

  /** Return to the workbench of an earlier page. */
  resume(): Promise<void> {
    this._resumed = this._life.resume();
    return this._resumed;
  }

  /** Start a new workbench if the kernel is gone, for a person who opens the panel again. */
  async renew(): Promise<void> {
    await this._resumed;
    if (this._life.phase.kind === 'ended') {
      await this._restart();
    }
  }

  /** Closing a panel ends its kernel, also where another page shows the same one. */
  protected override onCloseRequest(message: Message): void {
    super.onCloseRequest(message);
    void this._life.end();
    this.dispose();
  }

  protected override onActivateRequest(): void {
    this.node.focus();
  }

  private _begin(memory: Memory): Life {
    const life = new Life(this._host, memory);
    life.changed.connect(this._follow, this);
    return life;
  }

  private _restart(kernel = this.memory.kernel): Promise<void> {
    void this._life.end();
    this._life = this._begin({ path: newPath(), kernel });
    return this._life.start();
  }

  private _follow(life: Life, phase: Phase): void {
    const { trans } = this._host;
    const view = life.form?.view;
    if (phase.kind === 'starting') {
      this._note.progress(trans.__('Starting a kernel for the workbench …'));
    } else if (phase.kind === 'returning') {
      this._note.progress(trans.__('Reconnecting to the workbench …'));
    } else if (phase.kind === 'live') {
      this._note.hide();
      this.addWidget(view!);
    } else {
      void this._showError(life, phase);
    }
    if (view) {
      view.node.inert = phase.kind !== 'live';
    }
    this.remembered.emit();
  }

  private async _showError(life: Life, error: PanelError): Promise<void> {
    const kernels = await this._host.kernels().catch(() => []);
    if (life.phase === error && life === this._life) {
      this._note.error(error, kernels, this.memory.kernel);
    }
  }
}

function newPath(): string {
  return pathOf(UUID.uuid4());
}
