/** The shared state of list, toolbar and commands of the sidebar: the runs and the selection. */

import { Signal, type ISignal } from '@lumino/signaling';

import type { Row } from '../server/protocol.js';
import type { IWorkbenchServer } from '../server/plugin.js';
import type { Requests } from '../server/requests.js';
import { RunList } from './runlist.js';
import { Selection, type How } from './selection.js';

/** The result of an action, for the person who started it. */
export interface ActionReport {
  level: 'info' | 'error';
  text: string;
}

export class Runs {
  /** Whether rows may move; the view of the list sets it. */
  calm: () => boolean = () => true;
  readonly selection = new Selection();
  private _list = new RunList();
  private _folder: string;
  private _filter = '';
  private readonly _changed = new Signal<this, void>(this);
  private readonly _reported = new Signal<this, ActionReport>(this);

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

  get reported(): ISignal<this, ActionReport> {
    return this._reported;
  }

  /** The selected rows, in the order of the list. */
  get chosen(): Row[] {
    return this.rows(this.selection.within(this._list.visible));
  }

  /** Return the known rows of these ids. */
  rows(ids: readonly string[]): Row[] {
    return ids.flatMap(id => this._list.row(id) ?? []);
  }

  /** Watch the runs until the returned function is called. */
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
      update =>
        update.channel === 'runs' && this._change(() => this._take(update))
    );
  }

  /** Take in rows from other sources than the stream, and ids of deleted runs. */
  take(update: { rows?: Row[]; gone?: string[] }): void {
    this._change(() => this._take(update));
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

  report(text: string, level: ActionReport['level'] = 'info'): void {
    this._reported.emit({ level, text });
  }

  private _take(update: Parameters<RunList['take']>[0]): void {
    this._list.take(update, this.calm());
  }

  private _change(change: () => void): void {
    change();
    this.selection.keep(this._list.visible);
    this._changed.emit();
  }
}
