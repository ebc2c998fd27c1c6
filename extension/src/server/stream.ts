/** The one socket of a page to the server half: opened when something is watched, and again when lost. */

import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';

import { unpacked } from './frames.js';
import type { StreamAsked, StreamTold } from './protocol.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8000;

/** Which channel a message is of. */
export type Address = Pick<StreamTold, 'channel'> & {
  folder?: string;
  run?: string;
};

type Hear = (told: StreamTold, buffers: DataView[]) => void;

/** Somebody who hears a channel, and what is to be asked each time the socket has opened. */
interface Hearer {
  hear: Hear;
  opened: () => void;
}

export class Stream {
  private readonly _hearers = new Map<string, Set<Hearer>>();
  private readonly _connectedChanged = new Signal<this, boolean>(this);
  private _socket: WebSocket | null = null;
  private _connected = false;
  private _pause = FIRST_PAUSE_MS;
  private _timer = 0;
  private _closed = false;

  constructor(private readonly _settings: ServerConnection.ISettings) {}

  /** Whether the server is heard. */
  get connected(): boolean {
    return this._connected;
  }

  /** Tells false also each time that the socket could not be opened. */
  get connectedChanged(): ISignal<this, boolean> {
    return this._connectedChanged;
  }

  /** Hear a channel until the function that it returns is called; `opened` asks for what it tells. */
  hear(address: Address, hear: Hear, opened: () => void): () => void {
    const key = keyOf(address);
    const hearer = { hear, opened };
    const hearers = this._hearers.get(key) ?? new Set();
    this._hearers.set(key, hearers.add(hearer));
    if (this._connected) {
      opened();
    } else {
      this._open();
    }
    return () => {
      hearers.delete(hearer);
      if (hearers.size === 0 && this._hearers.get(key) === hearers) {
        this._hearers.delete(key);
      }
    };
  }

  /** Hear a channel that tells by itself, every so many seconds, once it is watched. */
  watch(
    channel: 'devices' | 'runs',
    folder: string,
    seconds: number,
    hear: Hear
  ): () => void {
    const address = { channel, folder };
    const deaf = this.hear(address, hear, () =>
      this.send({ ...address, kind: 'watch', seconds })
    );
    return () => {
      deaf();
      if (!this._hearers.has(keyOf(address))) {
        this.send({ ...address, kind: 'unwatch' });
      }
    };
  }

  /** Send what the server is asked; lost while it is not heard, so `opened` asks again. */
  send(asked: StreamAsked): void {
    if (this._connected) {
      this._socket?.send(JSON.stringify(asked));
    }
  }

  /** Open no more until somebody hears again: the server does not have this socket. */
  rest(): void {
    window.clearTimeout(this._timer);
  }

  close(): void {
    this._closed = true;
    window.clearTimeout(this._timer);
    this._socket?.close();
    Signal.clearData(this);
  }

  private _open(): void {
    if (this._socket !== null || this._closed) {
      return;
    }
    const { wsUrl, token, appendToken, WebSocket } = this._settings;
    const query =
      appendToken && token ? `?token=${encodeURIComponent(token)}` : '';
    const socket = new WebSocket(
      URLExt.join(wsUrl, 'workbench/stream') + query
    );
    socket.binaryType = 'arraybuffer';
    socket.onopen = () => this._onOpen();
    socket.onclose = () => this._onClose();
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      const { content, buffers } = unpacked<StreamTold>(data);
      this._hearers
        .get(keyOf(content))
        ?.forEach(({ hear }) => hear(content, buffers));
    };
    this._socket = socket;
  }

  private _onOpen(): void {
    this._pause = FIRST_PAUSE_MS;
    this._tell(true);
    this._hearers.forEach(hearers => hearers.forEach(({ opened }) => opened()));
  }

  private _onClose(): void {
    this._socket = null;
    this._tell(false);
    if (this._hearers.size > 0 && !this._closed) {
      this._timer = window.setTimeout(() => this._open(), this._pause);
      this._pause = Math.min(2 * this._pause, LONGEST_PAUSE_MS);
    }
  }

  private _tell(connected: boolean): void {
    this._connected = connected;
    this._connectedChanged.emit(connected);
  }
}

function keyOf({ channel, folder, run }: Address): string {
  return JSON.stringify([channel, folder ?? '', run ?? '']);
}
