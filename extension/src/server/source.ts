/** A run view's other half on the server: what it is told by the stream, what it asks by requests. */

import type { Asked, NoteMessage, Source, Told } from '../runview/protocol.js';
import { actAgreed, type Agree } from './agreed.js';
import type { RunTold } from './protocol.js';
import type { Requests } from './requests.js';
import type { Stream } from './stream.js';

type Action = Extract<Asked, { kind: 'action' }>;
type Heard = (message: Told, buffers: DataView[]) => void;

export class RunSource implements Source {
  private readonly _hearers = new Set<Heard>();
  /** What a view asked last to be told of the run, asked again when the socket is new. */
  private _ready: Extract<Asked, { kind: 'ready' }> | null = null;
  private _shown = true;
  private readonly _done = new Set<string>();
  private readonly _deaf: () => void;
  private readonly _link = (_: Stream, up: boolean): void =>
    this._tell({ kind: 'link', up });

  /**
   * `agree` asks a person whether a script that this machine did not start may be executed, by its
   * hash. `deleted` hears that the run was deleted by this view.
   */
  constructor(
    private readonly _stream: Stream,
    private readonly _requests: Requests,
    private readonly _run: string,
    private readonly _agree: Agree,
    private readonly _deleted: () => void = () => undefined
  ) {
    const address = {
      channel: 'run',
      folder: _requests.folder,
      run: _run
    } as const;
    _stream.connectedChanged.connect(this._link);
    this._deaf = _stream.hear(
      address,
      (told, buffers) => this._hear(told as RunTold, buffers),
      () => {
        if (this._ready !== null && this._shown) {
          this._ask(this._ready);
        }
      }
    );
  }

  send(message: Asked): void {
    switch (message.kind) {
      case 'action':
        void this._act(message);
        return;
      case 'looking':
        return; // that the socket is open says so
      case 'shown':
        this._shown = message.shown;
        break;
      case 'ready':
        this._ready = message;
        break;
    }
    this._ask(message);
  }

  listen(heard: Heard): () => void {
    this._hearers.add(heard);
    return () => this._hearers.delete(heard);
  }

  dispose(): void {
    this._stream.connectedChanged.disconnect(this._link);
    this._deaf();
  }

  private _ask(message: Asked): void {
    const { folder } = this._requests;
    this._stream.send({ channel: 'run', folder, run: this._run, message });
  }

  private _hear({ message, trouble }: RunTold, buffers: DataView[]): void {
    if (message) {
      this._tell(message, buffers);
    }
    if (trouble) {
      this._tell({ kind: 'heard', id: this._ready?.id ?? '' });
      this._note('error', trouble);
    }
  }

  /** Do what a person wants, once, however often the view asks until it hears. */
  private async _act({ id, name, epochs, task }: Action): Promise<void> {
    this._tell({ kind: 'heard', id });
    if (this._done.has(id)) {
      return;
    }
    this._done.add(id);
    try {
      const deed = { name, epochs, task };
      await actAgreed(this._requests, this._agree, this._run, deed);
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
    this._tell({ kind: 'note', level, text });
  }

  private _tell(message: Told, buffers: DataView[] = []): void {
    this._hearers.forEach(heard => heard(message, buffers));
  }
}
