/** The server as a run view's source: messages come over the stream, actions go as requests. */

import type {
  Incoming,
  NoteMessage,
  Outgoing,
  Source
} from '../runview/protocol.js';
import { actAgreed, type Agree } from './agreed.js';
import type { RunUpdate } from './protocol.js';
import type { Requests } from './requests.js';
import type { Stream } from './stream.js';

type Action = Extract<Outgoing, { kind: 'action' }>;
type Listener = (message: Incoming, buffers: DataView[]) => void;

export class RunSource implements Source {
  private readonly _listeners = new Set<Listener>();
  /** The last request of a view for the run, sent again over each new socket. */
  private _ready: Extract<Outgoing, { kind: 'ready' }> | null = null;
  private _shown = true;
  private readonly _done = new Set<string>();
  private readonly _unsubscribe: () => void;
  private readonly _link = (_: Stream, up: boolean): void =>
    this._emit({ kind: 'link', up });

  /**
   * `agree` asks a person whether code that this machine did not start may be executed. `open`
   * shows another run. `deleted` is called when this view has deleted the run.
   */
  constructor(
    private readonly _stream: Stream,
    private readonly _requests: Requests,
    private readonly _run: string,
    private readonly _agree: Agree,
    private readonly _open: (run: string) => void,
    private readonly _deleted: () => void = () => undefined
  ) {
    const address = {
      channel: 'run',
      folder: _requests.folder,
      run: _run
    } as const;
    _stream.connectedChanged.connect(this._link);
    this._unsubscribe = _stream.subscribe(
      address,
      (update, buffers) => this._receive(update as RunUpdate, buffers),
      () => {
        if (this._ready !== null && this._shown) {
          this._ask(this._ready);
        }
      }
    );
  }

  send(message: Outgoing): void {
    switch (message.kind) {
      case 'action':
        void this._act(message);
        return;
      case 'open':
        this._emit({ kind: 'heard', id: message.id });
        if (!this._done.has(message.id)) {
          this._done.add(message.id);
          this._open(message.run);
        }
        return;
      case 'looking':
        return; // the open socket shows it
      case 'shown':
        this._shown = message.shown;
        break;
      case 'ready':
        this._ready = message;
        break;
    }
    this._ask(message);
  }

  listen(listener: Listener): () => void {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  dispose(): void {
    this._stream.connectedChanged.disconnect(this._link);
    this._unsubscribe();
  }

  private _ask(message: Outgoing): void {
    const { folder } = this._requests;
    this._stream.send({ channel: 'run', folder, run: this._run, message });
  }

  private _receive({ message, error }: RunUpdate, buffers: DataView[]): void {
    if (message) {
      this._emit(message, buffers);
    }
    if (error) {
      this._emit({ kind: 'heard', id: this._ready?.id ?? '' });
      this._note('error', error);
    }
  }

  /** Do an action once, although the view repeats its request until the acknowledgement. */
  private async _act({ id, name, epochs, task }: Action): Promise<void> {
    this._emit({ kind: 'heard', id });
    if (this._done.has(id)) {
      return;
    }
    this._done.add(id);
    try {
      const request = { name, epochs, task };
      await actAgreed(this._requests, this._agree, this._run, request);
      if (name === 'delete') {
        this._deleted();
      }
    } catch (reason) {
      this._note(
        'error',
        String(reason instanceof Error ? reason.message : reason)
      );
    }
  }

  private _note(level: NoteMessage['level'], text: string): void {
    this._emit({ kind: 'note', level, text });
  }

  private _emit(message: Incoming, buffers: DataView[] = []): void {
    this._listeners.forEach(listener => listener(message, buffers));
  }
}
