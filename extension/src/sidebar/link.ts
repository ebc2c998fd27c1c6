/** The state of the connection to the server half. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { IWorkbenchServer } from '../server/plugin.js';

/**
 * `absent`: not enabled; `forbidden`: this person has no permission; `mute`: it answers requests,
 * but its stream does not arrive; `lost`: no answer at all.
 */
export type LinkState =
  'asking' | 'connected' | 'absent' | 'forbidden' | 'mute' | 'lost';

export class Link {
  private _state: LinkState;
  private _failures = 0;
  private readonly _changed = new Signal<this, void>(this);

  constructor(private readonly _server: IWorkbenchServer) {
    const { stream } = _server;
    this._state = stream.connected ? 'connected' : 'asking';
    stream.connectedChanged.connect(this._follow, this);
  }

  get state(): LinkState {
    return this._state;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** Whether a new attempt makes sense: not if only a person can fix the problem. */
  get hopeful(): boolean {
    return this._state !== 'absent' && this._state !== 'forbidden';
  }

  /** Try once more. */
  again(): void {
    this._setState(this._server.stream.connected ? 'connected' : 'asking');
  }

  dispose(): void {
    Signal.clearData(this);
  }

  private _follow(_: unknown, connected: boolean): void {
    this._failures = connected ? 0 : this._failures + 1;
    if (connected) {
      this._setState('connected');
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
      this._setState(status === 404 ? 'absent' : 'forbidden');
    } else if (status === 0) {
      this._setState('lost');
    } else if (this._failures > 1) {
      this._setState('mute');
    }
  }

  private _setState(state: LinkState): void {
    if (state !== this._state) {
      this._state = state;
      this._changed.emit();
    }
  }
}
