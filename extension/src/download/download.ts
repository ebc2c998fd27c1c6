/** A file from the kernel to the browser's downloads, a part at a time. */

import { make, setText } from '../runview/elements.js';
import type { Incoming, Source } from './protocol.js';

export const LARGEST_BYTES = 2 ** 30;
const PATIENCE_MS = 3_000;
const AGAIN_MS = 10_000;
const BUSY =
  'Waiting for the kernel: the download continues when the running cell ends.';

/** A file that the kernel has made. */
interface File {
  name: string;
  path: string;
  size: number;
}

export class Download {
  readonly node: HTMLElement;
  private readonly _view = Math.random().toString(36).slice(2);
  private readonly _key = make(
    'button',
    'jupyter-button widget-button wb-small'
  );
  private readonly _state = make('span', 'wb-quiet');
  private readonly _unsubscribe: () => void;
  private _file: File | null = null;
  private _parts: DataView<ArrayBuffer>[] = [];
  private _held = 0;
  private _timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly _source: Source,
    label: string,
    tip: string,
    private readonly _save: (name: string, content: Blob) => void = save
  ) {
    this._key.type = 'button';
    this._key.textContent = label;
    this._key.title = tip;
    this._key.addEventListener('click', () => this._begin());
    this._state.setAttribute('role', 'status');
    this.node = make('div', 'wb-row wb-download', this._key, this._state);
    this._unsubscribe = _source.listen((message, buffers) =>
      this._receive(message, buffers)
    );
  }

  destroy(): void {
    clearTimeout(this._timer);
    this._unsubscribe();
  }

  private _begin(): void {
    this._key.disabled = true;
    this._file = null;
    setText(this._state, 'Packing ...');
    this._source.send({ kind: 'pack', view: this._view });
    this._wait(() => undefined);
  }

  private _receive(message: Incoming, buffers: DataView[]): void {
    if (message.view !== this._view) {
      return;
    }
    clearTimeout(this._timer);
    if (message.kind === 'packing') {
      setText(this._state, 'Packing ...');
    } else if (message.kind === 'packed') {
      this._take(message);
    } else if (message.kind === 'part') {
      this._add(message.from, buffers[0] as DataView<ArrayBuffer>);
    } else {
      this._end(message.text);
    }
  }

  private _take({ name, path, size }: File): void {
    this._file = { name, path, size };
    this._parts = [];
    this._held = 0;
    if (size > LARGEST_BYTES) {
      this._end(
        `${name}, ${bytes(size)}, is too large for a download through the page. Take it from ${path} with the file browser of this host.`
      );
    } else {
      this._next();
    }
  }

  private _add(from: number, part: DataView<ArrayBuffer>): void {
    const file = this._file;
    if (file === null) {
      return;
    }
    if (from === this._held) {
      this._parts.push(part);
      this._held += part.byteLength;
    }
    if (this._held < file.size) {
      this._next();
      return;
    }
    this._save(
      file.name,
      new Blob(this._parts, { type: 'application/octet-stream' })
    );
    this._parts = [];
    this._end(
      `${file.name}, ${bytes(file.size)}, was passed to the browser. If no download starts, take it from ${file.path}.`
    );
  }

  private _next(): void {
    const { name, size } = this._file!;
    const share = Math.floor((100 * this._held) / size);
    setText(this._state, `${name}, ${bytes(size)}: ${share}% received`);
    this._source.send({ kind: 'part', view: this._view, from: this._held });
    this._wait(() => this._next());
  }

  private _end(text: string): void {
    this._file = null;
    this._key.disabled = false;
    setText(this._state, text);
  }

  /** Report after a while that the kernel does not answer, and ask again after a longer one. */
  private _wait(again: () => void): void {
    clearTimeout(this._timer);
    this._timer = setTimeout(() => {
      setText(this._state, BUSY);
      this._timer = setTimeout(again, AGAIN_MS);
    }, PATIENCE_MS);
  }
}

/** A number of bytes as people read it. */
export function bytes(size: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const at = Math.min(
    units.length - 1,
    size > 0 ? Math.floor(Math.log2(size) / 10) : 0
  );
  const amount = size / 1024 ** at;
  const rounded =
    amount < 100 ? Number(amount.toPrecision(3)) : Math.round(amount);
  return `${rounded} ${units[at]}`;
}

function save(name: string, content: Blob): void {
  const link = make('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
