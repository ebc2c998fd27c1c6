/** The socket of a page to the server half: opened for the first subscriber, reopened if lost. */

import { URLExt } from '@jupyterlab/coreutils';
import type { ServerConnection } from '@jupyterlab/services';
import { Signal, type ISignal } from '@lumino/signaling';

import { unpacked } from './frames.js';
import type { StreamRequest, StreamUpdate } from './protocol.js';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8000;

/** The channel of a message. */
export type Address = Pick<StreamUpdate, 'channel'> & {
  folder?: string;
  run?: string;
};

type OnUpdate = (update: StreamUpdate, buffers: DataView[]) => void;

/** A subscriber of a channel; `opened` sends its request each time the socket has opened. */
interface Subscriber {
  onUpdate: OnUpdate;
  opened: () => void;
}

export class Stream {
  private readonly _subscribers = new Map<string, Set<Subscriber>>();
  private readonly _connectedChanged = new Signal<this, boolean>(this);
  private _socket: WebSocket | null = null;
  private _connected = false;
  private _pause = FIRST_PAUSE_MS;
  private _timer = 0;
  private _closed = false;

  constructor(private readonly _settings: ServerConnection.ISettings) {}

  /** Whether the socket is open. */
  get connected(): boolean {
    return this._connected;
  }

  /** Emits false also each time that the socket could not be opened. */
  get connectedChanged(): ISignal<this, boolean> {
    return this._connectedChanged;
  }

  /** Receive a channel until the returned function is called; `opened` sends the request for it. */
  subscribe(
    address: Address,
    onUpdate: OnUpdate,
    opened: () => void
  ): () => void {
    const key = keyOf(address);
    const subscriber = { onUpdate, opened };
    const subscribers = this._subscribers.get(key) ?? new Set();
    this._subscribers.set(key, subscribers.add(subscriber));
    if (this._connected) {
      opened();
    } else {
      this._open();
    }
    return () => {
      subscribers.delete(subscriber);
      if (
        subscribers.size === 0 &&
        this._subscribers.get(key) === subscribers
      ) {
        this._subscribers.delete(key);
      }
    };
  }

  /** Receive a channel that sends an update every so many seconds while it is watched. */
  watch(
    channel: 'devices' | 'runs',
    folder: string,
    seconds: number,
    onUpdate: OnUpdate
  ): () => void {
    const address = { channel, folder };
    const unsubscribe = this.subscribe(address, onUpdate, () =>
      this.send({ ...address, kind: 'watch', seconds })
    );
    return () => {
      unsubscribe();
      if (!this._subscribers.has(keyOf(address))) {
        this.send({ ...address, kind: 'unwatch' });
      }
    };
  }

  /** Send a request. It is lost while the socket is closed, so `opened` sends it again. */
  send(request: StreamRequest): void {
    if (this._connected) {
      this._socket?.send(JSON.stringify(request));
    }
  }

  /** Do not reopen before the next subscription: the server does not have this socket. */
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
      const { content, buffers } = unpacked<StreamUpdate>(data);
      this._subscribers
        .get(keyOf(content))
        ?.forEach(({ onUpdate }) => onUpdate(content, buffers));
    };
    this._socket = socket;
  }

  private _onOpen(): void {
    this._pause = FIRST_PAUSE_MS;
    this._setConnected(true);
    this._subscribers.forEach(subscribers =>
      subscribers.forEach(({ opened }) => opened())
    );
  }

  private _onClose(): void {
    this._socket = null;
    this._setConnected(false);
    if (this._subscribers.size > 0 && !this._closed) {
      this._timer = window.setTimeout(() => this._open(), this._pause);
      this._pause = Math.min(2 * this._pause, LONGEST_PAUSE_MS);
    }
  }

  private _setConnected(connected: boolean): void {
    this._connected = connected;
    this._connectedChanged.emit(connected);
  }
}

function keyOf({ channel, folder, run }: Address): string {
  return JSON.stringify([channel, folder ?? '', run ?? '']);
}
