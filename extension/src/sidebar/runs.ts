/** What list, toolbar and commands of the sidebar share: the runs, and which are selected. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { Row } from '../server/protocol.js';
import type { IWorkbenchServer } from '../server/plugin.js';
import type { Requests } from '../server/requests.js';
import { RunList } from './runlist.js';
import { Selection, type How } from './selection.js';

/** What an action came to, for the person who asked for it. */
export interface Said {
  level: 'info' | 'error';
  text: string;
}

export class Runs {
  /** Whether rows may move: set by who shows them. */
  calm: () => boolean = () => true;
  readonly selection = new Selection();
  private _list = new RunList();
  private _folder: string;
  private _filter = '';
  private readonly _changed = new Signal<this, void>(this);
  private readonly _said = new Signal<this, Said>(this);

  constructor(private readonly _server: IWorkbenchServer) {
    this._folder = this.requests.folder;
  }

  get list(): RunList {
    return this._list;
  }

  get requests(): Requests {
    return this._server.requests;
  }

  get changed(): ISignal<this, void> {
    return this._changed;
  }

  get said(): ISignal<this, Said> {
    return this._said;
  }

  /** The selected rows, in the order of the list. */
  get chosen(): Row[] {
    return this.rows(this.selection.within(this._list.visible));
  }

  /** The rows of these ids, as far as they are known. */
  rows(ids: readonly string[]): Row[] {
    return ids.flatMap(id => this._list.row(id) ?? []);
  }

  /** Hear the server until the function that this returns is called. */
  watch(): () => void {
    const { choices, requests, stream } = this._server;
    if (requests.folder !== this._folder) {
      this._folder = requests.folder;
      this._list = new RunList();
      this.filter(this._filter);
    }
    return stream.watch(
      'runs',
      this._folder,
      choices.runsSeconds,
      told => told.channel === 'runs' && this._change(() => this._take(told))
    );
  }

  /** Take in rows that are known otherwise than by the stream, and ids that are gone. */
  take(told: { rows?: Row[]; gone?: string[] }): void {
    this._change(() => this._take(told));
  }

  select(id: string, how: How): void {
    this._change(() => this.selection.go(this._list.visible, id, how));
  }

  selectAll(): void {
    this._change(() => this.selection.all(this._list.visible));
  }

  selectNone(): void {
    this._change(() => this.selection.none());
  }

  filter(text: string): void {
    this._filter = text;
    this._change(() => this._list.filter(text));
  }

  reveal(): void {
    this._change(() => this._list.reveal());
  }

  refresh(): void {
    this._change(() => this._list.refresh());
  }

  say(text: string, level: Said['level'] = 'info'): void {
    this._said.emit({ level, text });
  }

  private _take(told: Parameters<RunList['take']>[0]): void {
    this._list.take(told, this.calm());
  }

  private _change(change: () => void): void {
    change();
    this.selection.keep(this._list.visible);
    this._changed.emit();
  }
}
