/** Whether the server half is heard, and where it is not, why. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { IWorkbenchServer } from '../server/plugin.js';

/**
 * `absent`: not enabled; `forbidden`: this person may not; `mute`: it answers requests, but its
 * stream does not come through; `lost`: no answer at all.
 */
export type Hearing =
  'asking' | 'heard' | 'absent' | 'forbidden' | 'mute' | 'lost';

export class Link {
  private _state: Hearing;
  private _failures = 0;
  private readonly _changed = new Signal<this, void>(this);

  constructor(private readonly _server: IWorkbenchServer) {
    const { stream } = _server;
    this._state = stream.connected ? 'heard' : 'asking';
    stream.connectedChanged.connect(this._follow, this);
  }

  get state(): Hearing {
    return this._state;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Whether it makes sense to try: not where only a person can change what is wrong. */
  get hopeful(): boolean {
    return this._state !== 'absent' && this._state !== 'forbidden';
  }

  /** Try once more. */
  again(): void {
    this._tell(this._server.stream.connected ? 'heard' : 'asking');
  }

  dispose(): void {
    Signal.clearData(this);
  }

  private _follow(_: unknown, connected: boolean): void {
    this._failures = connected ? 0 : this._failures + 1;
    if (connected) {
      this._tell('heard');
    } else {
      void this._probe();
    }
  }

  private async _probe(): Promise<void> {
    const { requests, stream } = this._server;
    const status = await requests.status();
    if (stream.connected) {
      return;
    }
    if (status === 404 || status === 401 || status === 403) {
      stream.rest();
      this._tell(status === 404 ? 'absent' : 'forbidden');
    } else if (status === 0) {
      this._tell('lost');
    } else if (this._failures > 1) {
      this._tell('mute');
    }
  }

  private _tell(state: Hearing): void {
    if (state !== this._state) {
      this._state = state;
      this._changed.emit();
    }
  }
}
