/** Watches whether the workbench in a kernel still exists. */

import type { KernelMessage, Session } from '@jupyterlab/services';
import type { IDisposable } from '@lumino/disposable';
import { Signal } from '@lumino/signaling';

import { conditionOf, isLost, type Condition } from './condition.js';

/** Emits each change of a session's condition, for the last time when the session is lost. */
export class Watch implements IDisposable {
  readonly changed = new Signal<this, Condition>(this);
  /** Whether the workbench is on screen. */
  live = false;
  private readonly _kernelId: string | undefined;
  private _condition: Condition = 'unreachable';
  private _disposed = false;

  constructor(private readonly _session: Session.ISessionConnection) {
    this._kernelId = _session.kernel?.id;
    _session.statusChanged.connect(this._judge, this);
    _session.connectionStatusChanged.connect(this._judge, this);
    _session.kernelChanged.connect(this._judge, this);
    _session.iopubMessage.connect(this._onIOPub, this);
  }

  get condition(): Condition {
    return this._condition;
  }

  get isDisposed(): boolean {
    return this._disposed;
  }

  dispose(): void {
    this._disposed = true;
    Signal.clearData(this);
  }

  private _judge(): void {
    const { kernel } = this._session;
    this._turn(
      kernel !== null && kernel.id !== this._kernelId
        ? 'restarted'
        : conditionOf(kernel?.status, kernel?.connectionStatus, this.live)
    );
  }

  /** A kernel that another page restarts or shuts down reports it in its last message. */
  private _onIOPub(_: unknown, message: KernelMessage.IIOPubMessage): void {
    const type: string = message.header.msg_type;
    if (type === 'shutdown_reply') {
      const { restart } = message.content as { restart?: boolean };
      this._turn(restart ? 'restarted' : 'ended');
    }
  }

  private _turn(condition: Condition): void {
    if (condition !== this._condition && !isLost(this._condition)) {
      this._condition = condition;
      this.changed.emit(condition);
    }
  }
}
