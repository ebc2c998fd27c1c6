/** A workbench on one kernel, from its start or return until one of the two is lost. */

import type { Kernel, Session } from '@jupyterlab/services';
import { Signal } from '@lumino/signaling';

import { liveWidgets } from '../notebook/kernel.js';
import { isLost, type Condition } from './condition.js';
import { Form } from './form.js';
import type { Host } from './host.js';
import { isFinal, type Phase } from './phase.js';
import { widgetOf } from './run.js';
import { Stopped } from './panelErrors.js';
import { Watch } from './watch.js';

/** How long to wait for the widget before the next request; then twice as long. */
const PATIENCE_MS = 15_000;
const LAST_PATIENCE_MS = 60_000;

/** What another page needs to return to a workbench. */
export interface Memory {
  path: string;
  kernel?: string;
  modelId?: string;
}

export class Life {
  readonly changed = new Signal<this, Phase>(this);
  form: Form | null = null;
  private _phase: Phase = { kind: 'starting' };
  private _session: Session.ISessionConnection | null = null;
  private _watch: Watch | null = null;
  private _over = false;

  constructor(
    private readonly _host: Host,
    readonly memory: Memory
  ) {}

  get phase(): Phase {
    return this._phase;
  }

  /** Start on a new kernel. */
  start(): Promise<void> {
    delete this.memory.modelId;
    return this._live('starting', async () => {
      const [first] = await this._host.kernels();
      const kernel = this.memory.kernel ?? first?.name;
      if (kernel === undefined) {
        throw new Stopped({ kind: 'no kernels' });
      }
      return this._host.start(this.memory.path, kernel);
    });
  }

  /** Return to the kernel that the path names. */
  resume(): Promise<void> {
    return this._live('returning', () => this._host.find(this.memory.path));
  }

  /** Try to connect to the kernel immediately. */
  async connect(): Promise<void> {
    try {
      await this._session?.kernel?.reconnect();
    } catch {
      // The watch finds out what happened to the kernel.
    }
  }

  /** Dispose of everything and shut down the kernel; runs are separate processes and continue. */
  async end(): Promise<void> {
    const id = this._session?.id;
    this._over = true;
    Signal.clearData(this);
    this._watch?.dispose();
    this._session?.dispose();
    this.form?.dispose();
    if (id !== undefined) {
      await this._host.end(id);
    }
  }

  private async _live(
    kind: 'starting' | 'returning',
    connect: () => Promise<Session.ISessionConnection>
  ): Promise<void> {
    this._turn({ kind });
    try {
      const manager = await this._host.manager();
      const session = await connect();
      if (this._over) {
        // Its panel was closed meanwhile.
        session.dispose();
        return this._host.end(session.id);
      }
      this._session = session;
      this._watch = new Watch(session);
      this._watch.changed.connect(this._follow, this);
      // Before the code runs: a widget of the kernel that no manager knows is closed.
      this.form = new Form(manager, session, this._host.rendermime);
      this.form.shown.connect(this._onShown, this);
      await this._find(session.kernel!);
      await this._show(this.form, session.kernel!);
    } catch (reason) {
      this._turn(
        reason instanceof Stopped
          ? reason.error
          : { kind: 'not started', error: String(reason) }
      );
    }
  }

  /** Have the kernel hold the widget that was there before, else the one that the code shows. */
  private async _find(kernel: Kernel.IKernelConnection): Promise<void> {
    const { memory } = this;
    memory.kernel = kernel.name;
    if (memory.modelId !== undefined && !(await this._isHeld(kernel))) {
      throw new Stopped({ kind: 'restarted' });
    }
    if (memory.modelId === undefined) {
      const label = await this._host.label(kernel.name);
      memory.modelId = await widgetOf(this._host.source(), kernel, label);
    }
  }

  /** Show the widget: the manager (5.0.16) asks once, and waits for ever if an answer is lost. */
  private async _show(
    form: Form,
    kernel: Kernel.IKernelConnection
  ): Promise<void> {
    for (let patience = PATIENCE_MS; !this._isOver; patience *= 2) {
      if (await this._shows(form, patience)) {
        return;
      }
      if (!(await this._isHeld(kernel))) {
        throw new Stopped({ kind: 'closed' });
      }
      if (patience > LAST_PATIENCE_MS) {
        const { trans } = this._host;
        throw new Error(
          trans.__('the page did not receive its widgets from the kernel.')
        );
      }
    }
  }

  /** Show the widget; false if the page did not get it, or not in time. */
  private _shows(form: Form, patienceMs: number): Promise<boolean> {
    const again = patienceMs > PATIENCE_MS;
    return new Promise((resolve, reject) => {
      form.shown.connect(() => resolve(true));
      form.missed.connect(() => resolve(false));
      setTimeout(() => resolve(false), patienceMs);
      form.show(this.memory.modelId!, again).catch(reject);
    });
  }

  private get _isOver(): boolean {
    return this._over || isFinal(this._phase);
  }

  private async _isHeld(kernel: Kernel.IKernelConnection): Promise<boolean> {
    const held = await liveWidgets(kernel);
    return held.has(this.memory.modelId ?? '');
  }

  private _onShown(_: Form, shown: boolean): void {
    this._watch!.live = shown;
    this._turn({ kind: shown ? 'live' : 'closed' });
  }

  private _follow(_: Watch, condition: Condition): void {
    const { kind } = this._phase;
    if (isLost(condition)) {
      this._turn({ kind: condition });
    } else if (condition === 'unreachable' && kind === 'live') {
      this._turn({ kind: condition });
    } else if (condition === 'well' && kind === 'unreachable') {
      void this._return();
    }
  }

  /** The connection is back: to the same kernel, but it may have been restarted meanwhile. */
  private async _return(): Promise<void> {
    const kernel = this._session?.kernel;
    const held = kernel ? await this._isHeld(kernel).catch(() => null) : null;
    if (held !== null) {
      this._turn({ kind: held ? 'live' : 'restarted' });
    }
  }

  private _turn(phase: Phase): void {
    if (!this._isOver) {
      this._phase = phase;
      this.changed.emit(phase);
    }
  }
}
